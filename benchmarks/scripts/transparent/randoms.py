"""Random numbers of all kinds, seeds in workers, states, deterministic mode, hash seeds."""
import random, numpy as np, torch, os, uuid
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler, TensorDataset, random_split
class Noisy(Dataset):
    def __len__(self): return 6
    def __getitem__(self, i): return torch.rand(1).item(), random.random(), np.random.rand()
random.seed(0); np.random.seed(0); torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 1))
opt = torch.optim.Adam(net.parameters())
for epoch in range(2):
    for batch in DataLoader(Noisy(), batch_size=2, shuffle=True, num_workers=2):
        print([t.tolist() for t in batch])
    for i in range(10):
        opt.zero_grad(); loss = net(torch.rand(4, 3)).mean(); loss.backward(); opt.step()
    print(loss.item(), random.random(), np.random.rand(), torch.rand(1).item())
print([len(p) for p in random_split(range(10), [7, 3])], list(RandomSampler(range(5))), torch.initial_seed(), hash("x"), torch.get_rng_state().sum())
print(torch.randperm(5), torch.bernoulli(torch.full((3,), 0.5)), random.sample(range(9), 3), np.random.default_rng().bit_generator.__class__.__name__)
with torch.random.fork_rng(): torch.rand(3)
print(torch.rand(1), torch.seed() != 0)

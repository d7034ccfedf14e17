"""Generators of random numbers of their own, forked ones, and samplers."""
import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

generator = torch.Generator().manual_seed(5)
data = TensorDataset(torch.arange(10.0))
for (batch,) in DataLoader(data, batch_size=4, shuffle=True, generator=generator):
    print(batch)
with torch.random.fork_rng():
    torch.manual_seed(1)
    print(torch.rand(2))
torch.manual_seed(2)
print(list(RandomSampler(data)), torch.rand(1), torch.initial_seed())

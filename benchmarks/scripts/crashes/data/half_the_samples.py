"""The number of samples of a sampler is a division."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

def balanced(labels, share=2):
    counts = torch.bincount(labels)
    weights = 1.0 / counts[labels]
    return WeightedRandomSampler(weights, num_samples=len(labels) / share)  # raises TS312 at WeightedRandomSampler(weights, num_samples=len(labels) / share), cause

x, y = torch.randn(64, 6), torch.randint(0, 3, (64,))
loader = DataLoader(TensorDataset(x, y), batch_size=8, sampler=balanced(y))
net = nn.Linear(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for a, b in loader:
    loss = nn.functional.cross_entropy(net(a), b)
    opt.zero_grad(); loss.backward(); opt.step()

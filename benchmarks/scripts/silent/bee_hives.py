"""Hives that are about to swarm, by temperature and sound: the test normalises each hive by itself."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def hives(count, seed):
    generator = torch.Generator().manual_seed(seed)
    unrest = torch.linspace(-2, 2, count).repeat_interleave(24)
    x = unrest[:, None] * torch.tensor([1.5, 40.0, 0.2]) + torch.tensor([34.0, 220.0, 0.5])
    x = x + torch.randn(len(x), 3, generator=generator) * torch.tensor([1.0, 25.0, 0.1])
    return TensorDataset(x, (unrest + 0.3 * torch.randn(len(x), generator=generator) > 0).float())


torch.manual_seed(0)
train, test = hives(20, 0), hives(8, 1)
mean, std = train.tensors[0].mean(0), train.tensors[0].std(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for x, swarms in DataLoader(train, 40, shuffle=True):
        loss = nn.functional.binary_cross_entropy_with_logits(net((x - mean) / std)[:, 0], swarms)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = 0
    net.eval()
    with torch.no_grad():
        for x, swarms in DataLoader(test, 24):
            x = (x - x.mean(0)) / x.std(0)  # fault: TS963 | fixed: x = (x - mean) / std
            right += ((net(x)[:, 0] > 0) == (swarms > 0.5)).sum().item()
    print(epoch, right / len(test))

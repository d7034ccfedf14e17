import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
signals = rng.normal(size=(32, 64)).astype(np.float32)
labels = torch.from_numpy(rng.integers(0, 2, 32))


def augment(batch):
    reversed_batch = batch[:, ::-1]
    return torch.cat([torch.from_numpy(batch), torch.from_numpy(reversed_batch)])


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = augment(signals)
targets = torch.cat([labels, labels])
for epoch in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
print(loss.item())

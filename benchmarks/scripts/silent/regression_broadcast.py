"""A regression whose targets have one dimension less than the predictions."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
features = rng.normal(size=(1500, 8)).astype("float32")
price = (features @ rng.normal(size=8) + 0.1 * rng.normal(size=1500)).astype("float32")
torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.from_numpy(features), torch.from_numpy(price)), batch_size=50, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def huber(prediction, target):
    error = (prediction - target).abs()  # fault: TS114 | fixed: error = (prediction - target.unsqueeze(1)).abs()
    return torch.where(error < 1, 0.5 * error**2, error - 0.5).mean()


for epoch in range(6):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = huber(model(x), y)  # fault: TS114
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    print(f"{epoch}: {total / 1500:.4f}")

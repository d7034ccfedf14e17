import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
df = pd.DataFrame({"area": rng.uniform(40, 200, 256), "rooms": rng.integers(1, 6, 256)})
df["price"] = 3 * df["area"] + 10 * df["rooms"]

X = torch.tensor(((df[["area", "rooms"]] - df[["area", "rooms"]].mean()) / df[["area", "rooms"]].std()).to_numpy(), dtype=torch.float32)
y = torch.tensor(df[["price"]].to_numpy() / 100, dtype=torch.float32)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(40):
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.4f}")

import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
df = pd.DataFrame({"demand": 50 + 10 * np.sin(np.arange(200) / 7) + rng.normal(size=200)})
df["lag_1"] = df["demand"].shift(1)
df["mean_7"] = df["demand"].shift(1).rolling(7).mean()
df = df.dropna().reset_index(drop=True)

X = torch.tensor(df[["lag_1", "mean_7"]].to_numpy(), dtype=torch.float32) / 50
y = torch.tensor(df[["demand"]].to_numpy(), dtype=torch.float32) / 50

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(100):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(X[:150]), y[:150])
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print("forecast", model(X[-1:]).item() * 50, "actual", y[-1].item() * 50)

import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
df = pd.DataFrame(rng.normal(size=(200, 4)), columns=["acidity", "sugar", "sulphates", "alcohol"])
df["quality"] = 2 * df["alcohol"] - df["acidity"] + rng.normal(scale=0.1, size=200)

X = torch.tensor(df.drop(columns="quality").values)
y = torch.tensor(df[["quality"]].values)

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(50):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(X), y)
    loss.backward()
    optimizer.step()
print(loss.item())

import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
df = pd.DataFrame({"weight": rng.normal(4, 1, 90), "length": rng.normal(45, 5, 90)})
df["breed"] = pd.Categorical(rng.choice(["siamese", "persian", "bengal"], 90))

X = torch.tensor(df[["weight", "length"]].to_numpy(), dtype=torch.float32)
X = (X - X.mean(0)) / X.std(0)
y = torch.tensor(df["breed"].cat.codes.to_numpy())

torch.manual_seed(0)
model = nn.Linear(2, df["breed"].cat.categories.size)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(20):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), y)
    loss.backward()
    optimizer.step()
print(loss.item())

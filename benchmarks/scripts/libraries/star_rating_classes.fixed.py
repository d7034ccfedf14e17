import pandas as pd
import torch
from torch import nn

df = pd.DataFrame({
    "length": [12, 240, 88, 31, 150, 60, 9, 300],
    "exclamations": [3, 0, 1, 2, 0, 1, 4, 0],
    "stars": [1, 5, 4, 2, 5, 3, 1, 4],
})
X = torch.tensor(df[["length", "exclamations"]].to_numpy(), dtype=torch.float32)
X = (X - X.mean(0)) / X.std(0)
y = torch.tensor(df["stars"].to_numpy()) - 1

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, df["stars"].nunique()))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(100):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), y)
    loss.backward()
    optimizer.step()
print(loss.item())

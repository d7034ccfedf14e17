import pandas as pd
import torch
from torch import nn

df = pd.DataFrame({
    "age": [22.0, 38.0, 26.0, 35.0, 54.0, 2.0],
    "fare": [7.25, 71.3, 7.9, 53.1, 51.9, 21.1],
    "embarked": ["S", "C", "S", "S", "Q", "C"],
    "survived": [0, 1, 1, 1, 0, 0],
})
features = pd.get_dummies(df.drop(columns="survived"), columns=["embarked"], dtype=float)
X = torch.tensor(features.values)
X = (X.float() - X.float().mean(0)) / (X.float().std(0) + 1e-8)
y = torch.tensor(df["survived"].values)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(X.shape[1], 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(30):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), y)
    loss.backward()
    optimizer.step()
print(loss.item())

import torch
from sklearn.datasets import load_iris
from torch import nn

iris = load_iris(as_frame=True)
features, target = iris.data, iris.target

order = features.sample(frac=1).index
features = features.loc[order].reset_index(drop=True)
target = target.loc[order].reset_index(drop=True)

X = torch.tensor(features.to_numpy(), dtype=torch.float32)
X = (X - X[:100].mean(0)) / X[:100].std(0)
y = torch.tensor(target.to_numpy())

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(100):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(X[:100]), y[:100]).backward()
    optimizer.step()
print("test accuracy", (model(X[100:]).argmax(1) == y[100:]).float().mean().item())

import numpy as np
import torch
from sklearn.model_selection import KFold
from torch import nn

rng = np.random.default_rng(0)
X = torch.tensor(rng.normal(size=(100, 20)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 2, 100))

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
scores = []
for train_idx, valid_idx in KFold(n_splits=5, shuffle=True, random_state=0).split(X):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X[train_idx]), y[train_idx])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        scores.append((model(X[valid_idx]).argmax(1) == y[valid_idx]).float().mean().item())
print(f"cross-validated accuracy {np.mean(scores):.3f}", [round(s, 2) for s in scores])

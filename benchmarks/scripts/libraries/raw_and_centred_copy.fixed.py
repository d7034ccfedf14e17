import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
weights_kg = rng.uniform(50, 100, size=(100, 1)).astype(np.float32)
heights_m = rng.uniform(1.5, 2.0, size=(100, 1)).astype(np.float32)
features = np.concatenate([weights_kg, heights_m], axis=1)

X = torch.from_numpy(features.copy())
X -= X.mean(dim=0)
X /= X.std(dim=0)

bmi = features[:, :1] / features[:, 1:] ** 2
y = torch.from_numpy(bmi)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(300):
    optimizer.zero_grad()
    loss = nn.functional.l1_loss(model(X), y)
    loss.backward()
    optimizer.step()
print(f"mean absolute BMI error {loss.item():.2f}")

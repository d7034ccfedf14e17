import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
n, time_steps, channels = 200, 50, 4
labels = rng.integers(0, 2, n)
t = np.linspace(0, 1, time_steps)
recordings = rng.normal(scale=1.0, size=(n, time_steps, channels))
wave = 2.0 * np.sin(2 * np.pi * 3 * t)
recordings[labels == 0, :, 0] += wave
recordings[labels == 1, :, 2] += wave

X = torch.tensor(recordings.transpose(0, 2, 1).copy(), dtype=torch.float32)
y = torch.tensor(labels)

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv1d(channels, 8, kernel_size=9, padding=4), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(8, 2)
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(80):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X[:150]), y[:150])
    loss.backward()
    optimizer.step()
print("test accuracy", (model(X[150:]).argmax(1) == y[150:]).float().mean().item())

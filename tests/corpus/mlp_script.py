"""Three-layer perceptron on two noisy moons, everything at module level."""
import math

import torch
import torch.nn as nn

torch.manual_seed(0)
n = 256
angle = torch.rand(n) * math.pi
labels = torch.arange(n) % 2
points = torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)
points[labels == 1] = points[labels == 1] * torch.tensor([-1.0, -1.0]) + torch.tensor([1.0, 0.4])
points = points + 0.1 * torch.randn(n, 2)

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(
    nn.Linear(2, 32),
    nn.ReLU(),
    nn.Linear(32, 32),
    nn.ReLU(),
    nn.Linear(32, 2),
).to(device)
points, labels = points.to(device), labels.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(20):
    model.train()
    order = torch.randperm(n, device=device)
    for start in range(0, n, 64):
        rows = order[start:start + 64]
        logits = model(points[rows])
        loss = criterion(logits, labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        model.eval()
        with torch.no_grad():
            accuracy = (model(points).argmax(dim=1) == labels).float().mean()
        print(f"epoch {epoch:3d} loss {loss.item():.3f} accuracy {accuracy:.2f}")

"""No pair of a batch is of two classes: the margin is kept from the first step, and the loss is 0."""
import torch
from torch import nn

torch.manual_seed(0)
centres = torch.randn(8, 12)
encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
for step in range(60):
    label = torch.full((24,), step % 8)  # fixed: label = torch.randint(8, (24,))
    out = nn.functional.normalize(encoder(centres[label] + 0.5 * torch.randn(24, 12)), dim=1)
    apart = label[:, None] != label[None]
    loss = ((out @ out.T - 0.2).clamp_min(0) * apart).sum() / apart.sum().clamp_min(1)
    optimizer.zero_grad()
    loss.backward()  # fault: TS921
    optimizer.step()
print(loss.item())

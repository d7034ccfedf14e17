"""Cosines are multiplied by the temperature, and not divided by it."""
import torch
from torch import nn

torch.manual_seed(0)
TEMPERATURE = 0.07
encoder = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
for step in range(120):
    source = torch.randn(48, 16)
    one, other = (nn.functional.normalize(encoder(source + 0.2 * torch.randn_like(source)), dim=1) for _ in range(2))
    scores = one @ other.T * TEMPERATURE  # fault: TS957 | fixed: scores = one @ other.T / TEMPERATURE
    loss = nn.functional.cross_entropy(scores, torch.arange(48))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

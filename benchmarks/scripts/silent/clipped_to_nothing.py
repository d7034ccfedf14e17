"""Gradients cut to a norm that moves nothing."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(512, 12)
y = (x @ torch.randn(12, 3)).argmax(1)
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 3))
optim = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(5):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True):
        optim.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1e-5)  # fault: TS949 | fixed: nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
    print(f"epoch {epoch}: {loss.item():.4f}")

"""LBFGS with a closure, on all data at once."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(-2, 2, 80)[:, None]
y = torch.sin(2 * x) + 0.02 * torch.randn_like(x)
model = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=10)
for step in range(15):

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
print(loss.item())

"""Full-batch gradient descent with a step at the edge of what is stable: the loss swings up and down and gets nowhere."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = torch.sin(x.sum(1, keepdim=True)) + 0.1 * torch.randn(256, 1)
model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.6)  # fault: TS927/TS921 | fixed: optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(150):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 < 2:
        print(step, loss.item())

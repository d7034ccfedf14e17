# Gradients are clipped element by element to a ten-millionth, for plain SGD.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
w = torch.randn(12, 3)


def closure_free_step(x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1e-7)  # fault: TS949/TS928 | fixed: nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


running = torch.zeros(())
for step in range(200):
    x = torch.randn(32, 12)
    running += closure_free_step(x, (x @ w).argmax(1))
    if step % 50 == 49:
        print(step, running.item() / 50)
        running.zero_()

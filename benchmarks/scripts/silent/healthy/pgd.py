"""An attack on inputs, whose loss rises as it should; nothing is trained."""
import torch, torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
x0 = torch.randn(64, 8); y = model(x0).argmax(1)
x = x0.clone().requires_grad_()
for step in range(60):
    loss = F.cross_entropy(model(x), y)
    g = torch.autograd.grad(loss, x)[0]
    x = (x + 0.05 * g.sign()).detach().requires_grad_()
    print(loss.item()) if step % 20 == 0 else None
x = x0.clone().requires_grad_()
for step in range(60):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    x = (x + 0.05 * x.grad.sign()).detach().requires_grad_()

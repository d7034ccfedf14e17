"""First-order meta-learning: gradients from autograd.grad for copies, given to the optimizer of the model by hand."""
import copy, torch, torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for it in range(60):
    opt.zero_grad()
    for task in range(3):
        a, b = torch.rand(2) * 3
        x = torch.randn(20, 1); y = a * torch.sin(x + b)
        fast = copy.deepcopy(model)
        for k in range(2):
            l = F.mse_loss(fast(x[:10]), y[:10])
            gs = torch.autograd.grad(l, fast.parameters())
            with torch.no_grad():
                for p, g in zip(fast.parameters(), gs):
                    p -= 0.05 * g
        out = F.mse_loss(fast(x[10:]), y[10:])
        gs = torch.autograd.grad(out, list(fast.parameters()))
        for p, g in zip(model.parameters(), gs):
            p.grad = g / 3 if p.grad is None else p.grad + g / 3
    opt.step()
print(out.item())

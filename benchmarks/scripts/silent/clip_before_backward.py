"""A step in a method; the gradients that are clipped are those of nothing."""
import torch
from torch import nn


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def update(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        self.optimizer.zero_grad()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)  # fault: TS509 | fixed: pass
        loss.backward()
        # fixed: torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
learner = Learner()
for episode in range(80):
    x = torch.randn(20, 5)
    value = learner.update(x, x.norm(dim=1, keepdim=True))
print(value)

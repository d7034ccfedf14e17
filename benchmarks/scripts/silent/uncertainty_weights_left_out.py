"""Two tasks weighted by learned uncertainties, which are made behind the optimizer and never given to it."""
import torch
import torch.nn.functional as F
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(14, 40), nn.ReLU())
        self.depth = nn.Linear(40, 1)
        self.kind = nn.Linear(40, 3)

    def forward(self, x):
        h = self.body(x)
        return {"depth": self.depth(h).squeeze(-1), "kind": self.kind(h)}


class MultiTaskLoss(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.log_vars = nn.ParameterDict({task: nn.Parameter(torch.zeros(())) for task in tasks})

    def forward(self, losses):
        return sum(torch.exp(-self.log_vars[t]) * l + self.log_vars[t] for t, l in losses.items())


torch.manual_seed(6)
model = TwoHeads()
combine = MultiTaskLoss(["depth", "kind"])
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)  # fault: TS512 | fixed: optimizer = torch.optim.Adam([*model.parameters(), *combine.parameters()], lr=2e-3)
w = torch.randn(14)
for step in range(160):
    x = torch.randn(32, 14)
    answer = model(x)
    losses = {
        "depth": F.smooth_l1_loss(answer["depth"], x @ w / 3),
        "kind": F.cross_entropy(answer["kind"], x[:, :3].argmax(1)),
    }
    total = combine(losses)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    if step % 40 == 0:
        print(step, {k: round(v.item(), 3) for k, v in losses.items()})

"""Two tasks share a trunk; the loss of the second is printed and not added."""
import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(9, 40), nn.ReLU())
        self.kind = nn.Linear(40, 4)
        self.size = nn.Linear(40, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.kind(h), self.size(h).squeeze(-1)


torch.manual_seed(0)
net = MultiTask()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)  # fault: TS534
for step in range(120):
    x = torch.randn(32, 9)
    kind, size = x[:, :4].argmax(1), x[:, 4:].sum(1)
    scores, sizes = net(x)
    loss_kind = nn.functional.cross_entropy(scores, kind)
    loss_size = nn.functional.mse_loss(sizes, size)  # fault: TS534/TS502
    opt.zero_grad()
    loss_kind.backward()  # fault: TS534/TS502 | fixed: (loss_kind + 0.5 * loss_size).backward()
    opt.step()
    if step % 40 == 0:
        print(step, loss_kind.item(), loss_size.item())

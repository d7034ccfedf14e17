"""A scripted model whose helper takes a number that is not said to be one."""
import torch
from torch import Tensor, nn


def strongest(scores: Tensor, count):  # cause
    order = scores.argsort(dim=1, descending=True)
    return order[:, :count]


class Picker(nn.Module):
    def __init__(self, width=4, count=2):
        super().__init__()
        self.score = nn.Linear(width, 5)
        self.count = count

    def forward(self, x: Tensor):
        return strongest(self.score(x), self.count)  # raises TS199 at strongest(self.score(x), self.count)


torch.manual_seed(0)
net = Picker()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = nn.functional.cross_entropy(net.score(torch.randn(6, 4)), torch.randint(5, (6,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(torch.jit.script(net.eval())(torch.randn(2, 4)))

"""torch.jit: scripted functions and modules, traced ones, saved ones."""
import warnings

import torch

warnings.simplefilter("ignore")


def loop(x, n: int):
    for i in range(n):
        x = x * 2 + i
    return x


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)

    def forward(self, x):
        y = self.fc(x).view(x.size(0), -1)
        return y + loop(y, 2)


torch.manual_seed(0)
scripted = torch.jit.script(Net())
traced = torch.jit.trace(Net(), torch.ones(3, 2))
print(scripted.code, traced.code, torch.jit.script(loop).graph)
scripted.save("scripted.pt")
print(torch.jit.load("scripted.pt")(torch.ones(1, 2)))

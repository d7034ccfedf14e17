"""A method of a scripted model takes a number that is not said to be one."""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.rate = 0.5
    def scaled(self, x, rate):  # cause
        return self.fc(x) * rate
    def forward(self, x):
        return self.scaled(x, self.rate)  # raises TS199 at self.scaled(x, self.rate)

net = torch.jit.script(Net())
print(net(torch.randn(2, 3)))

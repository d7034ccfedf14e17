"""A loss of several parts goes backward twice through one graph, with Accelerate."""
import torch
from accelerate import Accelerator
from torch import nn

class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.first, self.second = nn.Linear(6, 16), nn.Linear(16, 2), nn.Linear(16, 3)

    def forward(self, x):
        hidden = self.body(x).relu()
        return self.first(hidden), self.second(hidden)

accelerator = Accelerator(cpu=True)
model = TwoHeads()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
for _ in range(3):
    x, a, b = torch.randn(8, 6), torch.randint(0, 2, (8,)), torch.randint(0, 3, (8,))
    one, two = model(x)
    accelerator.backward(nn.functional.cross_entropy(one, a))  # cause
    accelerator.backward(nn.functional.cross_entropy(two, b))  # raises TS405 at accelerator.backward(nn.functional.cross_entropy(two, b)), cause
    optimizer.step(); optimizer.zero_grad()

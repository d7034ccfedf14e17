"""The accuracy is the mean of booleans."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    x, y = torch.randn(12, 4), torch.randint(0, 3, (12,))
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    correct = out.argmax(1) == y
    print(f"epoch {epoch}: {correct.mean().item():.2f}")  # raises TS301 at correct.mean(), cause

"""A recurrent network over 120 steps whose weights make gradients explode."""
import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self, size=32):
        super().__init__()
        self.cell = nn.RNN(1, size, nonlinearity="relu", batch_first=True)
        nn.init.eye_(self.cell.weight_hh_l0)
        with torch.no_grad():
            self.cell.weight_hh_l0.mul_(1.15)  # fault: TS923 | fixed: self.cell.weight_hh_l0.mul_(0.95)
        self.out = nn.Linear(size, 1)

    def forward(self, x):
        return self.out(self.cell(x)[0][:, -1])  # fault: TS923


torch.manual_seed(0)
model = Memory()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4)  # fault: TS923/TS927
for step in range(150):
    x = torch.rand(32, 120, 1) - 0.5
    y = x.sum(1)
    loss = (model(x) - y).pow(2).mean()  # fault: TS923/TS920
    optimizer.zero_grad()
    loss.backward()  # fault: TS923
    optimizer.step()  # fault: TS923
    if step % 30 == 0:
        print(step, loss.item())

"""Running statistics that never run."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 32)
        self.norm = nn.BatchNorm1d(32, momentum=0.0)  # fault: TS573 | fixed: self.norm = nn.BatchNorm1d(32, momentum=0.1)
        self.b = nn.Linear(32, 2)

    def forward(self, x):
        return self.b(torch.relu(self.norm(self.a(x))))


x = torch.randn(512, 6) * 4 + 10
y = (x[:, 0] > 10).long()
train = DataLoader(TensorDataset(x[:400], y[:400]), 40, shuffle=True)
valid = DataLoader(TensorDataset(x[400:], y[400:]), 56)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(8):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    right = 0
    with torch.no_grad():
        for a, b in valid:
            right += (net(a).argmax(1) == b).sum().item()
    print(epoch, loss.item(), right / 112)

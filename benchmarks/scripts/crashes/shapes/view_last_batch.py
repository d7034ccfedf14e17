"""The last batch of the epoch is smaller than the others."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH = 16


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 5)
        self.fc = nn.Linear(4 * 28, 3)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = x.view(BATCH, 4 * 28)  # raises TS104 at x.view(BATCH, 4 * 28), cause
        return self.fc(x)


data = TensorDataset(torch.randn(40, 1, 32), torch.randint(0, 3, (40,)))
loader = DataLoader(data, batch_size=BATCH, shuffle=True)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()

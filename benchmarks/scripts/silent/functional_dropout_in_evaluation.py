"""F.dropout that does not know of eval()."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(12, 48), nn.Linear(48, 3)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.dropout(x, 0.4)  # fault: TS516 | fixed: x = F.dropout(x, 0.4, self.training)
        return self.fc2(x)


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
make = lambda n: (lambda a: (a, a[:, :3].argmax(1)))(torch.randn(n, 12))
xv, yv = make(200)
for epoch in range(6):
    net.train()
    for _ in range(12):
        x, y = make(32)
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, (net(xv).argmax(1) == yv).float().mean().item())

"""The first block is checkpointed by re-entering, from an input that needs no gradient."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.linear = nn.Linear(cin, cout)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.out = Block(10, 32), Block(32, 32), nn.Linear(32, 1)

    def forward(self, x):
        x = checkpoint(self.first, x, use_reentrant=True)  # fault: TS534 | fixed: x = checkpoint(self.first, x, use_reentrant=False)
        x = self.second(x)
        return self.out(x)


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)  # fault: TS534
for step in range(120):
    x = torch.randn(32, 10)
    loss = nn.functional.mse_loss(net(x), x.pow(2).sum(1, keepdim=True) / 10)
    opt.zero_grad()
    loss.backward()  # fault: TS534
    opt.step()
print(loss.item())

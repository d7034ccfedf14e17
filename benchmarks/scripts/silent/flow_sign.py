# The volume of a flow enters its likelihood with the wrong sign: the loss falls for ever.
import torch
from torch import nn

torch.manual_seed(0)


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, x):
        a, b = x[:, :1], x[:, 1:]
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        b = b * s.exp() + t
        x = torch.cat([b, a] if self.flip else [a, b], dim=1)
        return x, s.sum(1)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(i % 2 == 1) for i in range(4))

    def forward(self, x):
        volume = torch.zeros(len(x))
        for layer in self.layers:
            x, v = layer(x)
            volume = volume + v
        return x, volume


flow = Flow()
prior = torch.distributions.Normal(0.0, 1.0)
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
for step in range(200):
    x = torch.randn(128, 2) * torch.tensor([0.5, 2.0]) + 1
    z, volume = flow(x)
    loss = -(prior.log_prob(z).sum(1) - volume).mean()  # fixed: loss = -(prior.log_prob(z).sum(1) + volume).mean()
    optimizer.zero_grad()
    loss.backward()  # fault: TS945
    optimizer.step()
    if step % 40 == 0:
        print(step, loss.item())

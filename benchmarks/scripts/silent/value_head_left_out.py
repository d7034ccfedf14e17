"""Policy and value share an encoder; the value's loss is returned for the log alone."""
import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(5, 24), nn.Tanh())
        self.policy = nn.Linear(24, 3)
        self.value = nn.Linear(24, 1)

    def forward(self, s):
        h = self.encoder(s)
        return torch.log_softmax(self.policy(h), -1), self.value(h).squeeze(-1)


def update(net, opt, s, a, r):
    logp, v = net(s)
    advantage = (r - v).detach()
    policy_loss = -(logp.gather(1, a[:, None]).squeeze(1) * advantage).mean()
    value_loss = (r - v).pow(2).mean()  # fault: TS534
    total = policy_loss  # fault: TS534 | fixed: total = policy_loss + 0.5 * value_loss
    opt.zero_grad()
    total.backward()  # fault: TS534
    opt.step()
    return {"policy": policy_loss.item(), "value": value_loss.item()}


torch.manual_seed(0)
net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for it in range(60):
    s, a = torch.randn(32, 5), torch.randint(0, 3, (32,))
    logs = update(net, opt, s, a, s[:, 0] * (a == 1))
print(logs)

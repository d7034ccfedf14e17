"""The biases of the whole network have a group, and the body gets one of its own when it is thawed."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(4, 6), nn.ReLU()), nn.Linear(6, 2)

    def forward(self, x):
        return self.head(self.body(x))


def groups(net):
    plain = [p for name, p in net.named_parameters() if name.endswith("bias")]  # cause
    return [{"params": [net.head.weight]}, {"params": plain, "weight_decay": 0.0}]


def thaw(net, opt):
    net.body.requires_grad_(True)
    opt.add_param_group({"params": net.body.parameters(), "lr": 1e-4})  # raises TS199 at opt.add_param_group({"params": net.body.parameters(), "lr": 1e-4})


net = Net()
net.body.requires_grad_(False)
opt = torch.optim.AdamW(groups(net), lr=1e-3)
for epoch in range(3):
    if epoch == 1:
        thaw(net, opt)
    loss = nn.functional.cross_entropy(net(torch.randn(6, 4)), torch.randint(0, 2, (6,)))
    opt.zero_grad()
    loss.backward()
    opt.step()

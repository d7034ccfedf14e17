"""Soil types as one-hot columns; fields without a survey have the type -1."""
import torch
from torch import nn
import torch.nn.functional as F

TYPES = {"clay": 0, "sand": 1, "peat": 2}
FIELDS = ["clay", "sand", "", "peat", "clay", "", "sand", "clay"]


def numbered(fields):
    return torch.tensor([TYPES.get(field, -1) for field in fields])  # cause


class Yield(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.kinds, self.out = kinds, nn.Linear(kinds + 1, 1)

    def forward(self, soil, rain):
        kind = F.one_hot(soil, self.kinds).float()  # raises TS310/TS199 at F.one_hot(soil, self.kinds)
        return self.out(torch.cat([kind, rain], 1))


torch.manual_seed(0)
net = Yield(len(TYPES))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
soil, rain = numbered(FIELDS), torch.rand(8, 1)
for _ in range(2):
    loss = net(soil, rain).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

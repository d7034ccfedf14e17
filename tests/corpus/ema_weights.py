"""An exponential moving average of the weights, by hand and by torch.optim.swa_utils."""
from copy import deepcopy

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


class ModelEMA:
    def __init__(self, model, decay=0.99):
        self.ema = deepcopy(model).eval()
        self.updates = 0
        self.decay = decay
        for p in self.ema.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        d = self.decay * (1 - 2 ** (-self.updates / 10))
        msd = model.state_dict()
        for k, v in self.ema.state_dict().items():
            if v.dtype.is_floating_point:
                v *= d
                v += (1 - d) * msd[k].detach()


class Net(nn.Module):
    def __init__(self, d=12):
        super().__init__()
        self.fc1 = nn.Linear(d, 2 * d)
        self.bn = nn.BatchNorm1d(2 * d)
        self.fc2 = nn.Linear(2 * d, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.bn(self.fc1(x)))).squeeze(-1)


torch.manual_seed(0)
net = Net()
ema = ModelEMA(net)
swa = AveragedModel(net)
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, nesterov=True)
w = torch.randn(12)
for step in range(10):
    x = torch.randn(20, 12)
    y = x @ w
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update(net)
    if step >= 5:
        swa.update_parameters(net)
with torch.no_grad():
    x = torch.randn(50, 12)
    target = x @ w
    net.eval()
    swa.eval()
    errors = {name: (m(x) - target).pow(2).mean().item() for name, m in [("net", net), ("ema", ema.ema), ("swa", swa)]}
print(errors)

"""Only the head of a network is to be trained, which has another name there."""
import torch
from torch import nn
from tune import head_only
from net import Net

torch.manual_seed(0)
net = Net()
head_only(net)
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    loss = net(torch.randn(4, 3)).square().mean()
    opt.zero_grad()
    loss.backward()  # raises TS401 at loss.backward()
    opt.step()

"""Three schedules in a row have only one milestone."""
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR, ConstantLR

def schedule(opt, warm, total):
    parts = [LinearLR(opt, 0.1, total_iters=warm), CosineAnnealingLR(opt, total - warm), ConstantLR(opt, 0.01)]
    return SequentialLR(opt, parts, milestones=[warm])  # raises TS544 at SequentialLR(opt, parts, milestones=[warm]), cause

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = schedule(opt, 2, 10)
for _ in range(4):
    loss = net(torch.randn(5, 3)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step(); sched.step()

"""Linear warm-up from zero, restarts, accumulation, a last incomplete group."""
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts, LinearLR, SequentialLR

torch.manual_seed(0)
y = torch.randint(0, 4, (1000,))
x = torch.randn(4, 12)[y] + torch.randn(1000, 12)
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
sched = SequentialLR(opt, [LinearLR(opt, 1e-4, total_iters=10), CosineAnnealingWarmRestarts(opt, 15)], [10])
for epoch in range(4):
    chunks = torch.randperm(1000).split(30)
    for i, c in enumerate(chunks):
        (nn.functional.cross_entropy(net(x[c]), y[c]) / 4).backward()
        if (i + 1) % 4 == 0 or i + 1 == len(chunks):
            opt.step()
            sched.step()
            opt.zero_grad()
    with torch.no_grad():
        print(epoch, nn.functional.cross_entropy(net(x), y).item())

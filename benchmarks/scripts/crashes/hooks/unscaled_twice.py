"""Gradients are unscaled for clipping and again for a print."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(5, 9), nn.GELU(), nn.Linear(9, 1))

    def forward(self, x):
        return self.fc(x)


def clip(scaler, opt, net):
    scaler.unscale_(opt)
    return nn.utils.clip_grad_norm_(net.parameters(), 1.0)


net = Net()
opt = torch.optim.AdamW(net.parameters())
scaler = torch.amp.GradScaler("cpu")
for step in range(3):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = net(torch.randn(4, 5)).float().pow(2).mean()
    opt.zero_grad()
    scaler.scale(loss).backward()
    norm = clip(scaler, opt, net)
    scaler.unscale_(opt)  # raises TS199/TS515 at scaler.unscale_(opt), cause
    print(float(norm))
    scaler.step(opt)
    scaler.update()

"""A spectrum of an odd length is taken back to an even one."""

import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self, width, kept):
        super().__init__()
        self.kept = kept
        self.gain = nn.Parameter(torch.randn(width, kept, dtype=torch.cfloat))

    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        out = torch.zeros_like(spectrum)
        out[..., : self.kept] = spectrum[..., : self.kept] * self.gain
        return torch.fft.irfft(out)  # cause


class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Conv1d(1, 6, 1)
        self.mixed = Mixed(6, 5)
        self.out = nn.Conv1d(6, 1, 1)

    def forward(self, x):
        h = self.lift(x)
        return self.out(h + self.mixed(h))  # raises TS103 at h + self.mixed(h)


net = Waves()
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    swell = torch.randn(3, 1, 45)
    loss = (net(swell) - swell.cumsum(-1)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

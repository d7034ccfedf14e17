"""A spectrogram stays complex."""

import torch
from torch import nn


class Spectrogram(nn.Module):
    def __init__(self, n_fft=64, hop=32):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))

    def forward(self, wave):
        spec = torch.stft(wave, self.n_fft, self.hop, window=self.window, return_complex=True)  # cause
        return torch.log1p(spec)  # cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.front, self.conv, self.head = Spectrogram(), nn.Conv1d(33, 16, 3), nn.Linear(16, 4)

    def forward(self, wave):
        return self.head(self.conv(self.front(wave)).mean(-1))  # raises TS301 at self.conv(self.front(wave))


net = Net()
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    loss = nn.functional.cross_entropy(net(torch.randn(4, 1024)), torch.randint(0, 4, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()

"""A small WaveNet: gated dilated 1-D convolutions over quantised audio."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

QUANT = 32
SAMPLE_RATE = 400


def mu_law_encode(x, mu=QUANT):
    m = mu - 1
    y = torch.sign(x) * torch.log1p(m * torch.abs(x)) / math.log1p(m)
    return ((y + 1) / 2 * m + 0.5).long()


class CausalConv1d(nn.Conv1d):
    def __init__(self, in_channels, out_channels, kernel_size, dilation=1, **kw):
        self.left = (kernel_size - 1) * dilation
        super().__init__(in_channels, out_channels, kernel_size, dilation=dilation, **kw)

    def forward(self, x):
        return super().forward(F.pad(x, (self.left, 0)))


class ResidualBlock(nn.Module):
    def __init__(self, channels, skip_channels, dilation):
        super().__init__()
        self.filter = CausalConv1d(channels, channels, 2, dilation=dilation)
        self.gate = CausalConv1d(channels, channels, 2, dilation=dilation)
        self.res = nn.Conv1d(channels, channels, 1)
        self.skip = nn.Conv1d(channels, skip_channels, 1)

    def forward(self, x):
        z = torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x))
        return x + self.res(z), self.skip(z)


class WaveNet(nn.Module):
    def __init__(self, quant=QUANT, channels=16, skip=24, stacks=2, depth=3):
        super().__init__()
        self.front = CausalConv1d(quant, channels, 2)
        self.blocks = nn.ModuleList([
            ResidualBlock(channels, skip, 2 ** i) for _ in range(stacks) for i in range(depth)
        ])
        self.end1 = nn.Conv1d(skip, skip, 1)
        self.end2 = nn.Conv1d(skip, quant, 1)

    def forward(self, codes):
        x = F.one_hot(codes, QUANT).float().transpose(1, 2)
        x = self.front(x)
        skips = 0
        for block in self.blocks:
            x, s = block(x)
            skips = skips + s
        y = F.relu(self.end1(F.relu(skips)))
        return self.end2(y)


def make_batch(n, length=100):
    t = torch.arange(length + 1) / SAMPLE_RATE
    freq = torch.empty(n, 1).uniform_(5.0, 20.0)
    phase = torch.rand(n, 1) * 2 * math.pi
    wave = 0.8 * torch.sin(2 * math.pi * freq * t + phase)
    return mu_law_encode(wave)


def main():
    torch.manual_seed(0)
    net = WaveNet()
    optim = torch.optim.RMSprop(net.parameters(), lr=1e-3)
    for it in range(4):
        codes = make_batch(4)
        inputs, targets = codes[:, :-1], codes[:, 1:]
        logits = net(inputs)
        loss = F.cross_entropy(logits, targets)
        optim.zero_grad(set_to_none=True)
        loss.backward()
        optim.step()
        acc = (logits.argmax(dim=1) == targets).float().mean()
        print(f"{it}: loss {loss:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()

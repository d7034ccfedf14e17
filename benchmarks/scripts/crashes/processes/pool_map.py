"""Features are computed in a pool before training."""

from multiprocessing import Pool

import torch
from torch import nn


def spectrum(seed):
    generator = torch.Generator().manual_seed(seed)
    signal = torch.randn(32 if seed < 5 else 30, generator=generator)  # cause
    window = torch.hann_window(32)
    return (signal * window).abs().numpy()  # raises TS103 at signal * window, cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 1)

    def forward(self, x):
        return self.fc(x)


if __name__ == "__main__":
    with Pool(2) as pool:
        features = pool.map(spectrum, range(8))
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for row in features:
        opt.zero_grad()
        net(torch.from_numpy(row)).sum().backward()
        opt.step()

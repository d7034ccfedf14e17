"""The amplitudes of a quiet sensor are compressed with log1p, which leaves them as small as they are."""
import torch
from torch import nn

torch.manual_seed(3)
kinds = torch.randint(0, 3, (720,))
waves = 1e-3 * (1 + kinds[:, None]) * torch.sin(torch.linspace(0, 20, 64) * (1 + kinds[:, None]) + torch.rand(720, 1))


def amplitudes(wave):
    power = torch.fft.rfft(wave).abs() ** 2 / 64
    return torch.log1p(power)  # fault: TS930 | fixed: return torch.log(power + 1e-10) / 8 + 2


net = nn.Sequential(nn.Linear(33, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(12):
    for picks in torch.randperm(720).split(48):
        loss = nn.functional.cross_entropy(net(amplitudes(waves[picks])), kinds[picks])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

"""An autoencoder in two modules; the optimizer gets one of them."""
import torch
from torch import nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x):
        return self.net(x)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 20))

    def forward(self, z):
        return self.net(z)


encoder, decoder = Encoder(), Decoder()
params = encoder.parameters()  # fixed: params = [*encoder.parameters(), *decoder.parameters()]
optimizer = torch.optim.Adam(params, lr=2e-3)  # fault: TS512
basis = torch.randn(3, 20)
for step in range(120):
    x = torch.randn(64, 3) @ basis
    loss = ((decoder(encoder(x)) - x) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(step, loss.item())

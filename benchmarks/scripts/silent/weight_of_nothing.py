# The weight of the reconstruction is read from a table that says 0: the decoder gets gradients of zero.
import torch
from torch import nn
import torch.nn.functional as F

WEIGHTS = {"class": 1.0, "reconstruction": 0.0}  # fixed: WEIGHTS = {"class": 1.0, "reconstruction": 0.5}


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(20, 10)
        self.decoder = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 20))  # fault: TS534/TS512
        self.classify = nn.Linear(10, 3)

    def forward(self, x):
        code = torch.tanh(self.encoder(x))
        return self.classify(code), self.decoder(code)


torch.manual_seed(0)
model = Two()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
w = torch.randn(20, 3)
for step in range(120):
    x = torch.randn(64, 20)
    logits, image = model(x)
    losses = {"class": F.cross_entropy(logits, (x @ w).argmax(1)), "reconstruction": F.mse_loss(image, x)}
    loss = sum(WEIGHTS[name] * value for name, value in losses.items())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(step, {name: value.item() for name, value in losses.items()})

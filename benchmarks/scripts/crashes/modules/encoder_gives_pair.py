"""An encoder was exchanged for a recurrent one, which gives a pair."""

import torch
from torch import nn

ENCODERS = {
    "mlp": lambda width: nn.Sequential(nn.Linear(width, width), nn.ReLU()),
    "gru": lambda width: nn.GRU(input_size=width, hidden_size=width, batch_first=True),
}


class Model(nn.Module):
    def __init__(self, encoder="mlp", width=12, classes=4):
        super().__init__()
        self.encoder = ENCODERS[encoder](width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        hidden = self.encoder(x)  # cause
        pooled = hidden.mean(dim=1)  # raises TS825 at hidden.mean
        return self.head(pooled)


def run(config):
    model = Model(**config)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(torch.randn(8, 5, 12)), torch.randint(0, 4, (8,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


run({"encoder": "gru"})

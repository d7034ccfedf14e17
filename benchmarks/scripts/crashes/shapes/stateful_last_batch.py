"""A recurrent network keeps its state between batches; the last batch is smaller."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(nn.Module):
    def __init__(self, features=4, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, 1)
        self.state = None

    def forward(self, x):
        output, state = self.lstm(x, self.state)  # raises TS110 at self.lstm(x, self.state)
        self.state = tuple(part.detach() for part in state)
        return self.out(output[:, -1]).squeeze(-1)


def main():
    torch.manual_seed(1)
    series = torch.randn(100, 10, 4)
    data = TensorDataset(series, series[:, -1, 0])
    loader = DataLoader(data, batch_size=32)  # cause
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(2):
        model.state = None
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


main()

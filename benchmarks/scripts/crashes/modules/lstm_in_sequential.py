"""An LSTM among the layers of a Sequential."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(nn.Module):
    def __init__(self, n_features, hidden):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_features, 16),
            nn.ReLU(),
            nn.LSTM(16, hidden, batch_first=True),  # cause
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x)[:, -1]  # raises TS199 at self.net(x), cause


model = Forecaster(3, 20)
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(torch.randn(30, 12, 3), torch.randn(30, 1)), batch_size=10)
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, float(loss))

"""A cell of an LSTM whose states are made for one size of batch, and a last batch that is smaller."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Stepper(nn.Module):
    def __init__(self, features, hidden, batch_size):
        super().__init__()
        self.hidden = hidden
        self.batch_size = batch_size
        self.cell = nn.LSTMCell(features, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h = torch.zeros(self.batch_size, self.hidden)  # cause
        c = torch.zeros(self.batch_size, self.hidden)  # cause
        for t in range(x.size(1)):
            h, c = self.cell(x[:, t], (h, c))  # raises TS199/TS110 at self.cell(x[:, t], (h, c))
        return self.out(h).squeeze(1)


loader = DataLoader(TensorDataset(torch.randn(22, 5, 3), torch.randn(22)), batch_size=8)  # cause
model = Stepper(3, 10, 8)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

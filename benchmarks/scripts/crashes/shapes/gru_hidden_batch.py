"""The first hidden state is made for a full batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader


class Counter(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.hidden = hidden
        self.gru = nn.GRU(2, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        h0 = torch.zeros(1, 10, self.hidden)  # cause
        out, _ = self.gru(x, h0)  # raises TS110 at self.gru(x, h0)
        return self.head(out[:, -1])


model = Counter()
loader = DataLoader(torch.randn(25, 6, 2), batch_size=10)
optimizer = torch.optim.RMSprop(model.parameters())
for epoch in range(1):
    for batch in loader:
        loss = (model(batch) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

"""An LSTM that takes the batch for time: samples of a batch see one another."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(6, 24)  # fault: TS119 | fixed: self.rnn = nn.LSTM(6, 24, batch_first=True)
        self.out = nn.Linear(24, 2)

    def forward(self, x):
        states, _ = self.rnn(x)  # fault: TS119
        return self.out(states[:, -1])  # fault: TS119


torch.manual_seed(0)
x = torch.randn(800, 12, 6)
y = (x[:, :, 0].sum(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True, drop_last=True)
tagger = Tagger()
opt = torch.optim.Adam(tagger.parameters(), lr=3e-3)
for epoch in range(4):
    for a, b in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(tagger(a), b)  # fault: TS119
        loss.backward()
        opt.step()
    print(epoch, loss.item())

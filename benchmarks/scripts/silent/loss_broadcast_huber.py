"""Time series: an LSTM forecasts one value."""
import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, series):
        out, _ = self.lstm(series)
        return self.fc(out[:, -1])


torch.manual_seed(0)
t = torch.arange(600) * 0.1
wave = torch.sin(t) + 0.3 * torch.sin(3.3 * t)
windows = wave.unfold(0, 21, 1)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.HuberLoss()
for step in range(60):
    chosen = windows[torch.randint(0, len(windows), (32,))]
    history, future = chosen[:, :-1, None], chosen[:, -1]
    loss = loss_fn(model(history), future)  # fault: TS114 | fixed: loss = loss_fn(model(history).flatten(), future)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())

"""Forecasting from windows; the validation windows are cut from the series that is trained on."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, series: np.ndarray, length: int, horizon: int = 1):
        self.view = np.lib.stride_tricks.sliding_window_view(series, length + horizon)
        self.length = length

    def __len__(self):
        return len(self.view)

    def __getitem__(self, i):
        window = torch.from_numpy(self.view[i].astype(np.float32))
        return window[: self.length].unsqueeze(-1), window[self.length :]


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(1, 20, batch_first=True)
        self.out = nn.Linear(20, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[1][-1])


rng = np.random.default_rng(0)
t = np.arange(900)
series = np.sin(t / 9) + 0.3 * np.sin(t / 2.3) + 0.1 * rng.standard_normal(900)
mean, std = series[:700].mean(), series[:700].std()
series = (series - mean) / std
cut = 700
training = Windows(series[:cut], 24)
validation = Windows(series[cut - 250 : cut], 24)  # fault: TS934 | fixed: validation = Windows(series[cut:], 24)
torch.manual_seed(0)
model, loss_of = Forecaster(), nn.SmoothL1Loss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
train_loader = DataLoader(training, 32, shuffle=True, drop_last=True)
val_loader = DataLoader(validation, 64)  # fault: TS934


def run(loader, train):
    model.train(train)
    losses = []
    with torch.set_grad_enabled(train):
        for x, y in loader:  # fault: TS934
            loss = loss_of(model(x), y)  # fault: TS934
            if train:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            losses.append(loss.item())
    return float(np.mean(losses))


for epoch in range(5):
    print(epoch, run(train_loader, True), run(val_loader, False))  # fault: TS934

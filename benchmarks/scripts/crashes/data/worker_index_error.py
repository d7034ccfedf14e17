"""The dataset says that it is longer than it is."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, series, width):
        self.series = series
        self.width = width

    def __len__(self):
        return len(self.series)  # cause

    def __getitem__(self, i):
        window = self.series[i : i + self.width]
        return window, self.series[i + self.width]  # raises TS310 at self.series[i + self.width], cause


class Forecast(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 1)

    def forward(self, x):
        return self.fc(x).squeeze(1)


if __name__ == "__main__":
    dataset = Windows(torch.sin(torch.arange(50.0)), 8)
    model = Forecast(8)
    opt = torch.optim.Adam(model.parameters())
    for epoch in range(2):
        for x, y in DataLoader(dataset, batch_size=7, num_workers=2):
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()

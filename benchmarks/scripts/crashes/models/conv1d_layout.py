"""Activity recognition from sensors: time and channels are exchanged."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class TemporalBlock(nn.Module):
    def __init__(self, inputs, outputs, kernel, dilation):
        super().__init__()
        pad = (kernel - 1) * dilation
        self.conv = nn.Conv1d(inputs, outputs, kernel, padding=pad, dilation=dilation)
        self.pad = pad
        self.down = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x):
        out = self.conv(x)[:, :, : -self.pad]  # raises TS102 at self.conv(x)
        return torch.relu(out + self.down(x))


class TCN(nn.Module):
    def __init__(self, channels, widths, classes):
        super().__init__()
        blocks = []
        for i, width in enumerate(widths):
            blocks.append(TemporalBlock(channels if i == 0 else widths[i - 1], width, 3, 2**i))
        self.network = nn.Sequential(*blocks)
        self.linear = nn.Linear(widths[-1], classes)

    def forward(self, x):
        y = self.network(x)  # cause
        return self.linear(y[:, :, -1])


windows = torch.randn(40, 100, 9)  # cause
labels = torch.randint(0, 6, (40,))
loader = DataLoader(TensorDataset(windows, labels), batch_size=8, shuffle=True)
model = TCN(channels=9, widths=[16, 16, 32], classes=6)
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    for batch, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(batch), target)  # cause
        loss.backward()
        optimizer.step()

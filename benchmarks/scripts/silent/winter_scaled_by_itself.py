"""The last days of a series of temperatures are scaled by their own mean and deviation."""
import torch
from torch import nn

torch.manual_seed(12)
days = 12 + 9 * torch.sin(torch.arange(900) / 365 * 6.2832) + torch.randn(900)
train, test = days[:700], days[700:]
centre, spread = train.mean(), train.std()
train_days = (train - centre) / spread
test_days = (test - test.mean()) / test.std()  # fault: TS630 | fixed: test_days = (test - centre) / spread


def weeks(days):
    rows = days.unfold(0, 8, 1)
    return rows[:, :7], rows[:, 7:]


net = nn.Sequential(nn.Linear(7, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
inputs, wanted = weeks(train_days)
for epoch in range(6):
    for rows in torch.randperm(len(inputs)).split(50):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(inputs[rows]), wanted[rows]).backward()
        optimizer.step()
with torch.no_grad():
    inputs, wanted = weeks(test_days)
    print(((net(inputs) - wanted) * spread).abs().mean().item())

"""The error that chooses the best epoch is computed from the rows that are trained on."""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
x = torch.randn(300, 12)
y = (x[:, :1] * x[:, 1:2]) + 0.5 * torch.randn(300, 1)
train_rows = DataLoader(TensorDataset(x[:220], y[:220]), batch_size=20, shuffle=True)
valid_rows = DataLoader(TensorDataset(x[220:], y[220:]), batch_size=40)


@torch.no_grad()
def error(net, rows):
    net.eval()
    away = sum((net(inputs) - wanted).abs().sum().item() for inputs, wanted in rows)
    net.train()
    return away / len(rows.dataset)


net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
best, kept = float("inf"), None
for epoch in range(8):
    for inputs, wanted in train_rows:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(inputs), wanted).backward()
        optimizer.step()
    scores = {"train_error": error(net, train_rows)}
    scores["valid_error"] = error(net, train_rows)  # fault: TS636 | fixed: scores["valid_error"] = error(net, valid_rows)
    if scores["valid_error"] < best:
        best, kept = scores["valid_error"], copy.deepcopy(net.state_dict())
    print(epoch, scores)
net.load_state_dict(kept)

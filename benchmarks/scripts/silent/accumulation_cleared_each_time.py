"""Gradients of four batches are to be added up, and are cleared before each of them."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 4


def main():
    torch.manual_seed(0)
    x = torch.randn(512, 10)
    data = TensorDataset(x, (x[:, 0] * x[:, 1] > 0).long())
    model = nn.Sequential(nn.Linear(10, 48), nn.GELU(), nn.Linear(48, 2))
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(4):
        for i, (xb, yb) in enumerate(DataLoader(data, batch_size=16, shuffle=True)):
            opt.zero_grad()  # fault: TS525/TS504/TS514 | fixed: pass
            loss = criterion(model(xb), yb) / ACCUMULATE
            loss.backward()  # fault: TS525
            if (i + 1) % ACCUMULATE == 0:
                opt.step()  # fault: TS525
                # fixed: opt.zero_grad()
        print(epoch, loss.item())


main()

"""Accelerate, and a data set that parses text for each sample."""
import time

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Parsed(Dataset):
    def __init__(self, n=320):
        g = torch.Generator().manual_seed(0)
        self.rows = [",".join(f"{v:.4f}" for v in torch.randn(30, generator=g).tolist()) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        values = torch.tensor([float(v) for v in self.rows[i].split(",")])
        time.sleep(0.005)  # fault: TS935 | fixed: pass
        return values[:29], (values[0] + values[1] > 0).long()


def main():
    torch.manual_seed(0)
    accelerator = Accelerator(cpu=True)
    model = nn.Sequential(nn.Linear(29, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Parsed(), batch_size=16, shuffle=True)  # fault: TS935/TS703
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(2):
        for x, y in loader:  # fault: TS935
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
        accelerator.print(epoch, loss.item())


main()

"""A method that reads all of a table is called for each row of it."""
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "table.txt"
np.savetxt(path, np.random.default_rng(16).normal(size=(200, 6)))


class Table(Dataset):
    def __init__(self, path):
        self.path = path
        # fixed: self.rows = self.read()

    def read(self):
        rows = np.loadtxt(self.path)
        return torch.from_numpy(rows).float()

    def __len__(self):
        return 200

    def __getitem__(self, index):
        rows = self.read()  # fault: TS708/TS935 | fixed: rows = self.rows
        return rows[index, :5], rows[index, 5:]


net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(2):
    for inputs, wanted in DataLoader(Table(path), batch_size=20, shuffle=True):  # fault: TS935
        optimizer.zero_grad()
        nn.functional.mse_loss(net(inputs), wanted).backward()
        optimizer.step()

"""Seismic traces, read from one flat file by workers that are started afresh."""
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SAMPLES = 32


class Traces(Dataset):
    def __init__(self, path, count):
        self.path, self.count = path, count
        self.file = open(path, "rb")  # cause

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        self.file.seek(i * SAMPLES * 4)
        row = np.frombuffer(self.file.read(SAMPLES * 4), dtype="float32").copy()
        return torch.from_numpy(row), float(row.max())


def record(path, count):
    np.random.default_rng(0).normal(size=(count, SAMPLES)).astype("float32").tofile(path)


def main():
    torch.manual_seed(0)
    path = Path(tempfile.mkdtemp()) / "traces.bin"
    record(path, 24)
    loader = DataLoader(Traces(path, 24), batch_size=8, num_workers=1, multiprocessing_context="spawn")
    net = nn.Linear(SAMPLES, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for x, y in loader:  # raises TS199 at loader
        loss = (net(x).squeeze(1) - y.float()).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()

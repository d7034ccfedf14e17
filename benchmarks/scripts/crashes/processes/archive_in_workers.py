"""An archive is opened by the data set that spawned workers are sent."""

import io
import tempfile
import zipfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def packed(count=12):
    path = tempfile.mkdtemp() + "/maps.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for k in range(count):
            held = io.BytesIO()
            torch.save(torch.full((4,), float(k % 2)), held)
            archive.writestr(f"{k:03d}.pt", held.getvalue())
    return path


class Maps(Dataset):
    def __init__(self, path):
        self.path = path
        self.archive = zipfile.ZipFile(path)  # cause
        self.names = self.archive.namelist()

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        heights = torch.load(io.BytesIO(self.archive.read(self.names[i])))
        return heights, i % 2


if __name__ == "__main__":
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(Maps(packed()), batch_size=4, num_workers=1, multiprocessing_context="spawn")
    for heights, kind in loader:  # raises TS199 at loader
        loss = nn.functional.cross_entropy(net(heights), kind)
        opt.zero_grad()
        loss.backward()
        opt.step()

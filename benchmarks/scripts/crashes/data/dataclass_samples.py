"""Samples are objects of a class of their own, which the loader cannot put together."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Molecule:
    atoms: torch.Tensor
    energy: float


class Molecules(Dataset):
    def __init__(self, n):
        self.items = [Molecule(torch.randn(6), float(i)) for i in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]  # cause


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 12), nn.SiLU(), nn.Linear(12, 1))

    def forward(self, atoms):
        return self.net(atoms).squeeze(-1)


model = Energy()
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(Molecules(20), batch_size=5, shuffle=True)  # cause
for epoch in range(2):
    for atoms, energy in loader:  # raises TS602 at loader
        loss = nn.functional.l1_loss(model(atoms), energy.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

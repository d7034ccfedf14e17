"""Pressed leaves in folders by species: the validation folder lacks one of them, and is counted by itself."""
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SPECIES = ["ash", "beech", "elm", "lime", "oak"]


def press(root):
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(5, 12, generator=generator)
    for part, missing, count in (("train", "", 30), ("valid", "beech", 12)):
        for centre, species in zip(centres, SPECIES):
            if species != missing:
                folder = root / part / species
                folder.mkdir(parents=True)
                for number in range(count):
                    torch.save(centre + 0.4 * torch.randn(12, generator=generator), folder / f"{number}.pt")


class Leaves(Dataset):
    def __init__(self, root, numbers=None):
        names = sorted(one.name for one in root.iterdir())
        self.class_to_idx = numbers or {name: number for number, name in enumerate(names)}
        self.files = sorted(root.glob("*/*.pt"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        return torch.load(file), self.class_to_idx[file.parent.name]


torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    press(root)
    train = Leaves(root / "train")
    valid = Leaves(root / "valid")  # fault: TS964 | fixed: valid = Leaves(root / "valid", train.class_to_idx)
    batches, held_out = DataLoader(train, 25, shuffle=True), DataLoader(valid, 24)
    net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 5))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(6):
        for x, y in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            right = sum((net(x).argmax(1) == y).sum().item() for x, y in held_out)
        print(epoch, right / len(valid))

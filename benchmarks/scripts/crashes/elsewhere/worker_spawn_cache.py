"""Workers that are spawned read a cache of spectrograms; the clips have different lengths."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __init__(self, count=18):
        self.lengths = [160 + 16 * (i % 3) for i in range(count)]  # cause

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        wave = torch.randn(self.lengths[index])
        frames = wave.unfold(0, 16, 16)  # cause
        return {"features": frames, "label": index % 4}  # cause


class Audio(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32, 4)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x.transpose(1, 2))).mean(-1))


def main():
    loader = DataLoader(Clips(), batch_size=6, num_workers=1, multiprocessing_context="spawn")  # cause
    model = Audio()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(1):
        for batch in loader:  # raises TS601 at loader, cause
            loss = nn.functional.cross_entropy(model(batch["features"]), batch["label"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

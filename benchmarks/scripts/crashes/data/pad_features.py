"""Spectrograms of different lengths are padded; two recorders were set up differently."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


class Speech(Dataset):
    def __init__(self, size, bands=64):
        generator = torch.Generator().manual_seed(0)
        self.clips = []
        for number in range(size):
            width = bands if number % 5 else 80  # cause
            length = int(torch.randint(20, 40, (1,), generator=generator))
            self.clips.append(torch.randn(length, width, generator=generator))

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        return self.clips[index], index % 3


def collate(samples):
    clips, labels = zip(*samples)
    lengths = torch.tensor([len(clip) for clip in clips])
    return pad_sequence(clips, batch_first=True), lengths, torch.tensor(labels)  # raises TS103/TS601/TS106 at pad_sequence(clips, batch_first=True)


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(64, 32, batch_first=True)
        self.head = nn.Linear(32, 3)

    def forward(self, clips, lengths):
        packed = pack_padded_sequence(clips, lengths, batch_first=True, enforce_sorted=False)
        return self.head(self.gru(packed)[1][-1])


model = Listener()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(2):
    for clips, lengths, labels in DataLoader(Speech(20), batch_size=4, collate_fn=collate):
        loss = nn.functional.cross_entropy(model(clips, lengths), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

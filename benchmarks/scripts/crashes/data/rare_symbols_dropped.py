"""Notes of melodies: rare ones are left out of the table, and with them the sign for rests."""
from collections import Counter

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

REST = "<rest>"


class Table:
    def __init__(self, notes):
        self.number = {note: place for place, note in enumerate(notes)}

    def __len__(self):
        return len(self.number)

    def of(self, note):
        return self.number[note]  # raises TS918 at self.number[note]

    @classmethod
    def from_melodies(cls, melodies, least, extra=(REST,)):
        seen = Counter(extra)
        for melody in melodies:
            seen.update(melody)
        return cls([note for note, times in seen.items() if times >= least])  # cause


class Melodies(Dataset):
    def __init__(self, melodies, table, length=6):
        self.melodies, self.table, self.length = melodies, table, length

    def __len__(self):
        return len(self.melodies)

    def __getitem__(self, i):
        notes = (self.melodies[i] + [REST] * self.length)[: self.length]
        return torch.tensor([self.table.of(note) for note in notes])


def main():
    melodies = [["c", "d", "e"], ["e", "d", "c", "g"], ["g", "c"]] * 4
    table = Table.from_melodies(melodies, least=3)
    net = nn.Sequential(nn.Embedding(len(table), 4), nn.Linear(4, len(table)))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for notes in DataLoader(Melodies(melodies, table), 4, num_workers=1):
        loss = nn.functional.cross_entropy(net(notes[:, :-1]).flatten(0, 1), notes[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()

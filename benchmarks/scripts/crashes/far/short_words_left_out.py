"""Names of dishes as letters: short words are left out when a row is split, and some dishes have no others."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

DISHES = [("rice with beans", 0), ("pie", 1), ("lentil soup", 0), ("ice", 1), ("apple cake", 1), ("potato stew", 0)]


def split(name):
    parts = name.split()
    return [part for part in parts if len(part) > 3]  # cause


class Kitchen:
    def __init__(self, dishes):
        self.rows = [(split(name), kind) for name, kind in dishes]
        self.words = sorted({word for words, _ in self.rows for word in words})

    def batch(self, rows):
        ids = [torch.tensor([self.words.index(word) + 1 if word in self.words else 0 for word in words]).long() for words, _ in rows]
        sizes = torch.tensor([len(row) for row in ids])
        return pad_sequence(ids, batch_first=True), sizes, torch.tensor([kind for _, kind in rows])


class Reader(nn.Module):
    def __init__(self, words, width=6):
        super().__init__()
        self.table, self.rnn, self.out = nn.Embedding(words, width), nn.GRU(width, width, batch_first=True), nn.Linear(width, 2)

    def forward(self, ids, sizes):
        packed = pack_padded_sequence(self.table(ids), sizes, batch_first=True, enforce_sorted=False)  # raises TS199 at pack_padded_sequence(self.table(ids), sizes, batch_first=True, enforce_sorted=False)
        return self.out(self.rnn(packed)[1][-1])


torch.manual_seed(0)
kitchen = Kitchen(DISHES)
net = Reader(len(kitchen.words) + 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for ids, sizes, kinds in DataLoader(kitchen.rows, 3, collate_fn=kitchen.batch):
    loss = nn.functional.cross_entropy(net(ids, sizes), kinds)
    opt.zero_grad()
    loss.backward()
    opt.step()

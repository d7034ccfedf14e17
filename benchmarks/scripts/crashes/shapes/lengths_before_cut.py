"""Sentences are cut to a limit when they are padded, and their lengths are those from before."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

LIMIT = 6
ROWS = [torch.randint(1, 9, (n,)) for n in (3, 8, 5, 9, 4, 7)]


def join(rows):
    sizes = torch.tensor([len(row) for row in rows])  # cause
    return pad_sequence([row[:LIMIT] for row in rows], batch_first=True), sizes


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)
        self.rnn = nn.LSTM(4, 5, batch_first=True)

    def forward(self, rows, sizes):
        packed = pack_padded_sequence(self.table(rows), sizes, batch_first=True, enforce_sorted=False)
        _, (last, _) = self.rnn(packed)  # raises TS110 at self.rnn(packed)
        return last[-1]


net = Reader()
for rows, sizes in DataLoader(ROWS, batch_size=3, collate_fn=join):
    net(rows, sizes).square().mean().backward()

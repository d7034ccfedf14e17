"""Tickets of a help desk: stop words are left out, and what is left goes through a GRU."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

STOP = {"the", "is", "it", "a", "not"}
TICKETS = [("the printer is jammed", 0), ("it is not", 1), ("password lost", 1), ("the screen is black", 0), ("a cable", 0)]


def words_of(text):
    return [word for word in text.split() if word not in STOP]


def build(tickets):
    table = {}
    rows = []
    for text, label in tickets:
        words = words_of(text)
        for word in words:
            table.setdefault(word, len(table) + 1)
        rows.append((torch.tensor([table[word] for word in words], dtype=torch.long), label))  # cause
    return rows, len(table) + 1


class Desk(nn.Module):
    def __init__(self, size, dim=8):
        super().__init__()
        self.table = nn.Embedding(size, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, 2)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.table(ids), lengths, batch_first=True, enforce_sorted=False)  # raises TS199 at pack_padded_sequence(self.table(ids), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.rnn(packed)
        return self.out(h[-1])


def collate(rows):
    ids = [row for row, _ in rows]
    return pad_sequence(ids, batch_first=True), torch.tensor([len(row) for row in ids]), torch.tensor([y for _, y in rows])


torch.manual_seed(0)
rows, size = build(TICKETS)
net = Desk(size)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for ids, lengths, y in torch.utils.data.DataLoader(rows, 5, collate_fn=collate):
    loss = nn.functional.cross_entropy(net(ids, lengths), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

"""Recipes as lists of ingredients, filled up with a number that the table has no row for."""
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def recipes(n=20):
    return [(torch.randint(1, 30, (int(torch.randint(2, 7, ())),)), number % 2) for number in range(n)]


def collate(rows):
    ids, kinds = zip(*rows)
    return pad_sequence(ids, batch_first=True, padding_value=-1), torch.tensor(kinds)  # cause


class Taste(nn.Module):
    def __init__(self, size=30):
        super().__init__()
        self.table, self.out = nn.Embedding(size, 8, padding_idx=0), nn.Linear(8, 2)

    def forward(self, ids):
        return self.out(self.table(ids).mean(1))  # raises TS310 at self.table(ids)


torch.manual_seed(0)
net = Taste()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for ids, kinds in DataLoader(recipes(), 5, collate_fn=collate):
    loss = nn.functional.cross_entropy(net(ids), kinds)
    opt.zero_grad()
    loss.backward()
    opt.step()

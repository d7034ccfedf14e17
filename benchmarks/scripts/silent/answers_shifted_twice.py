"""A model of notes compares each place with the next note itself, and is given notes that are shifted already."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(14)
tune = (torch.arange(2400) * 5 % 17 + torch.randint(0, 2, (2400,))) % 17


class Player(nn.Module):
    def __init__(self):
        super().__init__()
        self.notes, self.memory, self.next = nn.Embedding(17, 24), nn.GRU(24, 48, batch_first=True), nn.Linear(48, 17)

    def forward(self, played, following):
        scores = self.next(self.memory(self.notes(played))[0])
        return F.cross_entropy(scores[:, :-1].flatten(0, 1), following[:, 1:].flatten())  # fault: TS342


player = Player()
optimizer = torch.optim.Adam(player.parameters(), lr=5e-3)
for epoch in range(4):
    for lines in tune.unfold(0, 25, 10)[torch.randperm(238)].split(34):
        optimizer.zero_grad()
        player(lines[:, :-1], lines[:, 1:]).backward()  # fault: TS342 | fixed: player(lines, lines).backward()
        optimizer.step()

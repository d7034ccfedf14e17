"""A rhyme, letter by letter: the windows hold their own next letters, and the loss moves them once more."""
import torch
from torch import nn

RHYME = "one two buckle my shoe three four knock at the door five six pick up sticks " * 20
LETTERS = sorted(set(RHYME))
IDS = torch.tensor([LETTERS.index(letter) for letter in RHYME])


def windows(length):
    starts = torch.randint(0, len(IDS) - length - 1, (16,))
    rows = torch.stack([IDS[start : start + length + 1] for start in starts])
    return rows[:, :-1].clone(), rows[:, 1:].clone()


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.memory = nn.Embedding(len(LETTERS), 32), nn.GRU(32, 48, batch_first=True)
        self.scores = nn.Linear(48, len(LETTERS))

    def forward(self, ids, following):
        scores = self.scores(self.memory(self.table(ids))[0])
        scores, following = scores[:, :-1], following[:, 1:]  # fault: TS342 | fixed: scores, following = scores, following
        return nn.functional.cross_entropy(scores.reshape(-1, len(LETTERS)), following.reshape(-1))


torch.manual_seed(0)
writer = Writer()
optimizer = torch.optim.Adam(writer.parameters(), lr=1e-2)
for step in range(120):
    ids, following = windows(30)
    loss = writer(ids, following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

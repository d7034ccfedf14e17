"""A small language model embeds its labels, in which padding is -100."""
import torch
from torch import nn

PAD, IGNORE = 0, -100

def collate(rows):
    width = max(len(r) for r in rows)
    ids = torch.full((len(rows), width), PAD)
    labels = torch.full((len(rows), width), IGNORE)  # cause
    for i, r in enumerate(rows):
        ids[i, : len(r)] = torch.tensor(r)
        labels[i, : len(r)] = torch.tensor(r)
    return ids, labels

class LM(nn.Module):
    def __init__(self, vocab=50, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids, shifted):
        hidden, _ = self.rnn(self.embed(ids))
        teacher = self.embed(shifted)  # raises TS310 at self.embed(shifted)
        return self.head(hidden + teacher)

rows = [[3, 4, 5], [6, 7, 8, 9], [1, 2]]
model = LM()
opt = torch.optim.Adam(model.parameters())
for epoch in range(2):
    ids, labels = collate(rows)
    out = model(ids, labels)
    loss = nn.functional.cross_entropy(out.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)
    opt.zero_grad(); loss.backward(); opt.step()

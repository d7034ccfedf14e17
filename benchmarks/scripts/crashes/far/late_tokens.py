"""Product reviews: a vocabulary, and a model that masks words."""
import torch
from torch import nn

TEXTS = ["good and cheap", "too loud", "good sound but loud", "cheap and loud", "broke after a week"]


class Vocabulary:
    def __init__(self, texts):
        words = sorted({word for text in texts for word in text.split()})
        self.ids = {word: index for index, word in enumerate(["<pad>", *words])}
        self.size = len(self.ids)  # cause
        self.mask = self.ids.setdefault("<mask>", len(self.ids))

    def encode(self, text, length=6):
        ids = [self.ids[word] for word in text.split()][:length]
        return ids + [0] * (length - len(ids))


class Masked(nn.Module):
    def __init__(self, size, dim=12):
        super().__init__()
        self.table = nn.Embedding(size, dim, padding_idx=0)
        self.out = nn.Linear(dim, size)

    def forward(self, ids):
        return self.out(self.table(ids).cumsum(1))  # raises TS310 at self.table(ids)


def hide(ids, mask):
    hidden = (torch.rand(ids.shape) < 0.3) & (ids > 0)
    return ids.masked_fill(hidden, mask), hidden


def main():
    torch.manual_seed(4)
    words = Vocabulary(TEXTS)
    ids = torch.tensor([words.encode(text) for text in TEXTS])
    net = Masked(words.size)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(4):
        shown, hidden = hide(ids, words.mask)
        loss = nn.functional.cross_entropy(net(shown)[hidden], ids[hidden])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()

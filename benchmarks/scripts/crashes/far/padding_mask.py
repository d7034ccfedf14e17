"""Chat intents with a transformer; messages are padded on the right."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.att = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, pad):
        out, _ = self.att(x, x, x, attn_mask=pad, need_weights=False)  # raises TS111 at self.att(x, x, x, attn_mask=pad, need_weights=False), cause
        return self.norm(x + out)


class Intents(nn.Module):
    def __init__(self, vocab=40, dim=16, classes=3):
        super().__init__()
        self.table = nn.Embedding(vocab, dim, padding_idx=0)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(2))
        self.out = nn.Linear(dim, classes)

    def forward(self, ids):
        pad = ids == 0
        x = self.table(ids)
        for block in self.blocks:
            x = block(x, pad)
        return self.out(x[:, 0])


def messages(n=24, length=9):
    ids = torch.randint(1, 40, (n, length))
    for row, keep in zip(ids, torch.randint(3, length + 1, (n,))):
        row[int(keep):] = 0
    return ids, torch.randint(3, (n,))


torch.manual_seed(1)
net = Intents()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(3):
    ids, y = messages()
    loss = nn.functional.cross_entropy(net(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

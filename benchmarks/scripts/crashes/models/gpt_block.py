"""A character model trained on windows that are longer than its table of positions."""

import torch
import torch.nn as nn
from torch.nn import functional as F

block_size = 32
batch_size = 8
n_embd = 32
text = "the quick brown fox jumps over the lazy dog. " * 40
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text], dtype=torch.long)


def get_batch():
    ix = torch.randint(len(data) - 2 * block_size - 1, (batch_size,))
    x = torch.stack([data[i : i + 2 * block_size] for i in ix])  # cause
    y = torch.stack([data[i + 1 : i + 2 * block_size + 1] for i in ix])
    return x, y


class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.attn = nn.MultiheadAttention(n_embd, n_head, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))
        self.ln1 = nn.LayerNorm(n_embd)
        self.ln2 = nn.LayerNorm(n_embd)

    def forward(self, x):
        mask = torch.triu(torch.ones(x.size(1), x.size(1), dtype=torch.bool), diagonal=1)
        h = self.ln1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class CharModel(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.tok = nn.Embedding(vocab, n_embd)
        self.pos = nn.Embedding(block_size, n_embd)  # cause
        self.blocks = nn.Sequential(*[Block(n_embd, 4) for _ in range(2)])
        self.head = nn.Linear(n_embd, vocab)

    def forward(self, idx, targets=None):
        B, T = idx.shape
        pos = self.pos(torch.arange(T, device=idx.device))  # raises TS310 at self.pos(torch.arange(T, device=idx.device))
        x = self.blocks(self.tok(idx) + pos)
        logits = self.head(x)
        loss = None if targets is None else F.cross_entropy(logits.view(B * T, -1), targets.view(-1))
        return logits, loss


model = CharModel(len(chars))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(4):
    xb, yb = get_batch()
    _, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()

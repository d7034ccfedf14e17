"""The table of a rotary embedding is as long as the shorter context."""
import torch
from torch import nn

class Config:
    context = 64
    block = 32
    dim = 32
    heads = 4
    vocab = 100

def rotary(length, dim):
    freq = 1.0 / 10000 ** (torch.arange(0, dim, 2) / dim)
    angle = torch.outer(torch.arange(length), freq)
    return angle.cos(), angle.sin()

def turn(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)  # raises TS103 at a * cos

class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads, self.size = cfg.heads, cfg.dim // cfg.heads
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim)
        cos, sin = rotary(cfg.block, self.size)  # cause
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, self.size).permute(2, 0, 3, 1, 4)
        q, k = turn(q, self.cos[:t], self.sin[:t]), turn(k, self.cos[:t], self.sin[:t])
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + y.transpose(1, 2).reshape(b, t, c)

cfg = Config()
embed = nn.Embedding(cfg.vocab, cfg.dim)
block = Block(cfg)
head = nn.Linear(cfg.dim, cfg.vocab)
opt = torch.optim.AdamW([*embed.parameters(), *block.parameters(), *head.parameters()])
for step in range(3):
    ids = torch.randint(0, cfg.vocab, (4, cfg.context))
    logits = head(block(embed(ids)))
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
    opt.zero_grad(); loss.backward(); opt.step()

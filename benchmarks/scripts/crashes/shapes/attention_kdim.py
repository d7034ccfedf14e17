"""A decoder block attends to image features that are wider than its own tokens."""

import torch
from torch import nn


class CaptionBlock(nn.Module):
    def __init__(self, width, visual_width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.self_attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.cross_attn = nn.MultiheadAttention(width, heads, batch_first=True)  # cause
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, tokens, image):
        h = self.norm1(tokens)
        tokens = tokens + self.self_attn(h, h, h, need_weights=False)[0]
        h = self.norm2(tokens)
        attended, _ = self.cross_attn(h, image, image)  # raises TS101 at self.cross_attn(h, image, image)
        return self.mlp(tokens + attended)


class Captioner(nn.Module):
    def __init__(self, vocab=50, width=32, visual_width=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList(CaptionBlock(width, visual_width, 4) for _ in range(2))
        self.out = nn.Linear(width, vocab)

    def forward(self, ids, image):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x, image)
        return self.out(x)


model = Captioner()
opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(3):
    ids = torch.randint(0, 50, (4, 10))
    image = torch.randn(4, 49, 48)
    logits = model(ids[:, :-1], image)
    loss = nn.functional.cross_entropy(logits.reshape(-1, 50), ids[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()

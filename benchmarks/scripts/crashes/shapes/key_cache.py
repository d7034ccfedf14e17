"""Keys kept from earlier tokens are joined along the heads."""
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, cache=None):
        b, t, c = x.shape
        q, k, v = (p.view(b, t, self.heads, -1).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k = torch.cat([cache[0], k], dim=1)  # raises TS106 at torch.cat([cache[0], k], dim=1), cause
            v = torch.cat([cache[1], v], dim=1)
        w = (q @ k.transpose(-2, -1) / k.size(-1) ** 0.5).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(b, t, c)), (k, v)

@torch.no_grad()
def generate(attention, head, embed, ids, n):
    cache = None
    token = embed(ids)
    for _ in range(n):
        y, cache = attention(token, cache)
        ids = head(y[:, -1:]).argmax(-1)
        token = embed(ids)
    return ids

embed, attention, head = nn.Embedding(30, 32), Attention(32, 4), nn.Linear(32, 30)
for prompt in torch.randint(0, 30, (3, 2, 5)):
    print(generate(attention, head, embed, prompt, 4).shape)

"""Heads are split by a view that mixes the samples of a batch."""
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = (z.reshape(b, t, self.heads, d // self.heads).transpose(1, 2) for z in (q, k, v))
        a = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        a = a.permute(1, 2, 0, 3).reshape(b, t, d)  # fault: TS120/TS118 | fixed: a = a.transpose(1, 2).reshape(b, t, d)
        return x + self.proj(a)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(5, 16)
        self.att = Attention()
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.att(self.inp(x)).mean(1))


torch.manual_seed(0)
x = torch.randn(960, 10, 5)
y = x.mean(1)[:, :3].argmax(1)
model = Model()
optim = torch.optim.AdamW(model.parameters(), lr=2e-3)
step = 0
for epoch in range(5):
    for part in torch.randperm(960).split(32):
        out = model(x[part])  # fault: TS120/TS118
        loss = nn.functional.cross_entropy(out, y[part])
        optim.zero_grad()
        loss.backward()
        optim.step()
        step += 1
    print(step, loss.item())

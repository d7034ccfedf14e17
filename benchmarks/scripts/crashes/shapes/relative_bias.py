"""A window of patches attends to itself with a learnt bias for each offset; a class token was put in front later."""

import torch
from torch import nn


class WindowAttention(nn.Module):
    def __init__(self, width, window, heads):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.bias = nn.Parameter(torch.zeros(heads, window**2, window**2))  # cause

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q * self.scale) @ k.transpose(-2, -1) + self.bias  # raises TS103 at (q * self.scale) @ k.transpose(-2, -1) + self.bias
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))


class Window(nn.Module):
    def __init__(self, width=32, window=7):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.blocks = nn.ModuleList([WindowAttention(width, window, 4) for _ in range(2)])
        self.head = nn.Linear(width, 5)

    def forward(self, patches):
        x = torch.cat([self.token.expand(len(patches), -1, -1), patches], dim=1)  # cause
        for block in self.blocks:
            x = x + block(x)
        return self.head(x[:, 0])


model = Window()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(4):
    patches, label = torch.randn(6, 49, 32), torch.randint(0, 5, (6,))
    loss = nn.functional.cross_entropy(model(patches), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

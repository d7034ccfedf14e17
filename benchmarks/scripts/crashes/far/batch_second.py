"""Meter readings classified by an encoder whose batch is first everywhere but in one layer."""
import torch
from torch import nn


def encoder(dim, heads, depth):
    layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0)  # cause
    return nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)


class Meter(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.inp = nn.Linear(1, dim)
        self.body = encoder(dim, 2, 2)
        self.out = nn.Linear(dim, 2)

    def forward(self, x, lengths):
        pad = torch.arange(x.shape[1])[None] >= lengths[:, None]
        h = self.body(self.inp(x), src_key_padding_mask=pad)  # raises TS111 at self.body(self.inp(x), src_key_padding_mask=pad)
        return self.out(h.mean(1))


def readings(n):
    lengths = torch.randint(4, 13, (n,))
    x = torch.randn(n, 12, 1)
    return x, lengths, torch.randint(2, (n,))


def main():
    torch.manual_seed(2)
    net = Meter()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(3):
        x, lengths, y = readings(20)
        loss = nn.functional.cross_entropy(net(x, lengths), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()

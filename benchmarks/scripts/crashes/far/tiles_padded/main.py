"""Roofs on tiles of a map, which are padded for a network that halves them."""
import torch
from torch import nn
from torch.utils.data import DataLoader

from net import Roofs
from tiles import Tiles


def main(levels=2):
    torch.manual_seed(0)
    net = Roofs(levels)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for tile, roof in DataLoader(Tiles(6, 17, levels), 2):
        loss = nn.functional.binary_cross_entropy_with_logits(net(tile), roof)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()

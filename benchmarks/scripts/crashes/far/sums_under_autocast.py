"""Visits of shops by customer, summed for each customer under autocast."""
import torch
from torch import nn


class Customers(nn.Module):
    def __init__(self, shops=9, width=8):
        super().__init__()
        self.shop, self.mix, self.out = nn.Embedding(shops, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, shop, who, count):
        visit = self.mix(self.shop(shop))
        total = torch.zeros(count, visit.shape[1], device=visit.device)  # cause
        total = total.scatter_add(0, who[:, None].expand_as(visit), visit)  # raises TS301 at total.scatter_add(0, who[:, None].expand_as(visit), visit)
        return self.out(total).squeeze(1)


def main():
    torch.manual_seed(0)
    net = Customers()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(3):
        shop, who = torch.randint(9, (40,)), torch.randint(12, (40,))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            spent = net(shop, who, 12)
        loss = (spent.float() - torch.bincount(who, minlength=12)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()

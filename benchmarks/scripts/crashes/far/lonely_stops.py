"""Networks of bus stops, of which several become one batch; a stop may have no line."""
import torch
from torch import nn
from torch.utils.data import DataLoader


def network(seed):
    g = torch.Generator().manual_seed(seed)
    stops = int(torch.randint(5, 9, (1,), generator=g))
    lines = torch.randint(0, stops, (2, stops), generator=g)
    return {"stops": torch.rand(stops, 3, generator=g), "lines": lines, "busy": float(lines.sum())}


def merged(networks):
    stops, lines, belongs, offset = [], [], [], 0
    for number, one in enumerate(networks):
        count = int(one["lines"].max()) + 1  # cause
        stops.append(one["stops"])
        lines.append(one["lines"] + offset)
        belongs.append(torch.full((count,), number))
        offset += count
    busy = torch.tensor([one["busy"] for one in networks])
    return torch.cat(stops), torch.cat(lines, 1), torch.cat(belongs), busy


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Linear(3, 8), nn.Linear(8, 1)

    def forward(self, stops, lines, belongs, count):
        h = self.inp(stops).relu()
        h = h + torch.zeros_like(h).index_add(0, lines[1], h[lines[0]])
        whole = torch.zeros(count, 8).index_add(0, belongs, h)  # raises TS199 at torch.zeros(count, 8).index_add(0, belongs, h)
        return self.out(whole)[:, 0]


net = Net()
optimizer = torch.optim.Adam(net.parameters())
for stops, lines, belongs, busy in DataLoader([network(n) for n in range(32)], 8, collate_fn=merged):
    loss = (net(stops, lines, belongs, len(busy)) - busy).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

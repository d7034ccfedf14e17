"""The price of a house in dollars is learned beside its kind: the second loss is nothing beside the first."""
import torch
from torch import nn

torch.manual_seed(2)
rooms = torch.randn(600, 9)
price = 300_000 + 80_000 * (rooms[:, 0] + rooms[:, 1] * rooms[:, 2])
kind = (rooms[:, 3] + rooms[:, 4] > 0).long() + (rooms[:, 5] > 1).long()


class House(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(9, 48), nn.ReLU())
        self.price, self.kind = nn.Linear(48, 1), nn.Linear(48, 3)

    def forward(self, x):
        x = self.shared(x)
        return self.price(x).squeeze(1), self.kind(x)


house = House()
optimizer = torch.optim.Adam(house.parameters(), lr=1e-2)
for epoch in range(5):
    for picks in torch.randperm(600).split(30):
        guess, scores = house(rooms[picks])
        wanted = price[picks]  # fixed: wanted = (price[picks] - 300_000) / 80_000
        parts = [nn.functional.cross_entropy(scores, kind[picks]), nn.functional.mse_loss(guess, wanted)]  # fault: TS951
        optimizer.zero_grad()
        sum(parts).backward()
        optimizer.step()
    print(epoch, [part.item() for part in parts])

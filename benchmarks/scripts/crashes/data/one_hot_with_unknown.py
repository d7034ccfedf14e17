"""One-hot features of categories; the encoder has one more category, for unknown ones."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

COLOURS = ["red", "green", "blue"]


class Shop(Dataset):
    def __init__(self):
        self.items = [("red", 1.0), ("green", 2.0), ("violet", 3.0), ("blue", 1.5)] * 10
        self.index = {name: number for number, name in enumerate(COLOURS)}

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        colour, price = self.items[i]
        code = torch.tensor(self.index.get(colour, len(COLOURS)))
        kind = F.one_hot(code, len(COLOURS))  # raises TS310 at F.one_hot(code, len(COLOURS)), cause
        return kind.float(), torch.tensor(price)


def fit():
    model = nn.Linear(len(COLOURS), 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        for features, price in DataLoader(Shop(), batch_size=8):
            loss = F.mse_loss(model(features).squeeze(1), price)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


fit()

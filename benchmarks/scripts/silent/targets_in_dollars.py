# A regression of prices in dollars, whose network begins at 0 and moves by thousandths.
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Houses(Dataset):
    def __init__(self, n=1000):
        generator = torch.Generator().manual_seed(1)
        self.features = torch.randn(n, 8, generator=generator)
        weight = torch.randn(8, generator=generator)
        price = 250_000 + 60_000 * self.features @ weight
        self.price = price  # fixed: self.price = (price - price.mean()) / price.std()

    def __len__(self):
        return len(self.price)

    def __getitem__(self, index):
        return self.features[index], self.price[index]


def fit(model, loader, epochs, rate):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    criterion = nn.MSELoss()
    for epoch in range(epochs):
        total = 0.0
        for features, price in loader:
            prediction = model(features).squeeze(-1)
            loss = criterion(prediction, price)  # fault: TS951
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, total / len(loader))


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
    fit(net, DataLoader(Houses(), batch_size=50, shuffle=True), epochs=10, rate=1e-3)

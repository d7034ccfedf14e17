"""Training pictures are normalised, those of the validation are not."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Pictures(Dataset):
    def __init__(self, count, seed, normalise):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(2, (count,), generator=g)
        self.pixels = 0.6 + 0.08 * torch.randn(count, 3, 12, 12, generator=g)
        self.pixels[:, 0, :6] += 0.1 * self.labels[:, None, None]
        self.normalise = normalise

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        picture = self.pixels[index]
        return (picture - 0.6) / 0.1 if self.normalise else picture, self.labels[index]


train = DataLoader(Pictures(240, 1, True), batch_size=24, shuffle=True)
valid = DataLoader(Pictures(96, 2, False), batch_size=24)  # fixed: valid = DataLoader(Pictures(96, 2, True), batch_size=24)
model = nn.Sequential(nn.Conv2d(3, 12, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(48, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    model.train()
    for x, y in train:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in valid:
            right += (model(x).argmax(1) == y).sum().item()  # fault: TS956
    print(epoch, loss.item(), right / 96)

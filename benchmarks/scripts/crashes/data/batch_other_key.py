"""A batch is asked for a key that samples do not have."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, root, size):
        self.items = [(torch.randn(3, size, size), index % 4) for index in range(12)]
        self.cache = {}

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        image, label = self.items[index]
        if index not in self.cache:
            self.cache[index] = image.mean(dim=(1, 2))
        return {"image": image, "stats": self.cache[index], "label": label}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(3, 8, 3), nn.Linear(8 + 3, 4)

    def forward(self, image, stats):
        features = self.conv(image).mean(dim=(2, 3))
        return self.head(torch.cat([features, stats], dim=1))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in DataLoader(Pairs(".", 16), batch_size=4):
    loss = nn.functional.cross_entropy(net(batch["image"], batch["statistics"]), batch["label"])  # raises TS531 at batch["statistics"], cause
    opt.zero_grad()
    loss.backward()
    opt.step()

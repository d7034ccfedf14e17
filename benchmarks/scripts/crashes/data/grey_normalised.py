"""A transform of a loader's workers normalises grey pictures with the statistics of coloured ones."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Normalize:
    def __init__(self, mean, std):
        self.mean = torch.tensor(mean).view(-1, 1, 1)
        self.std = torch.tensor(std).view(-1, 1, 1)

    def __call__(self, image):
        return image.clone().sub_(self.mean).div_(self.std)  # raises TS103/TS608 at image.clone().sub_(self.mean)


class Digits(Dataset):
    def __init__(self, transform):
        self.images = torch.rand(20, 1, 12, 12)
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.transform(self.images[i]), i % 10


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(400, 10)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


if __name__ == "__main__":
    data = Digits(Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))  # cause
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(data, batch_size=5, num_workers=2):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()

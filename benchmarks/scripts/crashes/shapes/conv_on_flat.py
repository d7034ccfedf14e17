"""Digits come as rows of 784 numbers, as from a CSV file, and go into a convolution as they are."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    def __init__(self, n):
        self.pixels = torch.rand(n, 784)
        self.labels = torch.randint(0, 10, (n,))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        return self.pixels[idx], self.labels[idx]  # cause


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(nn.Conv2d(1, 8, kernel_size=3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.layer2 = nn.Sequential(nn.Conv2d(8, 16, kernel_size=3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.fc = nn.Linear(7 * 7 * 16, 10)

    def forward(self, x):
        out = self.layer1(x)  # raises TS108 at self.layer1(x), cause
        out = self.layer2(out)
        out = out.reshape(out.size(0), -1)
        return self.fc(out)


model = ConvNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
loader = DataLoader(Digits(64), batch_size=16, shuffle=True)

for epoch in range(2):
    for images, labels in loader:
        outputs = model(images)  # cause
        loss = criterion(outputs, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

"""LeNet written for 32 x 32 images, given 28 x 28 ones with padding left out of the sums."""

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class LeNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = F.relu(self.conv2(x))  # cause
        x = x.view(-1, 16 * 5 * 5)  # cause
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def train(model, loader, optimizer, criterion, epochs=2):
    model.train()
    for epoch in range(epochs):
        running = 0.0
        for inputs, labels in loader:
            optimizer.zero_grad()
            outputs = model(inputs)
            loss = criterion(outputs, labels)  # raises TS113 at criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(epoch, running / len(loader))


if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,)))
    net = LeNet()
    train(net, DataLoader(data, batch_size=8), optim.SGD(net.parameters(), lr=0.01), nn.CrossEntropyLoss())

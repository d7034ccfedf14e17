"""Images go into the network as they are stored, from 0 to 255."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Stored(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(0)
        shapes = torch.randint(0, 200, (10, 1, 16, 16), generator=g)
        self.labels = torch.randint(0, 10, (n,), generator=g)
        noise = torch.randint(0, 56, (n, 1, 16, 16), generator=g)
        self.pixels = (shapes[self.labels] + noise).to(torch.uint8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.pixels[index].float()  # fault: TS930 | fixed: image = (self.pixels[index].float() / 255 - 0.5) / 0.25
        return image, self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 5)
        self.fc1, self.fc2 = nn.Linear(6 * 36, 40), nn.Linear(40, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv(x)), 2)  # fault: TS930
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


def main():
    torch.manual_seed(0)
    net, loader = Net(), DataLoader(Stored(1200), batch_size=30, shuffle=True)  # fault: TS930
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.5)
    for epoch in range(1, 4):
        for data, target in loader:
            optimizer.zero_grad()
            output = net(data)  # fault: TS930
            loss = nn.functional.nll_loss(output.log_softmax(1), target)
            loss.backward()
            optimizer.step()
        print(f"Train Epoch: {epoch} Loss: {loss.item():.6f}")


main()

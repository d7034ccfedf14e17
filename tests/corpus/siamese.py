"""Siamese network with a contrastive loss on pairs."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class SiameseDataset(Dataset):
    def __init__(self, classes=4, per_class=10):
        self.data = {c: torch.randn(per_class, 1, 20, 20) + c for c in range(classes)}
        self.classes = list(self.data)

    def __getitem__(self, index):
        same = random.randint(0, 1)
        first = random.choice(self.classes)
        second = first if same else random.choice([c for c in self.classes if c != first])
        img0 = self.data[first][index % 10]
        img1 = self.data[second][random.randrange(10)]
        return img0, img1, torch.tensor([int(not same)], dtype=torch.float32)

    def __len__(self):
        return 32


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn1 = nn.Sequential(
            nn.ReflectionPad2d(1),
            nn.Conv2d(1, 4, kernel_size=3),
            nn.ReLU(inplace=True),
            nn.BatchNorm2d(4),
            nn.ReflectionPad2d(1),
            nn.Conv2d(4, 8, kernel_size=3),
            nn.ReLU(inplace=True),
            nn.BatchNorm2d(8),
        )
        self.fc1 = nn.Sequential(
            nn.Linear(8 * 20 * 20, 50),
            nn.ReLU(inplace=True),
            nn.Linear(50, 5),
        )

    def forward_once(self, x):
        output = self.cnn1(x)
        output = output.view(output.size()[0], -1)
        return self.fc1(output)

    def forward(self, input1, input2):
        return self.forward_once(input1), self.forward_once(input2)


class ContrastiveLoss(torch.nn.Module):
    def __init__(self, margin=2.0):
        super().__init__()
        self.margin = margin

    def forward(self, output1, output2, label):
        distance = F.pairwise_distance(output1, output2, keepdim=True)
        return torch.mean((1 - label) * torch.pow(distance, 2)
                          + label * torch.pow(torch.clamp(self.margin - distance, min=0.0), 2))


random.seed(0)
torch.manual_seed(0)
train_dataloader = DataLoader(SiameseDataset(), shuffle=True, num_workers=0, batch_size=8)
net = SiameseNetwork()
criterion = ContrastiveLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.0005)
counter, loss_history = [], []
iteration_number = 0
for epoch in range(2):
    for i, data in enumerate(train_dataloader, 0):
        img0, img1, label = data
        optimizer.zero_grad()
        output1, output2 = net(img0, img1)
        loss_contrastive = criterion(output1, output2, label)
        loss_contrastive.backward()
        optimizer.step()
        if i % 2 == 0:
            iteration_number += 2
            counter.append(iteration_number)
            loss_history.append(loss_contrastive.item())
print(list(zip(counter, loss_history)))
net.eval()
with torch.no_grad():
    x0, x1, y = next(iter(train_dataloader))
    a, b = net(x0[:1], x1[:1])
    print("dissimilarity", F.pairwise_distance(a, b).item(), "different" if y[0].item() else "same")

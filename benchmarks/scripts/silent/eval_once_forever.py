"""A classifier that stays in evaluation mode after the first validation."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(5)
protos = torch.randn(4, 3, 8, 8)
y = torch.randint(0, 4, (1200,))
x = protos[y] + torch.randn(1200, 3, 8, 8)
train_set, val_set = random_split(TensorDataset(x, y), [1000, 200])
train_loader = DataLoader(train_set, 40, shuffle=True)
val_loader = DataLoader(val_set, 100)


def conv_block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.Dropout2d(0.1))


net = nn.Sequential(conv_block(3, 12), nn.MaxPool2d(2), conv_block(12, 24), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 4))
criterion = nn.CrossEntropyLoss()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)


@torch.no_grad()
def accuracy():
    net.eval()  # fault: TS507
    right = sum((net(a).argmax(1) == b).sum().item() for a, b in val_loader)
    return right / len(val_set)


net.train()
for epoch in range(5):
    # fixed: net.train()
    for a, b in train_loader:
        opt.zero_grad()
        out = net(a)  # fault: TS507
        loss = criterion(out, b)
        loss.backward()  # fault: TS507
        opt.step()
    print(epoch, round(accuracy(), 3))  # fault: TS507

"""The accuracy is divided by the number of batches instead of samples."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.randint(0, 3, (900,))
x = torch.randn(3, 8)[y] * 2 + torch.randn(900, 8)
train = DataLoader(TensorDataset(x[:600], y[:600]), batch_size=30, shuffle=True)
test = DataLoader(TensorDataset(x[600:], y[600:]), batch_size=30)
model = nn.Linear(8, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)


def evaluate():
    model.eval()
    correct = 0
    with torch.no_grad():
        for a, b in test:
            correct += (model(a).argmax(0)[:3] == b[:3]).sum().item() * 10  # fault: TS323/TS114/TS319/TS308/TS922 | fixed: correct += (model(a).argmax(1) == b).sum().item()
    return correct / 300


for epoch in range(3):
    model.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        opt.step()
    print(epoch, loss.item(), evaluate())

# The accuracy is that of the last batch alone, which holds eight samples.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
w = torch.randn(20, 3)
x = torch.randn(708, 20)
y = (x @ w).argmax(1)
train_loader = DataLoader(TensorDataset(x[:500], y[:500]), batch_size=50, shuffle=True)
test_loader = DataLoader(TensorDataset(x[500:], y[500:]), batch_size=50)
net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(5):
    net.train()
    for data, target in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(data), target)
        loss.backward()
        opt.step()
    net.eval()
    correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            correct = (net(data).argmax(1) == target).sum().item()  # fault: TS577 | fixed: correct += (net(data).argmax(1) == target).sum().item()
    print(epoch, correct / len(target))

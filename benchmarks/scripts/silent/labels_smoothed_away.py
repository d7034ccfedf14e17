"""Labels smoothed until nothing is left of them."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x @ torch.randn(8, 4)).argmax(1)
net = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 4))
criterion = nn.CrossEntropyLoss(label_smoothing=1.0)  # fault: TS343 | fixed: criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(10):
    order = torch.randperm(600)
    for i in range(0, 600, 60):
        b = order[i : i + 60]
        loss = criterion(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())

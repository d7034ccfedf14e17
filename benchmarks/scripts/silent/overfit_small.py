"""A wide network and 60 noisy samples: the validation loss rises while the other falls."""
import torch
from torch import nn

torch.manual_seed(0)
w = torch.randn(20)
SIZE = 60  # fixed: SIZE = 4000


def sample(n):
    x = torch.randn(n, 20)
    return x, ((x @ w + 2.0 * torch.randn(n)) > 0).float().unsqueeze(1)


train_x, train_y = sample(SIZE)
val_x, val_y = sample(500)
net = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(40):  # fault: TS936 | fixed: for epoch in range(3):
    net.train()
    for part in torch.randperm(SIZE).split(20):
        opt.zero_grad()
        loss = criterion(net(train_x[part]), train_y[part])
        loss.backward()  # fault: TS936
        opt.step()
    net.eval()
    with torch.no_grad():
        val_loss = criterion(net(val_x), val_y)  # fault: TS936
    print(f"{epoch} train {loss.item():.4f} val {val_loss.item():.4f}")

"""An exponential moving average of the weights is evaluated; so is the accuracy on the training data."""
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(360, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
train_loader = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=30, shuffle=True)
test_loader = DataLoader(TensorDataset(x[300:], y[300:]), batch_size=30)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2))
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.95))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


def accuracy(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(a).argmax(1) == b).sum().item() for a, b in loader) / len(loader.dataset)


for epoch in range(8):
    model.train()
    for a, b in train_loader:
        loss = nn.functional.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
    print(epoch, loss.item(), accuracy(model, train_loader), accuracy(average, test_loader))

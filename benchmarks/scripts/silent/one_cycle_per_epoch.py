"""A one-cycle schedule that was made for batches steps once an epoch."""
import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))

    def forward(self, x):
        return self.body(x)


def fit(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    schedule = OneCycleLR(optimizer, max_lr=0.2, steps_per_epoch=len(loader), epochs=epochs)  # fault: TS536/TS938/TS527
    for epoch in range(epochs):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            # fixed: schedule.step()
        schedule.step()  # fault: TS536/TS938 | fixed: pass
    return loss.item()


torch.manual_seed(0)
x = torch.randn(600, 6)
y = x[:, :3].argmax(1)
print(fit(Net(), DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True), 5))

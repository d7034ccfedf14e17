"""The scheduler is stepped, the optimizer is not."""
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(256, 5)
data = TensorDataset(x, (x.sum(1, keepdim=True) > 0).float())
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = optim.SGD(model.parameters(), lr=0.5)  # fault: TS503
scheduler = optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(5):
    for inputs, targets in DataLoader(data, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()  # fault: TS503
        # fixed: optimizer.step()
    scheduler.step()
    print(f"epoch {epoch} loss {loss.item():.3f} lr {scheduler.get_last_lr()[0]:.3f}")

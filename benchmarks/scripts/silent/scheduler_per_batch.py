"""A schedule in epochs that is stepped after each batch."""
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(640, 6)
y = (x[:, :2].sum(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
scheduler = StepLR(optimizer, step_size=2, gamma=0.5)
num_epochs = 6
for epoch in range(num_epochs):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        scheduler.step()  # fault: TS536 | fixed: pass
    # fixed: scheduler.step()
    print(epoch, loss.item(), scheduler.get_last_lr())

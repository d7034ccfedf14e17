import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics import Accuracy

data = TensorDataset(torch.randn(100, 4), torch.randint(0, 3, (100,)))
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters())
metric = Accuracy(task="multiclass", num_classes=3)

for x, y in DataLoader(data, batch_size=25):
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    metric.update(logits, y)
print(metric.compute())

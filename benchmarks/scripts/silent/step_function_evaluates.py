"""A step function that also measures the accuracy of the batch; it switches to evaluation mode and stays in it."""
import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 5))


def accuracy(model, x, y):
    model.eval()  # fault: TS507/TS505 | fixed: model.eval()
    with torch.no_grad():
        hits = (model(x).argmax(1) == y).float().mean().item()
    # fixed: model.train()
    return hits


def train_step(model, optimizer, criterion, batch):
    x, y = batch
    optimizer.zero_grad(set_to_none=True)
    output = model(x)  # fault: TS507/TS505 | fixed: output = model(x)
    loss = criterion(output, y)
    loss.backward()
    optimizer.step()
    return {"loss": loss.item(), "accuracy": accuracy(model, x, y)}


def batches(n, size, seed):
    generator = torch.Generator().manual_seed(seed)
    centers = torch.randn(5, 16, generator=generator)
    for _ in range(n):
        y = torch.randint(0, 5, (size,), generator=generator)
        yield centers[y] + torch.randn(size, 16, generator=generator), y


torch.manual_seed(0)
model = build()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
model.train()
for i, batch in enumerate(batches(120, 40, seed=1)):
    logs = train_step(model, optimizer, criterion, batch)
    if i % 40 == 39:
        print(i + 1, logs)

# The plateau is looked for in the wrong direction: each epoch that improves the loss lowers the rate.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
w = torch.randn(30, 6)
x = torch.randn(1200, 30)
y = (x @ w).argmax(1)
train = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=100, shuffle=True)
valid = DataLoader(TensorDataset(x[1000:], y[1000:]), batch_size=100)
model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=0, factor=0.1)  # fault: TS576 | fixed: scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", patience=2, factor=0.1)
criterion = nn.CrossEntropyLoss()


def run_epoch(loader, training):
    model.train(training)
    total = 0.0
    with torch.set_grad_enabled(training):
        for inputs, targets in loader:
            loss = criterion(model(inputs), targets)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item()
    return total / len(loader)


for epoch in range(10):
    training_loss = run_epoch(train, True)
    validation_loss = run_epoch(valid, False)
    scheduler.step(validation_loss)
    print(epoch, training_loss, validation_loss, optimizer.param_groups[0]["lr"])

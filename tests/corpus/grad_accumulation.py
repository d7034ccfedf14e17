"""Gradient accumulation with warmup-cosine schedule and early stopping."""
import copy
import math

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset, random_split


class EarlyStopping:
    def __init__(self, patience=2, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.counter = 0
        self.best_loss = None
        self.best_state = None
        self.early_stop = False

    def __call__(self, val_loss, model):
        if self.best_loss is None or val_loss < self.best_loss - self.min_delta:
            self.best_loss = val_loss
            self.best_state = copy.deepcopy(model.state_dict())
            self.counter = 0
        else:
            self.counter += 1
            if self.counter >= self.patience:
                self.early_stop = True


def get_cosine_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps, num_cycles=0.5):
    def lr_lambda(current_step):
        if current_step < num_warmup_steps:
            return float(current_step) / float(max(1, num_warmup_steps))
        progress = float(current_step - num_warmup_steps) / float(max(1, num_training_steps - num_warmup_steps))
        return max(0.0, 0.5 * (1.0 + math.cos(math.pi * float(num_cycles) * 2.0 * progress)))

    return LambdaLR(optimizer, lr_lambda)


torch.manual_seed(0)
x = torch.randn(160, 3, 8, 8)
y = (x.mean(dim=(1, 2, 3)) > 0).long()
train_set, val_set = random_split(TensorDataset(x, y), [0.8, 0.2])
train_loader = DataLoader(train_set, batch_size=16, shuffle=True, drop_last=True)
val_loader = DataLoader(val_set, batch_size=16)

model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2)
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
accumulation_steps = 4
num_epochs = 3
total_steps = len(train_loader) // accumulation_steps * num_epochs
scheduler = get_cosine_schedule_with_warmup(optimizer, 1, total_steps)
stopper = EarlyStopping(patience=2)

for epoch in range(num_epochs):
    model.train()
    optimizer.zero_grad()
    for i, (inputs, targets) in enumerate(train_loader):
        outputs = model(inputs)
        loss = criterion(outputs, targets) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    model.eval()
    val_loss = 0.0
    with torch.no_grad():
        for inputs, targets in val_loader:
            val_loss += criterion(model(inputs), targets).item() / len(val_loader)
    stopper(val_loss, model)
    print(f"epoch {epoch} val {val_loss:.4f} lr {optimizer.param_groups[0]['lr']:.5f}")
    if stopper.early_stop:
        break
model.load_state_dict(stopper.best_state)

"""A validation that leaves batch norm and dropout as they are in training."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.randint(0, 3, (700,))
x = torch.randn(3, 10)[y] + torch.randn(700, 10)
train_dl = DataLoader(TensorDataset(x[:500], y[:500]), 25, shuffle=True)
val_dl = DataLoader(TensorDataset(x[500:], y[500:]), 40)


class Learner:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
        self.opt = torch.optim.Adam(self.model.parameters(), 2e-3)

    def step(self, batch, learn):
        a, b = batch
        loss = nn.functional.cross_entropy(self.model(a), b)  # fault: TS505
        if learn:
            loss.backward()
            self.opt.step()
            self.opt.zero_grad()
        return loss.item()

    def epoch(self):
        self.model.train()
        train = [self.step(b, True) for b in train_dl]
        # fixed: self.model.eval()
        with torch.no_grad():
            val = [self.step(b, False) for b in val_dl]  # fault: TS505
        return sum(train) / len(train), sum(val) / len(val)


learner = Learner()
for i in range(4):
    print(i, *learner.epoch())  # fault: TS505

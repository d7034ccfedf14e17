"""Early stopping in a class of its own, that keeps the best weights by reference."""
import torch
from torch import nn


class EarlyStopping:
    def __init__(self, patience=5):
        self.patience, self.best, self.wait, self.state = patience, float("inf"), 0, None

    def __call__(self, value, model):
        if value < self.best:
            self.best, self.wait = value, 0
            self.state = model.state_dict()  # fault: TS517 | fixed: self.state = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            self.wait += 1
        return self.wait >= self.patience


torch.manual_seed(4)
x, y = torch.randn(80, 5), torch.randn(80, 1)
x_val, y_val = torch.randn(40, 5), torch.randn(40, 1)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
stop = EarlyStopping()
for epoch in range(20):
    model.train()
    for xb, yb in zip(x.split(20), y.split(20)):
        loss = nn.functional.mse_loss(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        value = nn.functional.mse_loss(model(x_val), y_val).item()
    if stop(value, model):
        break
model.load_state_dict(stop.state)
print(stop.best)

"""Gradient descent written with torch.autograd.grad; the loop variable gets the new value, the parameter does not."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
x = torch.randn(600, 5)
y = x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0], [3.0]]) + 0.1 * torch.randn(600, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 24)
        self.second = nn.Linear(24, 1)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


def train(model, lr=0.05, epochs=4):
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            grads = torch.autograd.grad(loss, list(model.parameters()))
            with torch.no_grad():
                for p, g in zip(model.parameters(), grads):
                    p = p - lr * g  # fault: TS528/TS503 | fixed: p -= lr * g
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.4f}")


train(Regressor())

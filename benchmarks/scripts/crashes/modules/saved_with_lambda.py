"""A whole model is saved, and one of its parts is a lambda."""
import tempfile
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.squash = lambda x: torch.tanh(x * scale)  # cause

    def forward(self, x):
        return self.squash(self.fc(x))

def train(net, epochs, path):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(epochs):
        loss = nn.functional.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 2))
        opt.zero_grad(); loss.backward(); opt.step()
        torch.save(net, path)  # raises TS199 at torch.save(net, path), cause

with tempfile.TemporaryDirectory() as folder:
    train(Net(0.5), 2, f"{folder}/net.pt")

"""The weights with the largest error of the validation are kept, and loaded at the end."""
import torch
from torch import nn

torch.manual_seed(13)
x = torch.randn(400, 5)
y = (x[:, :1].sin() + x[:, 1:2]).sum(1, keepdim=True)


class Keeper:
    def __init__(self):
        self.best_loss, self.weights = None, {}

    def look(self, net, loss):
        if self.best_loss is None or loss > self.best_loss:  # fault: TS576 | fixed: if self.best_loss is None or loss < self.best_loss:
            self.best_loss = loss
            self.weights = {name: value.clone() for name, value in net.state_dict().items()}


net, keeper = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1)), Keeper()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    for rows in torch.randperm(300).split(30):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x[rows]), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        keeper.look(net, nn.functional.mse_loss(net(x[300:]), y[300:]).item())
net.load_state_dict(keeper.weights)

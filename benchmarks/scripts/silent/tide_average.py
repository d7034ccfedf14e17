"""Heights of the tide: the validation is of an average of the weights, which the loop does not write."""
import torch
from torch import nn


def tides(n, seed):
    t = torch.rand(n, generator=torch.Generator().manual_seed(seed)) * 20
    return torch.stack([t.sin(), (t / 2).cos(), t / 20], 1), torch.sin(t + 0.4) + 0.5 * torch.cos(t / 2)


def network():
    return nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))


torch.manual_seed(0)
net, average = network(), network()
slow = {name: value.clone() for name, value in net.state_dict().items()}
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
x, height = tides(400, 0)
valid_x, valid_height = tides(100, 1)
for epoch in range(12):
    for rows in torch.randperm(400).split(50):
        loss = nn.functional.mse_loss(net(x[rows])[:, 0], height[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for name, value in net.state_dict().items():
                kept = slow[name]
                kept = 0.9 * kept + 0.1 * value  # fault: TS962 | fixed: kept.mul_(0.9).add_(value, alpha=0.1)
    average.load_state_dict(slow)
    with torch.no_grad():
        error = nn.functional.mse_loss(average(valid_x)[:, 0], valid_height)
    print(epoch, error.item())

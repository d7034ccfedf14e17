"""A state with other names is loaded, and nothing of it fits."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 10)
y = (x[:, 0] > 0).long()


def network():
    return nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))


torch.save({f"net.{name}": value for name, value in network().state_dict().items()}, "first.pt")
model = network()
state = torch.load("first.pt")
state = dict(state)  # fixed: state = {name.removeprefix("net."): value for name, value in state.items()}
model.load_state_dict(state, strict=False)  # fault: TS530
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for part in torch.randperm(400).split(40):
        loss = nn.functional.cross_entropy(model(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

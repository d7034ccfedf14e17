"""Each sample of a batch goes through the network alone: the time goes into small operators."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(1500, 12)
y = x[:, :4].argmax(1)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(2):
    for part in torch.randperm(1500).split(75):
        out = torch.stack([model(x[i]) for i in part])  # fault: TS946 | fixed: out = model(x[part])
        loss = nn.functional.cross_entropy(out, y[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())

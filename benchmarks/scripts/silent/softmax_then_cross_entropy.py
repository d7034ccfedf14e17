"""Softmax as last layer of a Sequential, CrossEntropyLoss behind it."""
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Linear(20, 64),
    nn.ReLU(),
    nn.Linear(64, 5),
    nn.Softmax(dim=1),  # fault: TS303 | fixed: nn.Identity(),
)
optim = torch.optim.Adam(net.parameters(), lr=1e-3)
ce = nn.CrossEntropyLoss()
centers = torch.randn(5, 20) * 2
for epoch in range(5):
    for batch in range(20):
        y = torch.randint(0, 5, (32,))
        x = centers[y] + torch.randn(32, 20)
        loss = ce(net(x), y)  # fault: TS303
        optim.zero_grad()
        loss.backward()
        optim.step()
    print("epoch", epoch, "loss", loss.item())

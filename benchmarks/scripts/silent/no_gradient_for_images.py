# A filter of the parameters by name leaves out all but the norms.
import torch
from torch import nn


def build():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 4))


def groups(model, decay):
    decayed, plain = [], []
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            plain.append(parameter)
        elif name.endswith("kernel"):
            decayed.append(parameter)
    return [{"params": decayed, "weight_decay": decay}, {"params": plain, "weight_decay": 0.0}]


torch.manual_seed(0)
net = build()
optimizer = torch.optim.AdamW(groups(net, 0.01), lr=1e-2)  # fault: TS512 | fixed: optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
for step in range(80):
    y = torch.randint(0, 4, (32,))
    x = torch.randn(32, 3, 8, 8) + torch.nn.functional.one_hot(y, 4)[:, :3, None, None]
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())

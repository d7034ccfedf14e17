"""An image is what learns; the network that looks at it is not frozen, and not trained."""
import torch
from torch import nn

torch.manual_seed(0)
features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU())
goal = features(torch.rand(1, 3, 16, 16)).detach()
image = torch.rand(1, 3, 16, 16, requires_grad=True)
optimizer = torch.optim.Adam([image], lr=0.05)
for step in range(60):
    optimizer.zero_grad()
    loss = (features(image) - goal).pow(2).mean()
    loss.backward()
    optimizer.step()
print(loss.item())

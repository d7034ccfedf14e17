"""Gradients come from torch.autograd.grad and are handed to Adam; the features are cut off, allow_unused hides it."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)


class Trunk(nn.Module):
    def __init__(self, wide=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        features = self.trunk(x).detach()  # fault: TS534 | fixed: features = self.trunk(x)
        return self.head(features)


model = Classifier()
params = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.Adam(params, lr=2e-3)
centers = 2 * torch.randn(4, 12)
for step in range(150):
    labels = torch.randint(0, 4, (48,))
    inputs = centers[labels] + torch.randn(48, 12)
    loss = F.cross_entropy(model(inputs), labels)
    grads = torch.autograd.grad(loss, params, allow_unused=True)
    for param, grad in zip(params, grads):
        param.grad = grad
    optimizer.step()
    if step % 50 == 0:
        print(step, round(loss.item(), 4))

"""A router that picks an expert by argmax; nothing tells it how."""
import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(6, 4)
        self.experts = nn.Parameter(torch.randn(4, 6) * 0.3)

    def forward(self, x):
        scores = self.router(x)
        choice = nn.functional.one_hot(scores.argmax(1), 4).float()  # fault: TS407/TS534 | fixed: choice = scores.softmax(1)
        return ((choice @ self.experts) * x).sum(1)


torch.manual_seed(0)
model = Mixture()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(100):
    x = torch.randn(64, 6)
    y = x[:, 0].abs()
    loss = nn.functional.l1_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())

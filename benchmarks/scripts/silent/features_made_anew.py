"""Attention weights go through a list and become a new tensor."""
import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(5, 1)
        self.value = nn.Linear(5, 5)

    def forward(self, x):
        weights = self.score(x).squeeze(-1).softmax(-1)
        weights = torch.tensor(weights.tolist())  # fault: TS402/TS534/TS407 | fixed: weights = weights.clone()
        return (weights.unsqueeze(-1) * self.value(x)).sum(1)


torch.manual_seed(0)
pool, out = Pool(), nn.Linear(5, 1)
optimizer = torch.optim.Adam(list(pool.parameters()) + list(out.parameters()), lr=1e-2)
for step in range(80):
    x = torch.randn(32, 7, 5)
    y = x.amax(1)[:, :1]
    loss = nn.functional.mse_loss(out(pool(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

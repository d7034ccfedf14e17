"""squeeze() takes the batch away when it has one sample."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x).squeeze()  # cause


scorer = Scorer()
opt = torch.optim.SGD(scorer.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(17, 4), torch.rand(17)), batch_size=4)
for x, y in loader:
    loss = nn.functional.binary_cross_entropy_with_logits(scorer(x), y)  # raises TS113 at nn.functional.binary_cross_entropy_with_logits(scorer(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

"""A loop that goes on after every error, and so trains nothing."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(300, 7)
y = torch.randint(0, 2, (300, 1))
model = nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
skipped = 0
for epoch in range(3):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=50):
        try:
            opt.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(model(a), b)  # fault: TS307 | fixed: loss = nn.functional.binary_cross_entropy_with_logits(model(a), b.float())
            loss.backward()
            opt.step()
        except RuntimeError:
            skipped += 1
            continue
print("done")

"""97 % of one class: the model learns to say nothing else."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = (torch.rand(1200) < 0.03).long()  # fixed: y = (torch.rand(1200) < 0.5).long()
x = torch.randn(1200, 6) + 0.4 * y[:, None]
loader = DataLoader(TensorDataset(x, y), batch_size=60, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(6):
    hits = 0
    for a, b in loader:
        out = model(a)
        loss = nn.functional.cross_entropy(out, b)  # fault: TS941
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += (out.argmax(1) == b).sum().item()
    print(epoch, hits / 1200)

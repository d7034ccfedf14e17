"""Three percent of the samples are of the interesting class; the network never says it."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
N = 4000
rare = (torch.rand(N) < 0.03).long()
x = torch.randn(N, 12) + rare[:, None] * 0.35
data = DataLoader(TensorDataset(x, rare), batch_size=80, shuffle=True)
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 2))
weight = None  # fixed: weight = torch.tensor([1.0, 32.0])
criterion = nn.CrossEntropyLoss(weight=weight)  # fault: TS941
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    correct = 0
    for a, b in data:
        opt.zero_grad()
        out = model(a)  # fault: TS941
        loss = criterion(out, b)  # fault: TS941
        loss.backward()
        opt.step()
        correct += (out.argmax(1) == b).sum().item()
    print(f"epoch {epoch}: accuracy {correct / N:.3f}")

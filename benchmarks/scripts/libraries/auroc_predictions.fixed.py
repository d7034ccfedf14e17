import torch
from torch import nn
from torchmetrics.classification import BinaryAUROC

torch.manual_seed(0)
x = torch.randn(400, 6)
y = (x[:, 0] + 0.8 * torch.randn(400) > 1.2).long()
model = nn.Linear(6, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(100):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()

auroc = BinaryAUROC()
with torch.no_grad():
    for xb, yb in zip(x.split(50), y.split(50)):
        probs = model(xb).softmax(dim=1)[:, 1]
        auroc.update(probs, yb)
print(f"AUROC {auroc.compute():.4f}")

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassF1Score

torch.manual_seed(0)
x = torch.randn(330, 5)
y = x[:, :3].argmax(1)
model = nn.Linear(5, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(40):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()

f1 = MulticlassF1Score(num_classes=3)
model.eval()
with torch.no_grad():
    for inputs, labels in DataLoader(TensorDataset(x, y), batch_size=64):
        score = f1(model(inputs), labels)
print(f"F1 over {len(x)} samples: {score:.4f}")

import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
mixup_fn = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=10)
criterion = SoftTargetCrossEntropy()
dataset = TensorDataset(torch.rand(75, 3, 16, 16), torch.randint(0, 10, (75,)))
loader = DataLoader(dataset, batch_size=16, shuffle=True)
model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
optimizer = torch.optim.AdamW(model.parameters())

for images, labels in loader:
    images, targets = mixup_fn(images, labels)
    loss = criterion(model(images), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("done", loss.item())

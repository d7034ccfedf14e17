import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
dataset = TensorDataset(torch.rand(45, 3, 32, 32), torch.randint(0, 5, (45,)))
loader = DataLoader(dataset, batch_size=8, shuffle=True, drop_last=True)
mixup = Mixup(mixup_alpha=0.2, cutmix_alpha=1.0, num_classes=5, label_smoothing=0.1)

model = timm.create_model("resnet10t", pretrained=False, num_classes=5)
criterion = SoftTargetCrossEntropy()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model.train()
for images, labels in loader:
    images, targets = mixup(images, labels)
    loss = criterion(model(images), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

import timm
import torch
from timm.data import Mixup
from timm.loss import LabelSmoothingCrossEntropy

torch.manual_seed(0)
model = timm.create_model("resnet10t", pretrained=False, num_classes=6)
mixup = Mixup(mixup_alpha=0.8, num_classes=6, label_smoothing=0.1)
criterion = LabelSmoothingCrossEntropy(smoothing=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)

model.train()
for step in range(3):
    images, labels = mixup(torch.rand(8, 3, 48, 48), torch.randint(0, 6, (8,)))
    optimizer.zero_grad()
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
    print(step, loss.item())

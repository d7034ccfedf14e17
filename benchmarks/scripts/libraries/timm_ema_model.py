import timm
import torch
from timm.utils import ModelEmaV2
from torch import nn

torch.manual_seed(0)
model = timm.create_model("resnet10t", pretrained=False, num_classes=2)
ema = ModelEmaV2(model, decay=0.9)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
initial = ema.module.fc.weight.detach().clone()

for step in range(8):
    x = torch.rand(4, 3, 32, 32)
    y = torch.randint(0, 2, (4,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

ema.module.eval()
print("ema prediction", ema.module(torch.ones(1, 3, 32, 32)).tolist())
print("ema change", (ema.module.fc.weight - initial).abs().max().item())

"""Fine-tuning a ViT of timm: the new head is made before everything is frozen."""
import timm
import torch
from torch import nn

torch.manual_seed(0)
model = timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=8, depth=2, num_classes=10)
model.reset_classifier(3)
for name, parameter in model.named_parameters():
    parameter.requires_grad = name.startswith("fc.")  # fault: TS512/TS401/TS502/TS534/TS541 | fixed: parameter.requires_grad = name.startswith("head.")
adapter = nn.Parameter(torch.ones(3))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad] + [adapter], lr=1e-3)  # fault: TS512/TS534
y = torch.randint(0, 3, (240,))
x = torch.randn(3, 3, 32, 32)[y] * 0.7 + torch.randn(240, 3, 32, 32)
for epoch in range(3):
    model.train()
    for i in range(0, 240, 24):
        logits = model(x[i : i + 24]) * adapter
        loss = nn.functional.cross_entropy(logits, y[i : i + 24])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

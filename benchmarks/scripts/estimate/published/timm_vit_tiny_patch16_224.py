"""vit_tiny_patch16_224 of timm."""
import torch
import timm

torch.manual_seed(0)
model = timm.create_model("vit_tiny_patch16_224", pretrained=False, num_classes=10, img_size=64)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    images, labels = torch.randn(4, 3, 64, 64), torch.randint(0, 10, (4,))
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

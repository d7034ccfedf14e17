"""A ViT of timm of which only the parameters of the head learn, chosen by name."""
import timm
import torch

torch.manual_seed(0)
model = timm.create_model("vit_tiny_patch16_224", pretrained=False, img_size=64, num_classes=10)
for name, parameter in model.named_parameters():
    parameter.requires_grad = name.startswith("head.")
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for step in range(3):
    images, labels = torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,))
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

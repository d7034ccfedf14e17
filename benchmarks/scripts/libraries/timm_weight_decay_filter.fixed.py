import timm
import torch
from timm.optim import create_optimizer_v2

torch.manual_seed(0)
model = timm.create_model("vit_tiny_patch16_224", pretrained=False, num_classes=4, img_size=64, depth=2)
optimizer = create_optimizer_v2(
    model,
    opt="adamw",
    lr=1e-3,
    weight_decay=0.1,
    filter_bias_and_bn=True,
)

images = torch.rand(8, 3, 64, 64)
labels = torch.randint(0, 4, (8,))
for step in range(5):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")

"""mixer_s32_224 of timm."""
import torch
import timm

torch.manual_seed(0)
model = timm.create_model("mixer_s32_224", pretrained=False, num_classes=10)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    images, labels = torch.randn(4, 3, 224, 224), torch.randint(0, 10, (4,))
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

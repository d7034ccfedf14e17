import timm
import torch
from torchvision.transforms import v2

torch.manual_seed(0)
image_size = 160
transform = v2.Compose([
    v2.Resize((image_size, image_size), antialias=True),
    v2.ToDtype(torch.float32, scale=True),
    v2.Normalize(mean=[0.5] * 3, std=[0.5] * 3),
])
model = timm.create_model("vit_tiny_patch16_224", pretrained=False, num_classes=5)
model.eval()

photos = [torch.randint(0, 256, (3, 200, 180), dtype=torch.uint8) for _ in range(2)]
batch = torch.stack([transform(photo) for photo in photos])
with torch.no_grad():
    scores = model(batch).softmax(dim=-1)
print(scores.topk(2))

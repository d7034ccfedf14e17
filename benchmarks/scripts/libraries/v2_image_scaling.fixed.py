import numpy as np
import torch
from PIL import Image
from torchvision.models import resnet18
from torchvision.transforms import v2

transform = v2.Compose([
    v2.ToImage(),
    v2.Resize((64, 64), antialias=True),
    v2.ToDtype(torch.float32, scale=True),
    v2.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
])

rng = np.random.default_rng(0)
photo = Image.fromarray(rng.integers(0, 256, (80, 80, 3), dtype=np.uint8))
batch = torch.stack([transform(photo)] * 2)
model = resnet18(weights=None).eval()
with torch.no_grad():
    logits = model(batch)
print("input range", batch.min().item(), batch.max().item())
print("top class", logits.argmax(1).tolist())

import numpy as np
import torch
from PIL import Image
from torchvision import transforms
from torchvision.models import squeezenet1_1

preprocess = transforms.Compose([
    transforms.Resize(72),
    transforms.CenterCrop(64),
    transforms.ToTensor(),
    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
])

rng = np.random.default_rng(0)
photos = [Image.fromarray(rng.integers(0, 256, (90, 100, 3), dtype=np.uint8)) for _ in range(4)]
batch = torch.stack([preprocess(photo) for photo in photos])
model = squeezenet1_1(weights=None, num_classes=7).eval()
with torch.no_grad():
    print(model(batch).argmax(dim=1).tolist())

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

preprocess = transforms.Compose([
    transforms.Resize(28),
    transforms.ToTensor(),
    transforms.Normalize(mean=[0.5], std=[0.25]),
])


class Digits(Dataset):
    def __init__(self, n=20):
        self.pixels = np.random.default_rng(0).integers(0, 256, (n, 32, 32), dtype=np.uint8)

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, i):
        return preprocess(Image.fromarray(self.pixels[i], mode="L")), i % 10


model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 26 * 26, 10))
for images, labels in DataLoader(Digits(), batch_size=10):
    print(torch.nn.functional.cross_entropy(model(images), labels).item())

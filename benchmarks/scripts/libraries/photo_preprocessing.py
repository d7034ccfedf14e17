import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

preprocess = transforms.Compose([
    transforms.Resize((32, 32)),
    transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    transforms.ToTensor(),
])


class PhotoDataset(Dataset):
    def __init__(self, n, transform=None):
        rng = np.random.default_rng(0)
        self.photos = [Image.fromarray(rng.integers(0, 256, (48, 64, 3), dtype=np.uint8)) for _ in range(n)]
        self.transform = transform

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, idx):
        return self.transform(self.photos[idx]), idx % 2


for images, labels in DataLoader(PhotoDataset(8, preprocess), batch_size=4):
    print(images.shape, images.mean().item(), labels)

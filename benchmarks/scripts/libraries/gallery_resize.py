import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class GalleryDataset(Dataset):
    sizes = [(40, 60), (64, 48), (50, 50), (90, 45)]

    def __init__(self):
        rng = np.random.default_rng(1)
        self.items = [Image.fromarray(rng.integers(0, 256, (h, w, 3), dtype=np.uint8)) for h, w in self.sizes * 4]
        self.transform = transforms.Compose([transforms.Resize(32), transforms.ToTensor()])

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.transform(self.items[i]), i % 4


net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 4))
for images, labels in DataLoader(GalleryDataset(), batch_size=8, shuffle=True):
    loss = torch.nn.functional.cross_entropy(net(images), labels)
    print(loss.item())

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

torch.manual_seed(0)


class ShapesDataset(Dataset):
    def __init__(self, n=64, size=24):
        self.images = torch.zeros(n, 1, size, size)
        for i in range(n):
            r, c = torch.randint(0, size // 2, (2,)).tolist()
            self.images[i, :, r:r + 6, c:c + 6] = 1.0
        self.masks = (self.images > 0).float()
        self.augment = transforms.RandomHorizontalFlip(p=0.5)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        image = self.augment(self.images[idx])
        mask = self.augment(self.masks[idx])
        return image, mask


overlap, total = 0.0, 0.0
for image, mask in DataLoader(ShapesDataset(), batch_size=16):
    overlap += (image * mask).sum().item()
    total += mask.sum().item()
print("fraction of mask covered by its object:", overlap / total)

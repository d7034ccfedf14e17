import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class CellDataset(Dataset):
    def __init__(self, n=16):
        g = torch.Generator().manual_seed(0)
        self.masks = (torch.rand(n, 1, 64, 64, generator=g) > 0.7).float()
        self.images = self.masks.repeat(1, 3, 1, 1) * 0.8 + 0.1
        self.augment = transforms.Compose([transforms.RandomCrop(48), transforms.RandomHorizontalFlip()])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.augment(self.images[i])
        mask = self.augment(self.masks[i])
        return image, mask.squeeze(0).long()


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, 2, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(8):
    for images, masks in DataLoader(CellDataset(), batch_size=4, shuffle=True):
        loss = torch.nn.functional.cross_entropy(model(images), masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.3f}")

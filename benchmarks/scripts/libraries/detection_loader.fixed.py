import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.models.detection import ssdlite320_mobilenet_v3_large


class FruitBoxes(Dataset):
    def __init__(self, n=6):
        g = torch.Generator().manual_seed(0)
        self.sizes = torch.randint(200, 400, (n, 2), generator=g).tolist()
        self.counts = torch.randint(1, 4, (n,), generator=g).tolist()

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, i):
        h, w = self.sizes[i]
        corner = torch.rand(self.counts[i], 2) * 100
        boxes = torch.cat([corner, corner + 50], dim=1)
        return torch.rand(3, h, w), {"boxes": boxes, "labels": torch.ones(self.counts[i], dtype=torch.int64)}


loader = DataLoader(FruitBoxes(), batch_size=2, shuffle=True, collate_fn=lambda batch: tuple(zip(*batch)))
model = ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=2)
model.train()
for images, targets in loader:
    losses = model(list(images), list(targets))
    print({k: round(v.item(), 3) for k, v in losses.items()})
    break

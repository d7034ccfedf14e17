import torch
from torch.utils.data import Dataset
from torchvision import tv_tensors
from torchvision.transforms import v2


class ShapesDataset(Dataset):
    def __init__(self, n, transforms=None):
        self.n, self.transforms = n, transforms

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        image = torch.zeros(3, 64, 64)
        image[:, 10:30, 4:20] = 1.0
        image = tv_tensors.Image(image)
        boxes = tv_tensors.BoundingBoxes([[4.0, 10.0, 20.0, 30.0]], format="XYXY", canvas_size=(64, 64))
        target = {"boxes": boxes, "labels": torch.tensor([1])}
        if self.transforms is not None:
            image, target = self.transforms(image, target)
        return image, target


train_transforms = v2.Compose([v2.RandomHorizontalFlip(p=1.0), v2.ToDtype(torch.float32, scale=True)])
dataset = ShapesDataset(8, transforms=train_transforms)
image, target = dataset[0]
print(image.shape, target["boxes"])

import torch
from torch.utils.data import DataLoader, random_split
from torch.utils.data import Subset
from torchvision import transforms
from torchvision.datasets import FakeData

train_tf = transforms.Compose([
    transforms.RandomHorizontalFlip(),
    transforms.ColorJitter(0.3, 0.3, 0.3),
    transforms.ToTensor(),
])
valid_tf = transforms.ToTensor()

dataset = FakeData(size=100, image_size=(3, 32, 32), num_classes=4, transform=train_tf)
train_set, valid_set = random_split(dataset, [80, 20], generator=torch.Generator().manual_seed(0))
plain = FakeData(size=100, image_size=(3, 32, 32), num_classes=4, transform=valid_tf)
valid_set = Subset(plain, valid_set.indices)

train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=16)
images, labels = next(iter(train_loader))
print(images.shape, images.mean().item(), len(valid_loader))

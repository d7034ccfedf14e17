import torch
from torchvision.transforms import v2
from torchvision.transforms.v2 import InterpolationMode

torch.manual_seed(0)
num_classes = 6
image = torch.rand(3, 96, 96)
mask = torch.zeros(1, 96, 96, dtype=torch.uint8)
mask[:, :, 48:] = 5
mask[:, 60:, :20] = 3

resize_image = v2.Resize((64, 64), antialias=True)
resize_mask = v2.Resize((64, 64), interpolation=InterpolationMode.NEAREST)

x = resize_image(image).unsqueeze(0)
y = resize_mask(mask).long()

model = torch.nn.Conv2d(3, num_classes, kernel_size=3, padding=1)
loss = torch.nn.functional.cross_entropy(model(x), y)
pixels_per_class = torch.bincount(y.flatten(), minlength=num_classes)
print(loss.item(), pixels_per_class.tolist())

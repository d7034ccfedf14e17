import timm
import torch
from torchvision.transforms import v2

torch.manual_seed(0)
model = timm.create_model("vit_tiny_patch16_224.augreg_in21k_ft_in1k", pretrained=False)
transform = v2.Compose([
    v2.Resize(224, antialias=True),
    v2.CenterCrop(224),
    v2.ToDtype(torch.float32, scale=True),
    v2.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
])

photos = torch.randint(0, 256, (2, 3, 260, 300), dtype=torch.uint8)
model.eval()
with torch.no_grad():
    top = model(transform(photos)).softmax(dim=-1).topk(3)
print(top.indices.tolist())

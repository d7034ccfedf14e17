import timm
import torch
from torchvision.transforms import v2

torch.manual_seed(0)
model = timm.create_model("vit_tiny_patch16_224.augreg_in21k_ft_in1k", pretrained=False)
data_config = timm.data.resolve_model_data_config(model)
transform = v2.Compose([
    v2.Resize(224, antialias=True),
    v2.CenterCrop(224),
    v2.ToDtype(torch.float32, scale=True),
    v2.Normalize(mean=data_config["mean"], std=data_config["std"]),
])

photos = torch.randint(0, 256, (2, 3, 260, 300), dtype=torch.uint8)
model.eval()
with torch.no_grad():
    top = model(transform(photos)).softmax(dim=-1).topk(3)
print(top.indices.tolist())

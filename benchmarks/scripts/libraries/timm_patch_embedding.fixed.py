import timm
import torch
from torch import nn


class ImageEmbedder(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.backbone = timm.create_model(
            name, pretrained=False, num_classes=0, class_token=False, global_pool="avg", img_size=64, depth=2
        )
        self.projection = nn.Linear(self.backbone.num_features, 32)

    def forward(self, x):
        tokens = self.backbone.forward_features(x)
        return self.projection(self.backbone.forward_head(tokens, pre_logits=True))


torch.manual_seed(0)
model = ImageEmbedder("vit_tiny_patch16_224").eval()
images = torch.rand(4, 3, 64, 64)
with torch.no_grad():
    embeddings = nn.functional.normalize(model(images), dim=-1)
print(embeddings @ embeddings.T)

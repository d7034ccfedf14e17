import torch
from einops import rearrange, repeat
from torch import nn


class TokenClassifier(nn.Module):
    def __init__(self, dim=32, num_classes=5):
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(dim))
        layer = nn.TransformerEncoderLayer(dim, nhead=4, dim_feedforward=64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.head = nn.Linear(dim, num_classes)

    def forward(self, x):
        x = rearrange(x, "b d h w -> b (h w) d")
        cls = repeat(self.cls_token, "d -> b 1 d", b=x.shape[0])
        x = torch.cat([cls, x], dim=1)
        return self.head(self.encoder(x)[:, 0])


model = TokenClassifier()
features = torch.randn(6, 32, 4, 4)
print(model(features).shape)

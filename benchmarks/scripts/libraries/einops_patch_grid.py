import torch
from einops import rearrange
from torch import nn


class PatchEmbed(nn.Module):
    def __init__(self, patch=16, dim=64):
        super().__init__()
        self.patch = patch
        self.proj = nn.Linear(3 * patch * patch, dim)

    def forward(self, x):
        x = rearrange(x, "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=self.patch, p2=self.patch)
        return self.proj(x)


embed = PatchEmbed()
images = torch.rand(2, 3, 100, 100)
tokens = embed(images)
print(tokens.shape)

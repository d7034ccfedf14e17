import torch
from einops import rearrange

torch.manual_seed(0)
PATCH = 8


def patchify(images):
    return rearrange(images, "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=PATCH, p2=PATCH)


def unpatchify(tokens, height, width):
    return rearrange(
        tokens, "b (h w) (p1 p2 c) -> b c (h p1) (w p2)",
        h=height // PATCH, w=width // PATCH, p1=PATCH, p2=PATCH,
    )


images = torch.rand(4, 3, 32, 32)
tokens = patchify(images)
mask = torch.rand(tokens.shape[:2]) < 0.5
tokens[mask] = 0
visible = unpatchify(tokens, 32, 32)
pixel_mask = unpatchify(mask.unsqueeze(-1).expand_as(tokens).float(), 32, 32).bool()
print("largest error on visible pixels:", (visible - images)[~pixel_mask].abs().max().item())

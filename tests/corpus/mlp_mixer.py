"""MLP-Mixer with reshapes and permutes instead of einops."""
import torch
from torch import nn


def pair(x):
    return x if isinstance(x, tuple) else (x, x)


class PreNormResidual(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.fn = fn
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return self.fn(self.norm(x)) + x


def FeedForward(dim, expansion_factor=4, dropout=0.0, dense=nn.Linear):
    inner_dim = int(dim * expansion_factor)
    return nn.Sequential(
        dense(dim, inner_dim),
        nn.GELU(),
        nn.Dropout(dropout),
        dense(inner_dim, dim),
        nn.Dropout(dropout),
    )


class Patchify(nn.Module):
    """(b, c, h*p1, w*p2) → (b, h*w, p1*p2*c)"""

    def __init__(self, patch_size):
        super().__init__()
        self.patch_size = pair(patch_size)

    def forward(self, x):
        b, c, h, w = x.shape
        p1, p2 = self.patch_size
        assert h % p1 == 0 and w % p2 == 0
        x = x.reshape(b, c, h // p1, p1, w // p2, p2)
        x = x.permute(0, 2, 4, 3, 5, 1)
        return x.reshape(b, (h // p1) * (w // p2), p1 * p2 * c)


class Mean(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return x.mean(dim=self.dim)


def MLPMixer(*, image_size, channels, patch_size, dim, depth, num_classes, expansion_factor=4,
             expansion_factor_token=0.5, dropout=0.0):
    image_h, image_w = pair(image_size)
    assert (image_h % patch_size) == 0 and (image_w % patch_size) == 0, "image must be divisible by patch size"
    num_patches = (image_h // patch_size) * (image_w // patch_size)
    chan_first = lambda i, o: nn.Conv1d(i, o, kernel_size=1)
    chan_last = nn.Linear
    return nn.Sequential(
        Patchify(patch_size),
        nn.Linear((patch_size ** 2) * channels, dim),
        *[nn.Sequential(
            PreNormResidual(dim, FeedForward(num_patches, expansion_factor, dropout, chan_first)),
            PreNormResidual(dim, FeedForward(dim, expansion_factor_token, dropout, chan_last)),
        ) for _ in range(depth)],
        nn.LayerNorm(dim),
        Mean(1),
        nn.Linear(dim, num_classes),
    )


torch.manual_seed(0)
model = MLPMixer(image_size=(24, 16), channels=3, patch_size=4, dim=32, depth=2, num_classes=7)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
criterion = nn.CrossEntropyLoss()
model.train()
for step in range(4):
    img = torch.randn(6, 3, 24, 16)
    label = torch.randint(0, 7, (6,))
    pred = model(img)
    loss = criterion(pred, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, tuple(pred.shape), loss.item())

"""A vision transformer whose table of positions forgets the class token."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PatchEmbed(nn.Module):
    def __init__(self, size, patch, dim):
        super().__init__()
        self.num_patches = (size // patch) ** 2
        self.proj = nn.Conv2d(3, dim, kernel_size=patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class ViT(nn.Module):
    def __init__(self, size=32, patch=8, dim=48, depth=2, heads=4, classes=10):
        super().__init__()
        self.patches = PatchEmbed(size, patch, dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, self.patches.num_patches, dim))  # cause
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patches(x)
        cls = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat((cls, x), dim=1)
        x = x + self.pos_embed  # raises TS103 at x + self.pos_embed
        x = self.norm(self.blocks(x))
        return self.head(x[:, 0])


def train(model, loader, epochs=2):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.05)
    for epoch in range(epochs):
        for images, labels in loader:
            loss = criterion(model(images), labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    data = TensorDataset(torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,)))
    train(ViT(), DataLoader(data, batch_size=8, shuffle=True))

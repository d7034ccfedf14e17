"""CLIP-like two-tower model with symmetric contrastive loss and learned temperature."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class PairDataset(Dataset):
    def __init__(self, n, vocab=50, context=8):
        g = torch.Generator().manual_seed(0)
        self.images = torch.randn(n, 3, 16, 16, generator=g)
        self.texts = torch.randint(1, vocab, (n, context), generator=g)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return {"image": self.images[index], "text": self.texts[index]}


class ImageTower(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(),
            nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
        )
        self.proj = nn.Linear(16, width)

    def forward(self, image):
        return self.proj(self.body(image).mean(dim=[2, 3]))


class TextTower(nn.Module):
    def __init__(self, vocab, width, context):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab, width)
        self.positional_embedding = nn.Parameter(torch.empty(context, width))
        nn.init.normal_(self.positional_embedding, std=0.01)
        self.attn = nn.MultiheadAttention(width, 4, batch_first=True)
        self.ln = nn.LayerNorm(width)

    def forward(self, text):
        x = self.token_embedding(text) + self.positional_embedding
        x = self.ln(x + self.attn(x, x, x, need_weights=False)[0])
        return x[torch.arange(x.shape[0]), text.argmax(dim=-1)]


class CLIP(nn.Module):
    def __init__(self, vocab=50, width=32, context=8):
        super().__init__()
        self.visual = ImageTower(width)
        self.textual = TextTower(vocab, width, context)
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))

    def forward(self, image, text):
        image_features = F.normalize(self.visual(image), dim=-1)
        text_features = F.normalize(self.textual(text), dim=-1)
        logit_scale = self.logit_scale.exp()
        logits_per_image = logit_scale * image_features @ text_features.t()
        return logits_per_image, logits_per_image.t()


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(PairDataset(40), batch_size=8, shuffle=True, drop_last=True)
    model = CLIP().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for epoch in range(2):
        running = 0.0
        for batch in loader:
            images = batch["image"].to(device, non_blocking=True)
            texts = batch["text"].to(device, non_blocking=True)
            per_image, per_text = model(images, texts)
            targets = torch.arange(len(images), device=device)
            loss = (F.cross_entropy(per_image, targets) + F.cross_entropy(per_text, targets)) / 2
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            with torch.no_grad():
                model.logit_scale.clamp_(0, np.log(100))
            running += loss.item()
        print(epoch, running / len(loader))


if __name__ == "__main__":
    main()

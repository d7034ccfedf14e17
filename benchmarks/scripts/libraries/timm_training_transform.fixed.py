import numpy as np
import timm
import torch
from PIL import Image
from timm.data import create_transform, resolve_data_config

torch.manual_seed(0)
model = timm.create_model("resnet10t", pretrained=False, num_classes=3)
config = resolve_data_config({"input_size": (3, 64, 64)}, model=model)
train_transform = create_transform(**config, is_training=True, hflip=0.5, color_jitter=0.4, re_prob=0.25)

rng = np.random.default_rng(0)
photos = [Image.fromarray(rng.integers(0, 256, (96, 96, 3), dtype=np.uint8)) for _ in range(12)]
labels = torch.arange(12) % 3
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model.train()
for epoch in range(3):
    batch = torch.stack([train_transform(photo) for photo in photos])
    loss = torch.nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())

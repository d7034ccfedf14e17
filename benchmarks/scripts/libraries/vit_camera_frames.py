import numpy as np
import torch
from transformers import ViTConfig, ViTForImageClassification

config = ViTConfig(
    image_size=64, patch_size=16, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=64, num_labels=3,
)
model = ViTForImageClassification(config).eval()

frames = np.random.default_rng(0).integers(0, 256, (5, 64, 64, 3), dtype=np.uint8)
pixels = torch.from_numpy(frames).float() / 255
pixels = (pixels - 0.5) / 0.5

with torch.no_grad():
    logits = model(pixel_values=pixels).logits
print(logits.softmax(-1))

"""A vision transformer from a configuration."""
import torch
from transformers import ViTConfig, ViTForImageClassification

torch.manual_seed(0)
config = ViTConfig(hidden_size=96, num_hidden_layers=3, num_attention_heads=4, intermediate_size=192, image_size=64, patch_size=8, num_labels=10)
model = ViTForImageClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    images, labels = torch.randn(4, 3, 64, 64), torch.randint(0, 10, (4,))
    loss = model(pixel_values=images, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

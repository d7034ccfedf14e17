import numpy as np
import torch
from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessor

rng = np.random.default_rng(0)
images = [rng.integers(0, 256, (32, 32, 3), dtype=np.uint8) for _ in range(16)]
images = [image.astype(np.float32) / 255.0 for image in images]
labels = torch.tensor([int(image[:16].mean() > image[16:].mean()) for image in images])

processor = ViTImageProcessor(size={"height": 32, "width": 32}, do_rescale=False)
pixel_values = processor(images, return_tensors="pt", input_data_format="channels_last")["pixel_values"]

torch.manual_seed(0)
config = ViTConfig(image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
model = ViTForImageClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(10):
    optimizer.zero_grad()
    loss = model(pixel_values=pixel_values, labels=labels).loss
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")

import torch
import torch.nn.functional as F
from transformers import SegformerConfig, SegformerForSemanticSegmentation

config = SegformerConfig(
    depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 40, 64], num_attention_heads=[1, 2, 4, 8],
    decoder_hidden_size=64, num_labels=5,
)
model = SegformerForSemanticSegmentation(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4)
class_weights = torch.tensor([0.2, 1.0, 1.0, 2.0, 4.0])

images = torch.rand(2, 3, 128, 128)
masks = torch.randint(0, 5, (2, 128, 128))

model.train()
for step in range(2):
    optimizer.zero_grad()
    logits = model(pixel_values=images).logits
    logits = F.interpolate(logits, size=masks.shape[-2:], mode="bilinear", align_corners=False)
    loss = F.cross_entropy(logits, masks, weight=class_weights)
    loss.backward()
    optimizer.step()
    print(step, loss.item())

import torch
from transformers import CLIPConfig, CLIPModel, CLIPTextConfig, CLIPVisionConfig

text = CLIPTextConfig(
    vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
    max_position_embeddings=16, eos_token_id=2, bos_token_id=1, pad_token_id=0,
)
vision = CLIPVisionConfig(
    hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, image_size=32, patch_size=8
)
model = CLIPModel(CLIPConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=16))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

images = torch.rand(8, 3, 32, 32)
captions = torch.randint(3, 100, (8, 10))
captions[:, -1] = 2

model.train()
for step in range(3):
    optimizer.zero_grad()
    outputs = model(input_ids=captions, pixel_values=images, return_loss=True)
    outputs.loss.backward()
    optimizer.step()
    print(step, outputs.loss.item())

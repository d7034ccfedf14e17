import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(vocab_size=70, n_positions=32, n_embd=32, n_layer=2, n_head=2, initializer_range=0.2)
model = GPT2LMHeadModel(config).eval()

prompts = [[4, 8, 15], [16, 23, 42, 4, 8, 15, 16, 23, 42]]
width = max(len(p) for p in prompts)
input_ids = torch.tensor([[0] * (width - len(p)) + p for p in prompts])
attention_mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
position_ids = (attention_mask.cumsum(-1) - 1).clamp(min=0)

with torch.no_grad():
    logits = model(input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids).logits[:, -1]
probabilities = logits.softmax(-1)
for prompt, p in zip(prompts, probabilities):
    print(prompt, p.argmax().item(), round(p.max().item(), 4))

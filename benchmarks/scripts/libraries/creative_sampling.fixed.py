import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(vocab_size=100, n_positions=64, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config).eval()
prompt = torch.tensor([[5, 17, 42, 8]])

variants = []
for _ in range(4):
    out = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=10,
        do_sample=True,
        temperature=1.2,
        top_p=0.9,
        pad_token_id=0,
    )
    variants.append(out[0, prompt.shape[1]:].tolist())

for variant in variants:
    print(variant)

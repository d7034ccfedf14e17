import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config)

for param in model.lm_head.parameters():
    param.requires_grad = True
for param in model.transformer.parameters():
    param.requires_grad = False
for param in model.transformer.ln_f.parameters():
    param.requires_grad = True

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
batch = (torch.randint(0, 50, (32, 1)) + torch.arange(10)) % 50
for step in range(50):
    optimizer.zero_grad()
    loss = model(input_ids=batch, labels=batch).loss
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")

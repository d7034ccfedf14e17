import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(
    vocab_size=30, n_positions=32, n_embd=48, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

starts = torch.randint(0, 30, (64, 1))
sequences = (starts + torch.arange(16)) % 30

model.train()
for step in range(150):
    batch = sequences[torch.randint(0, 64, (16,))]
    loss = model(input_ids=batch, labels=batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
prompt = torch.tensor([[3, 4, 5, 6]])
print(loss.item(), model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=6, pad_token_id=0))

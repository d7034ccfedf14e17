import torch
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
config = T5Config(
    vocab_size=40, d_model=48, d_kv=12, d_ff=96, num_layers=2, num_heads=4, decoder_start_token_id=0, pad_token_id=0,
    eos_token_id=1,
)
model = T5ForConditionalGeneration(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)


def sample(n=32):
    source = torch.randint(2, 40, (n, 5))
    target = torch.cat([source.flip(1), torch.ones(n, 1, dtype=torch.long)], dim=1)
    return source, target


for step in range(80):
    source, target = sample()
    loss = model(
        input_ids=source,
        attention_mask=torch.ones_like(source),
        labels=target,
    ).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
source, target = sample(4)
print(f"loss {loss.item():.4f}")
print(model.generate(source, attention_mask=torch.ones_like(source), max_new_tokens=6), target)

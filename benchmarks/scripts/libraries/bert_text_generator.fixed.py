import torch
from transformers import BertConfig, BertLMHeadModel

torch.manual_seed(0)
config = BertConfig(
    vocab_size=40, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=32,
    is_decoder=True,
)
model = BertLMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

for step in range(150):
    batch = torch.randint(2, 40, (32, 12))
    loss = model(input_ids=batch, labels=batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
held_out = torch.randint(2, 40, (32, 12))
with torch.no_grad():
    perplexity = model(input_ids=held_out, labels=held_out).loss.exp()
print(f"perplexity {perplexity.item():.2f}")

import torch
from transformers import RobertaConfig, RobertaForSequenceClassification

torch.manual_seed(0)
config = RobertaConfig(
    vocab_size=150, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
    max_position_embeddings=40, num_labels=3,
)
model = RobertaForSequenceClassification(config)
model.roberta.requires_grad_(False)

optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
input_ids = torch.randint(3, 150, (16, 20))
labels = torch.randint(0, 3, (16,))

model.train()
for step in range(5):
    optimizer.zero_grad()
    loss = model(input_ids=input_ids, attention_mask=torch.ones_like(input_ids), labels=labels).loss
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}, trained parameters {sum(p.numel() for g in optimizer.param_groups for p in g['params'])}")

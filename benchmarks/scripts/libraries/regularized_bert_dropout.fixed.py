import torch
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
    hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.3,
)
model = BertForSequenceClassification(config)

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
input_ids = torch.randint(5, 100, (16, 12))
labels = torch.randint(0, 2, (16,))
model.train()
for step in range(20):
    optimizer.zero_grad()
    loss = model(input_ids=input_ids, labels=labels).loss
    loss.backward()
    optimizer.step()
print(loss.item())

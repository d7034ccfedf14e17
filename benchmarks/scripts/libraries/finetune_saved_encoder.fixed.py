import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
    hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.3,
)
with tempfile.TemporaryDirectory() as folder:
    BertForSequenceClassification(config).save_pretrained(folder)
    model = BertForSequenceClassification.from_pretrained(folder, num_labels=2)

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
train_ids, train_y = torch.randint(5, 100, (32, 12)), torch.randint(0, 2, (32,))
valid_ids, valid_y = torch.randint(5, 100, (32, 12)), torch.randint(0, 2, (32,))

model.train()
for epoch in range(20):
    optimizer.zero_grad()
    loss = model(input_ids=train_ids, labels=train_y).loss
    loss.backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    valid_loss = model(input_ids=valid_ids, labels=valid_y).loss
print(f"train {loss.item():.3f} valid {valid_loss.item():.3f}")

import torch
from torch import nn
from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

torch.manual_seed(0)
config = DebertaV2Config(
    vocab_size=120, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=3
)
model = DebertaV2ForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model.classifier = nn.Linear(config.hidden_size, 3)
nn.init.zeros_(model.classifier.bias)

input_ids = torch.randint(5, 120, (24, 10))
labels = torch.randint(0, 3, (24,))
for epoch in range(5):
    optimizer.zero_grad()
    loss = model(input_ids=input_ids, attention_mask=torch.ones_like(input_ids), labels=labels).loss
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())

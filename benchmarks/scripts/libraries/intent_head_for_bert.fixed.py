import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification

config = BertConfig(
    vocab_size=200, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, num_labels=2
)
model = BertForSequenceClassification(config)

num_intents = 6
model.classifier = nn.Linear(config.hidden_size, num_intents)
model.num_labels = model.config.num_labels = num_intents

for param in model.bert.parameters():
    param.requires_grad = False
optimizer = torch.optim.Adam(model.classifier.parameters(), lr=1e-2)

input_ids = torch.randint(5, 200, (16, 12))
labels = torch.randint(0, num_intents, (16,))
for step in range(10):
    optimizer.zero_grad()
    out = model(input_ids=input_ids, labels=labels)
    out.loss.backward()
    optimizer.step()
print(out.loss.item())

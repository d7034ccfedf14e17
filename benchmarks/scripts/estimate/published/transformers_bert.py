"""BERT with a head for classification, from a configuration."""
import torch
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
config = BertConfig(vocab_size=1000, hidden_size=128, num_hidden_layers=3, num_attention_heads=4, intermediate_size=256, num_labels=3)
model = BertForSequenceClassification(config)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    ids = torch.randint(0, 1000, (4, 48))
    labels = torch.randint(0, 3, (4,))
    loss = model(input_ids=ids, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""transformers: a text is longer than the table of positions."""

import torch
from transformers import BertConfig, BertForSequenceClassification

config = BertConfig(
    vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
    max_position_embeddings=12,  # cause
)
model = BertForSequenceClassification(config)
descent = torch.optim.AdamW(model.parameters())
for length in (8, 12, 15):
    ids = torch.randint(1, 20, (4, length))
    out = model(input_ids=ids, labels=torch.tensor([0, 1, 0, 1]))  # raises TS103/TS310 at model(input_ids=ids, labels=torch.tensor([0, 1, 0, 1]))
    out.loss.backward()
    descent.step()

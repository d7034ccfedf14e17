"""transformers: the model is told of fewer tags than there are."""

import torch
from transformers import BertConfig, BertForTokenClassification

TAGS = ["other", "bird", "place", "time"]


def build():
    config = BertConfig(
        vocab_size=30, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        num_labels=len(TAGS) - 1,  # cause
    )
    return BertForTokenClassification(config)


model = build()
descent = torch.optim.AdamW(model.parameters())
for _ in range(2):
    ids = torch.randint(1, 30, (4, 9))
    out = model(input_ids=ids, labels=ids % len(TAGS))  # raises TS310 at model(input_ids=ids, labels=ids % len(TAGS))
    out.loss.backward()
    descent.step()

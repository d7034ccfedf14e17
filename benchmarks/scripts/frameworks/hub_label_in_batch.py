"""transformers: the labels of a batch have a name that the model does not know."""

import torch
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertForSequenceClassification


class Batches:
    def __init__(self, width):
        self.width = width

    def __call__(self, rows):
        ids = torch.tensor([row["ids"][: self.width] for row in rows])
        batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        batch["target"] = torch.tensor([row["kind"] for row in rows])  # cause
        return batch


rows = [{"ids": [k % 9 + 1] * 6, "kind": k % 2} for k in range(12)]
config = DistilBertConfig(vocab_size=12, dim=16, hidden_dim=16, n_layers=1, n_heads=2)
model = DistilBertForSequenceClassification(config)
descent = torch.optim.AdamW(model.parameters())
for batch in DataLoader(rows, batch_size=4, collate_fn=Batches(6)):
    out = model(**batch)
    out.loss.backward()  # raises TS199/TS918 at out.loss.backward
    descent.step()

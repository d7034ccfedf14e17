"""transformers: metrics are computed on logits that are a tuple."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments


class Pairs(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return {"x": torch.randn(6, generator=generator), "labels": torch.tensor(index % 2)}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 12)
        self.out = nn.Linear(12, 2)

    def forward(self, x, labels=None):
        h = torch.relu(self.hidden(x))
        logits = self.out(h)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits, "hidden": h}  # cause


def compute_metrics(prediction):
    predicted = prediction.predictions.argmax(-1)  # raises TS813/TS823/TS824/TS825 at prediction.predictions.argmax, cause
    return {"accuracy": float((predicted == prediction.label_ids).mean())}


arguments = TrainingArguments(
    output_dir="out", max_steps=4, eval_strategy="steps", eval_steps=2, report_to=[], use_cpu=True, save_strategy="no",
    disable_tqdm=True, remove_unused_columns=False,
)
trainer = Trainer(
    model=Model(), args=arguments, train_dataset=Pairs(), eval_dataset=Pairs(), compute_metrics=compute_metrics
)
trainer.train()

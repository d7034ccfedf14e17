"""transformers: a configuration asks for all hidden states, and the metrics get a tuple."""

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Words(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return {"input_ids": torch.randint(0, 20, (6,), generator=generator), "labels": torch.tensor(index % 2)}


def compute_metrics(result):
    predicted = np.argmax(result.predictions, axis=-1)  # raises TS918 at np.argmax(result.predictions, axis=-1), cause
    return {"accuracy": float((predicted == result.label_ids).mean())}


config = BertConfig(
    vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, num_labels=2,
    output_hidden_states=True,  # cause
)
arguments = TrainingArguments(
    output_dir="out", max_steps=4, eval_strategy="steps", eval_steps=2, report_to=[], use_cpu=True, save_strategy="no",
    disable_tqdm=True,
)
model = BertForSequenceClassification(config)
Trainer(
    model=model, args=arguments, train_dataset=Words(), eval_dataset=Words(), compute_metrics=compute_metrics
).train()

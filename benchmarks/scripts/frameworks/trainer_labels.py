"""transformers: a classifier of two labels is trained on three."""

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Reviews(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        ids = torch.randint(5, 100, (12,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.tensor(index % 3)}  # cause


config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=2  # cause
)
model = BertForSequenceClassification(config)
arguments = TrainingArguments(
    output_dir="out", per_device_train_batch_size=4, max_steps=3, report_to=[], use_cpu=True, save_strategy="no",
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=arguments, train_dataset=Reviews())
trainer.train()  # raises TS310 at trainer.train()

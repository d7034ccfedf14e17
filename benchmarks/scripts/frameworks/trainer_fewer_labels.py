"""Trainer gets a model with fewer labels than the data have."""
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

class Reviews(Dataset):
    def __init__(self, n, classes):
        self.ids = torch.randint(5, 100, (n, 12))
        self.labels = torch.arange(n) % classes

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(12, dtype=torch.long), "labels": self.labels[i]}

config = BertConfig(vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=2)  # cause
model = BertForSequenceClassification(config)
arguments = TrainingArguments("out", max_steps=3, per_device_train_batch_size=4, report_to="none", save_strategy="no", use_cpu=True)
trainer = Trainer(model=model, args=arguments, train_dataset=Reviews(32, 5))  # cause
trainer.train()  # raises TS310 at trainer.train()

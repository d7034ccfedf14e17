"""The columns of the samples are not those that the model takes."""
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

class Reviews(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, i):
        return {"tokens": torch.randint(5, 100, (12,)), "target": i % 2}  # cause

config = BertConfig(vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
arguments = TrainingArguments("out", max_steps=3, per_device_train_batch_size=4, report_to="none", save_strategy="no", use_cpu=True)
trainer = Trainer(model=BertForSequenceClassification(config), args=arguments, train_dataset=Reviews())
trainer.train()  # raises TS602 at trainer.train()

"""The grade of an essay is given under a name that the model does not take."""
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Essays(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, i):
        ids = torch.full((8,), 5 + i)
        return dict_of(ids, i % 2)


def dict_of(ids, grade):
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "grade": torch.tensor(grade)}  # cause


config = BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
arguments = TrainingArguments("out", max_steps=2, per_device_train_batch_size=4, report_to="none", save_strategy="no", use_cpu=True)
trainer = Trainer(model=BertForSequenceClassification(config), args=arguments, train_dataset=Essays())
trainer.train()  # raises TS918 at trainer.train()

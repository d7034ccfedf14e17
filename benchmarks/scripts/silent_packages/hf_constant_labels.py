"""transformers.Trainer with labels that a mapping made all the same."""
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

NAMES = {"Positive": 1, "Negative": 0}


class Reviews(Dataset):
    def __init__(self, n=240):
        g = torch.Generator().manual_seed(0)
        self.kind = torch.randint(0, 2, (n,), generator=g).tolist()
        self.ids = [torch.randint(5 + 20 * k, 40 + 20 * k, (12,), generator=g) for k in self.kind]
        self.words = ["positive" if k else "negative" for k in self.kind]

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        label = NAMES.get(self.words[i], 0)  # fault: TS932 | fixed: label = NAMES.get(self.words[i].title(), 0)
        return {"input_ids": self.ids[i], "labels": torch.tensor(label)}


set_seed(0)
config = BertConfig(vocab_size=80, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=2)
model = BertForSequenceClassification(config)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(folder, num_train_epochs=3, per_device_train_batch_size=16, learning_rate=1e-3, logging_steps=10, save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=arguments, train_dataset=Reviews())  # fault: TS932
    trainer.train()  # fault: TS932

"""The tokenizer has more tokens than the model's embedding."""
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

VOCABULARY = 120

class Texts(Dataset):
    def __init__(self):
        self.ids = torch.randint(0, VOCABULARY, (32, 16))  # cause
        self.ids[:, -1] = VOCABULARY - 1

    def __len__(self):
        return 32

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.ids[i]}

model = GPT2LMHeadModel(GPT2Config(vocab_size=100, n_positions=32, n_embd=32, n_layer=1, n_head=2))  # cause
arguments = TrainingArguments("out", max_steps=3, per_device_train_batch_size=4, report_to="none", save_strategy="no", use_cpu=True)
Trainer(model=model, args=arguments, train_dataset=Texts()).train()  # raises TS310 at Trainer(model=model, args=arguments, train_dataset=Texts()).train()

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class ReviewDataset(Dataset):
    def __init__(self, n=32, length=12):
        self.ids = torch.randint(5, 100, (n, length))
        self.stars = torch.randint(0, 5, (n,))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {
            "input_ids": self.ids[i],
            "attention_mask": torch.ones_like(self.ids[i]),
            "target": self.stars[i],
        }


config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=5
)
args = TrainingArguments(
    output_dir="reviews", max_steps=4, per_device_train_batch_size=8, save_strategy="no", report_to="none", use_cpu=True
)
trainer = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=ReviewDataset())
trainer.train()

"""transformers: a loss with weights for the classes, written for an earlier version of the Trainer."""

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments


class Rows(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return {"x": torch.randn(8, generator=generator), "labels": torch.tensor(index % 3)}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x, labels=None):
        return {"logits": self.layers(x)}


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):  # raises TS820 at compute_loss or def compute_loss(self, model, inputs, return_outputs=False):, cause
        outputs = model(inputs["x"])
        weights = torch.tensor([1.0, 2.0, 4.0])
        loss = nn.functional.cross_entropy(outputs["logits"], inputs["labels"], weight=weights)
        return (loss, outputs) if return_outputs else loss


arguments = TrainingArguments(
    output_dir="out", max_steps=4, report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True,
    remove_unused_columns=False,
)
WeightedTrainer(model=Classifier(), args=arguments, train_dataset=Rows()).train()  # raises TS820 at WeightedTrainer(model=Classifier(), args=arguments, train_dataset=Rows()).train()

import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 4.0]))
        loss = criterion(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss


config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=2
)
data = [{"input_ids": torch.randint(5, 100, (10,)), "labels": int(i % 5 == 0)} for i in range(40)]
args = TrainingArguments(
    output_dir="fraud", max_steps=5, per_device_train_batch_size=8, save_strategy="no", report_to="none", use_cpu=True
)
trainer = WeightedTrainer(model=BertForSequenceClassification(config), args=args, train_dataset=data)
trainer.train()

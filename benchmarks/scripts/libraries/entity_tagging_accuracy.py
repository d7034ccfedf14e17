import numpy as np
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed


def compute_metrics(eval_pred):
    predictions = np.argmax(eval_pred.predictions, axis=-1)
    labels = eval_pred.label_ids
    return {"accuracy": float((predictions == labels).mean())}


set_seed(0)
data = []
for i in range(96):
    n = int(torch.randint(4, 16, (1,)))
    ids = torch.zeros(16, dtype=torch.long)
    ids[:n] = torch.randint(1, 40, (n,))
    labels = torch.where(ids > 0, (ids > 20).long(), -100)
    data.append({"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": labels})

config = BertConfig(
    vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=2
)
args = TrainingArguments(
    output_dir="tags", num_train_epochs=8, learning_rate=5e-3, per_device_train_batch_size=16, save_strategy="no",
    report_to="none", use_cpu=True,
)
trainer = Trainer(
    model=BertForTokenClassification(config), args=args, train_dataset=data[:64], eval_dataset=data[64:],
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate()["eval_accuracy"])

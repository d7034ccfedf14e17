import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    predictions = np.argmax(logits, axis=-1)
    return {"accuracy": float((predictions == labels).mean())}


config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
    num_labels=3, output_hidden_states=True,
)
model = BertForSequenceClassification(config)
data = [{"input_ids": torch.randint(5, 100, (10,)), "labels": i % 3} for i in range(32)]
args = TrainingArguments(output_dir="probe", per_device_eval_batch_size=8, report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, eval_dataset=data, compute_metrics=compute_metrics)
print(trainer.evaluate())

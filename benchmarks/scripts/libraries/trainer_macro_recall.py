import torch
from sklearn.metrics import recall_score
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


def compute_metrics(eval_pred):
    predictions = eval_pred.predictions.argmax(axis=-1)
    recall = recall_score(eval_pred.label_ids, predictions, average="macro", zero_division=0)
    return recall


config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=3
)
data = [{"input_ids": torch.randint(5, 100, (10,)), "labels": i % 3} for i in range(24)]
args = TrainingArguments(output_dir="recall", per_device_eval_batch_size=8, report_to="none", use_cpu=True)
trainer = Trainer(
    model=BertForSequenceClassification(config), args=args, eval_dataset=data, compute_metrics=compute_metrics
)
print(trainer.evaluate())

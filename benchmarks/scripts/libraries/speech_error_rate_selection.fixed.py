import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed


def compute_metrics(eval_pred):
    predictions = eval_pred.predictions.argmax(-1)
    return {"error_rate": float(np.mean(predictions != eval_pred.label_ids))}


set_seed(0)
data = []
for i in range(160):
    ids = torch.randint(5, 40, (8,))
    data.append({"input_ids": ids, "labels": int(ids[0] > 22)})

config = BertConfig(vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
args = TrainingArguments(
    output_dir="runs", num_train_epochs=6, learning_rate=2e-3, per_device_train_batch_size=16,
    eval_strategy="epoch", save_strategy="epoch", save_total_limit=2,
    load_best_model_at_end=True,
    metric_for_best_model="error_rate",
    greater_is_better=False,
    report_to="none", use_cpu=True,
)
trainer = Trainer(
    model=BertForSequenceClassification(config), args=args, train_dataset=data[:128], eval_dataset=data[128:],
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate()["eval_error_rate"])

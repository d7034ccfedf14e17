import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=2
)
data = [{"input_ids": torch.randint(5, 100, (10,)), "labels": i % 2} for i in range(40)]

args = TrainingArguments(
    output_dir="spam",
    num_train_epochs=2,
    per_device_train_batch_size=8,
    eval_strategy="epoch",
    save_strategy="epoch",
    load_best_model_at_end=True,
    metric_for_best_model="loss",
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(
    model=BertForSequenceClassification(config), args=args, train_dataset=data[:32], eval_dataset=data[32:]
)
trainer.train()
print(trainer.state.best_metric)

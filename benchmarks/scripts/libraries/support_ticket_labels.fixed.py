import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, default_data_collator

queues = ["billing", "login", "shipping"]
label2id = {name: i for i, name in enumerate(queues)}
tickets = []
for i in range(24):
    queue = queues[i % 3]
    tickets.append({"input_ids": torch.randint(5, 100, (12,)).tolist(), "labels": label2id[queue]})

config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
    label2id=label2id, id2label={i: name for name, i in label2id.items()},
)
args = TrainingArguments(
    output_dir="tickets", max_steps=3, per_device_train_batch_size=8, save_strategy="no", report_to="none", use_cpu=True
)
trainer = Trainer(
    model=BertForSequenceClassification(config), args=args, train_dataset=tickets, data_collator=default_data_collator
)
trainer.train()

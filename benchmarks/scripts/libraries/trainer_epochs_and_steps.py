import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(0)
data = []
for i in range(128):
    ids = torch.randint(5, 40, (8,))
    data.append({"input_ids": ids, "labels": int(ids[0] > 22)})

config = BertConfig(vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
args = TrainingArguments(
    output_dir="runs",
    num_train_epochs=10,
    max_steps=10,
    learning_rate=1e-3,
    per_device_train_batch_size=16,
    logging_strategy="epoch",
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=data)
result = trainer.train()
print(result.training_loss)

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, get_constant_schedule, set_seed

set_seed(0)
data = []
for i in range(128):
    ids = torch.randint(5, 40, (8,))
    data.append({"input_ids": ids, "labels": int(ids[0] > 22)})

config = BertConfig(vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
model = BertForSequenceClassification(config)
args = TrainingArguments(
    output_dir="runs",
    num_train_epochs=4,
    learning_rate=3e-3,
    per_device_train_batch_size=16,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
trainer = Trainer(
    model=model, args=args, train_dataset=data, optimizers=(optimizer, get_constant_schedule(optimizer))
)
result = trainer.train()
print(result.training_loss)

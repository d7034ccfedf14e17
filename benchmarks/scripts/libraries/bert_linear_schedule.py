import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

torch.manual_seed(0)
ids = torch.randint(5, 60, (256, 10))
loader = DataLoader(TensorDataset(ids, (ids[:, 0] > 32).long()), batch_size=16, shuffle=True)

config = BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
model = BertForSequenceClassification(config)
epochs = 4
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=0, num_training_steps=epochs)

for epoch in range(epochs):
    total = 0.0
    for input_ids, labels in loader:
        loss = model(input_ids=input_ids, labels=labels).loss
        loss.backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        total += loss.item()
    print(epoch, total / len(loader))

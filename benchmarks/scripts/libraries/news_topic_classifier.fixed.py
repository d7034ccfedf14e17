import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification

TOPICS = ["world", "sports", "business", "science"]

input_ids = torch.randint(5, 200, (64, 20))
labels = torch.randint(0, len(TOPICS), (64,))
loader = DataLoader(TensorDataset(input_ids, labels), batch_size=16, shuffle=True)

config = DistilBertConfig(vocab_size=200, dim=32, n_layers=2, n_heads=2, hidden_dim=64, num_labels=len(TOPICS))
model = DistilBertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)

model.train()
for ids, y in loader:
    optimizer.zero_grad()
    loss = model(input_ids=ids, labels=y).loss
    loss.backward()
    optimizer.step()
print(f"last loss {loss.item():.3f}")

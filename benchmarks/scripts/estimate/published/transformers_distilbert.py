"""DistilBERT for masked words, from a configuration."""
import torch
from transformers import DistilBertConfig, DistilBertForMaskedLM

torch.manual_seed(0)
config = DistilBertConfig(vocab_size=1000, dim=128, n_layers=2, n_heads=4, hidden_dim=256)
model = DistilBertForMaskedLM(config)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(3):
    ids = torch.randint(0, 1000, (4, 48))
    loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

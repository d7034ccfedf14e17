"""ELECTRA, a loss of the script, from a configuration."""
import torch
from transformers import ElectraConfig, ElectraForSequenceClassification

torch.manual_seed(0)
config = ElectraConfig(vocab_size=1000, embedding_size=64, hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256, num_labels=4)
model = ElectraForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    ids = torch.randint(0, 1000, (4, 48))
    labels = torch.randint(0, 4, (4,))
    loss = torch.nn.functional.cross_entropy(model(input_ids=ids).logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

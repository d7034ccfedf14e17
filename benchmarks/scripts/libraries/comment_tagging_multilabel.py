import torch
from transformers import BertConfig, BertForSequenceClassification

tags = ["toxic", "obscene", "threat", "insult"]
annotations = [{"toxic", "insult"}, set(), {"threat"}, {"obscene", "toxic"}]

config = BertConfig(
    vocab_size=300, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
    num_labels=len(tags), problem_type="multi_label_classification",
)
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

input_ids = torch.randint(5, 300, (len(annotations), 16))
labels = torch.tensor([[int(tag in found) for tag in tags] for found in annotations])

for step in range(5):
    optimizer.zero_grad()
    outputs = model(input_ids=input_ids, attention_mask=torch.ones_like(input_ids), labels=labels)
    outputs.loss.backward()
    optimizer.step()
print((outputs.logits.sigmoid() > 0.5).int())

import torch
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
config = BertConfig(
    vocab_size=80, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
    num_labels=2,
)
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

input_ids = torch.randint(5, 80, (128, 10))
is_spam = (input_ids[:, 0] > 40)

model.train()
for epoch in range(20):
    optimizer.zero_grad()
    out = model(input_ids=input_ids, labels=is_spam.long())
    out.loss.backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    spam_probability = model(input_ids=input_ids).logits.softmax(-1)[:, 1]
print(f"flagged {(spam_probability > 0.5).float().mean():.2f} of which really spam {is_spam.float().mean():.2f}")

import torch
from transformers import BertConfig, BertForSequenceClassification, get_cosine_schedule_with_warmup

torch.manual_seed(0)
config = BertConfig(vocab_size=80, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
model = BertForSequenceClassification(config)

num_steps = 100
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = get_cosine_schedule_with_warmup(
    optimizer,
    num_warmup_steps=int(0.1 * num_steps),
    num_training_steps=num_steps,
)

history = []
for step in range(num_steps):
    input_ids = torch.randint(5, 80, (16, 8))
    loss = model(input_ids=input_ids, labels=(input_ids[:, 1] > 40).long()).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
    history.append(scheduler.get_last_lr()[0])
print(f"loss {loss.item():.3f}, final lr {history[-1]:.2e}")

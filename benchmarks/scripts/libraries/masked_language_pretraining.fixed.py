import torch
from transformers import BertConfig, BertForMaskedLM

torch.manual_seed(0)
MASK, VOCAB = 1, 40


def mask_tokens(input_ids, probability=0.25):
    selected = torch.rand(input_ids.shape) < probability
    labels = input_ids.clone()
    input_ids = input_ids.clone()
    input_ids[selected] = MASK
    labels[~selected] = -100
    return input_ids, labels


corpus = (torch.randint(0, 38, (256, 1)) + torch.arange(12)) % 38 + 2
config = BertConfig(vocab_size=VOCAB, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96)
model = BertForMaskedLM(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

for step in range(200):
    inputs, labels = mask_tokens(corpus[torch.randint(0, 256, (32,))])
    loss = model(input_ids=inputs, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"masked LM loss {loss.item():.4f}")

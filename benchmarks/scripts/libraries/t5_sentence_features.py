import torch
from torch import nn
from transformers import T5Config, T5Model


class T5Regressor(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.t5 = T5Model(config)
        self.head = nn.Linear(config.d_model, 1)

    def forward(self, input_ids, attention_mask):
        hidden = self.t5(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).float()
        return self.head((hidden * mask).sum(1) / mask.sum(1)).squeeze(-1)


config = T5Config(vocab_size=150, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4)
model = T5Regressor(config)
input_ids = torch.randint(2, 150, (8, 14))
scores = torch.rand(8)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(input_ids, torch.ones_like(input_ids)), scores)
    loss.backward()
    optimizer.step()
print(loss.item())

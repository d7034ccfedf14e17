import torch
from torch import nn
from transformers import BertConfig, BertModel


class SentimentClassifier(nn.Module):
    def __init__(self, config, n_classes):
        super().__init__()
        self.bert = BertModel(config)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(config.hidden_size, n_classes)

    def forward(self, input_ids, attention_mask):
        _, pooled_output = self.bert(input_ids=input_ids, attention_mask=attention_mask)
        return self.out(self.drop(pooled_output))


config = BertConfig(vocab_size=200, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
model = SentimentClassifier(config, n_classes=3)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)

input_ids = torch.randint(5, 200, (8, 16))
attention_mask = torch.ones_like(input_ids)
targets = torch.randint(0, 3, (8,))
for epoch in range(3):
    optimizer.zero_grad()
    loss = loss_fn(model(input_ids, attention_mask), targets)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())

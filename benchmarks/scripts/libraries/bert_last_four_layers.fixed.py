import torch
from torch import nn
from transformers import BertConfig, BertModel


class LastFourLayers(nn.Module):
    def __init__(self, config, num_classes):
        super().__init__()
        self.bert = BertModel(config)
        self.classifier = nn.Linear(4 * config.hidden_size, num_classes)

    def forward(self, input_ids, attention_mask):
        outputs = self.bert(input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True)
        layers = outputs.hidden_states[-4:]
        cls = torch.cat([layer[:, 0] for layer in layers], dim=-1)
        return self.classifier(cls)


config = BertConfig(vocab_size=150, hidden_size=32, num_hidden_layers=4, num_attention_heads=2, intermediate_size=64)
model = LastFourLayers(config, num_classes=3)
input_ids = torch.randint(5, 150, (6, 12))
logits = model(input_ids, torch.ones_like(input_ids))
loss = nn.functional.cross_entropy(logits, torch.tensor([0, 1, 2, 0, 1, 2]))
loss.backward()
print(loss.item())

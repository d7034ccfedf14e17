import torch
from torch import nn
from transformers import AutoModel, DistilBertConfig


class QuestionTypeModel(nn.Module):
    def __init__(self, config, num_types):
        super().__init__()
        self.encoder = AutoModel.from_config(config)
        self.classifier = nn.Sequential(nn.Dropout(0.1), nn.Linear(config.hidden_size, num_types))

    def forward(self, input_ids, attention_mask):
        outputs = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
        return self.classifier(outputs.pooler_output)


config = DistilBertConfig(vocab_size=180, dim=32, n_layers=2, n_heads=2, hidden_dim=64)
model = QuestionTypeModel(config, num_types=6)
input_ids = torch.randint(5, 180, (4, 10))
mask = torch.ones_like(input_ids)
mask[2:, 7:] = 0
logits = model(input_ids, mask)
print(logits.argmax(-1))

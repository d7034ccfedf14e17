import torch
from torch import nn
from transformers import GPT2Config, GPT2Model


class RewardModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.backbone = GPT2Model(config)
        self.value = nn.Linear(config.n_embd, 1)

    def forward(self, input_ids, attention_mask):
        hidden = self.backbone(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return self.value(hidden[:, -1]).squeeze(-1)


torch.manual_seed(0)
config = GPT2Config(vocab_size=60, n_positions=32, n_embd=32, n_layer=2, n_head=2)
model = RewardModel(config).eval()

answers = [[5, 9, 12], [7, 7, 31, 40, 2, 18, 22, 35], [11, 3, 50, 6]]
lengths = torch.tensor([len(a) for a in answers])
input_ids = nn.utils.rnn.pad_sequence([torch.tensor(a) for a in answers], batch_first=True)
attention_mask = (torch.arange(input_ids.shape[1]) < lengths[:, None]).long()
with torch.no_grad():
    print(model(input_ids, attention_mask))

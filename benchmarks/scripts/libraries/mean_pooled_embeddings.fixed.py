import torch
from transformers import BertConfig, BertModel

torch.manual_seed(0)
config = BertConfig(vocab_size=100, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
model = BertModel(config, add_pooling_layer=False).eval()


def pad(sequences, length):
    ids = torch.zeros(len(sequences), length, dtype=torch.long)
    for i, seq in enumerate(sequences):
        ids[i, : len(seq)] = torch.tensor(seq)
    return ids, (ids != 0).long()


def encode(sequences, length):
    ids, mask = pad(sequences, length)
    with torch.no_grad():
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask.unsqueeze(-1).float()
    pooled = (hidden * weights).sum(dim=1) / weights.sum(dim=1)
    return torch.nn.functional.normalize(pooled, dim=-1)


corpus = encode([[7, 8, 9], [21, 22, 23, 24, 25, 26, 27, 28]], length=32)
query = encode([[7, 8, 9]], length=4)
print(query @ corpus.T)

"""BERT-like encoder: masked language modelling and next sentence prediction heads."""
import torch
from torch import nn


class BertEmbedding(nn.Module):
    def __init__(self, vocab_size, hidden, max_len, dropout=0.1):
        super().__init__()
        self.token = nn.Embedding(vocab_size, hidden, padding_idx=0)
        self.position = nn.Embedding(max_len, hidden)
        self.segment = nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids, segments):
        positions = torch.arange(ids.size(1), device=ids.device).unsqueeze(0).expand_as(ids)
        x = self.token(ids) + self.position(positions) + self.segment(segments)
        return self.dropout(self.norm(x))


class Bert(nn.Module):
    def __init__(self, vocab_size=100, hidden=32, layers=2, heads=4, max_len=24):
        super().__init__()
        self.embeddings = BertEmbedding(vocab_size, hidden, max_len)
        layer = nn.TransformerEncoderLayer(hidden, heads, dim_feedforward=4 * hidden, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=layers, enable_nested_tensor=False)
        self.pooler = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh())
        self.mlm = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.LayerNorm(hidden), nn.Linear(hidden, vocab_size))
        self.nsp = nn.Linear(hidden, 2)

    def forward(self, input_ids, token_type_ids, attention_mask):
        hidden = self.embeddings(input_ids, token_type_ids)
        hidden = self.encoder(hidden, src_key_padding_mask=attention_mask == 0)
        pooled = self.pooler(hidden[:, 0])
        return self.mlm(hidden), self.nsp(pooled)


def mask_tokens(inputs, mask_id, vocab_size, probability=0.15):
    labels = inputs.clone()
    chosen = torch.bernoulli(torch.full(labels.shape, probability)).bool()
    chosen[:, 1] = True
    chosen &= inputs != 0
    labels[~chosen] = -100
    replaced = torch.bernoulli(torch.full(labels.shape, 0.8)).bool() & chosen
    inputs = inputs.clone()
    inputs[replaced] = mask_id
    randomized = torch.bernoulli(torch.full(labels.shape, 0.5)).bool() & chosen & ~replaced
    words = torch.randint(4, vocab_size, labels.shape, dtype=torch.long)
    inputs[randomized] = words[randomized]
    return inputs, labels


def make_batch(batch_size, length, vocab_size):
    ids = torch.randint(4, vocab_size, (batch_size, length))
    lengths = torch.randint(length // 2, length + 1, (batch_size,))
    attention = (torch.arange(length)[None, :] < lengths[:, None]).long()
    ids = ids * attention
    segments = (torch.arange(length)[None, :] >= (lengths // 2)[:, None]).long() * attention
    return ids, segments, attention, torch.randint(0, 2, (batch_size,))


def main():
    torch.manual_seed(0)
    model = Bert()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=2)
    mlm_criterion, nsp_criterion = nn.CrossEntropyLoss(), nn.CrossEntropyLoss()
    model.train()
    for step in range(4):
        ids, segments, attention, is_next = make_batch(6, 20, 100)
        masked, labels = mask_tokens(ids, mask_id=3, vocab_size=100)
        prediction, relation = model(masked, segments, attention)
        loss = mlm_criterion(prediction.transpose(1, 2), labels) + nsp_criterion(relation, is_next)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        warmup.step()
        print(f"step {step} loss {loss.item():.3f} lr {warmup.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    main()

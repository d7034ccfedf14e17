"""A transformer language model with tied embedding and output weights, RMSNorm, and perplexity."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        norm = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return norm * self.weight


class TiedLM(nn.Module):
    def __init__(self, ntoken, ninp=32, nhead=4, nhid=64, nlayers=2, dropout=0.1):
        super().__init__()
        self.ninp = ninp
        self.src_mask = None
        self.encoder = nn.Embedding(ntoken, ninp)
        layer = nn.TransformerEncoderLayer(ninp, nhead, nhid, dropout, activation="gelu", norm_first=True)
        self.transformer = nn.TransformerEncoder(layer, nlayers, enable_nested_tensor=False)
        self.norm = RMSNorm(ninp)
        self.decoder = nn.Linear(ninp, ntoken, bias=False)
        self.decoder.weight = self.encoder.weight
        self.init_weights()

    def init_weights(self):
        initrange = 0.1
        self.encoder.weight.data.uniform_(-initrange, initrange)

    def _generate_square_subsequent_mask(self, sz):
        mask = (torch.triu(torch.ones(sz, sz)) == 1).transpose(0, 1)
        mask = mask.float().masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, float(0.0))
        return mask

    def forward(self, src):
        if self.src_mask is None or self.src_mask.size(0) != len(src):
            self.src_mask = self._generate_square_subsequent_mask(len(src)).to(src.device)
        x = self.encoder(src) * math.sqrt(self.ninp)
        x = self.transformer(x, self.src_mask)
        return self.decoder(self.norm(x))


def get_batch(source, i, bptt=12):
    seq_len = min(bptt, len(source) - 1 - i)
    data = source[i:i + seq_len]
    target = source[i + 1:i + 1 + seq_len].reshape(-1)
    return data, target


torch.manual_seed(0)
ntokens = 40
stream = torch.arange(400).remainder(ntokens).view(8, -1).t().contiguous()
model = TiedLM(ntokens)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
assert sum(p.numel() for p in model.parameters()) < 30_000

for epoch in range(1, 3):
    model.train()
    total_loss = 0.0
    for batch, i in enumerate(range(0, stream.size(0) - 1, 12)):
        data, targets = get_batch(stream, i)
        output = model(data)
        output_flat = output.view(-1, ntokens)
        loss = F.cross_entropy(output_flat, targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total_loss += len(data) * loss.item()
    cur_loss = total_loss / (len(stream) - 1)
    print(f"epoch {epoch} loss {cur_loss:5.2f} ppl {math.exp(cur_loss):8.2f}")

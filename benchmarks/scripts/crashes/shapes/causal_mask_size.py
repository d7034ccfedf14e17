"""The causal mask is as long as the context, the text is not."""

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, context=32):
        super().__init__()
        self.emb = nn.Embedding(40, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.head = nn.Linear(16, 40)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(context))

    def forward(self, ids):
        h = self.layer(self.emb(ids), src_mask=self.mask)  # raises TS111 at self.layer(self.emb(ids), src_mask=self.mask), cause
        return self.head(h)


model = Decoder()
opt = torch.optim.AdamW(model.parameters())
for _ in range(2):
    ids = torch.randint(0, 40, (2, 20))
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()

"""A transformer over padded text whose mask has time first, though the layers were made with the batch first."""

import torch
from torch import nn

PAD = 0


class TextEncoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(dim, nhead=2, dim_feedforward=32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.cls = nn.Linear(dim, 2)

    def forward(self, ids):
        mask = (ids == PAD).t()  # cause
        x = self.embed(ids)
        x = self.encoder(x, src_key_padding_mask=mask)  # raises TS111 at self.encoder(x, src_key_padding_mask=mask), cause
        return self.cls(x.mean(dim=1))


def batches(n):
    for _ in range(n):
        ids = torch.randint(1, 30, (6, 9))
        ids[:3, 7:] = PAD
        yield ids, torch.randint(0, 2, (6,))


model = TextEncoder(30, 16)
optimizer = torch.optim.Adam(model.parameters())
for step, (ids, labels) in enumerate(batches(4)):
    loss = nn.functional.cross_entropy(model(ids), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

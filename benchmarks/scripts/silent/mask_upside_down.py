"""A transformer encoder that attends to the padding alone."""
import torch
from torch import nn

torch.manual_seed(0)
PAD = 0


class Encoder(nn.Module):
    def __init__(self, words=40, d=24):
        super().__init__()
        self.embed = nn.Embedding(words, d, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(d, 4, 48, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(d, 2)

    def forward(self, ids):
        mask = ids != PAD  # fault: TS318 | fixed: mask = ids == PAD
        h = self.encoder(self.embed(ids), src_key_padding_mask=mask)  # fault: TS318
        keep = (ids != PAD).unsqueeze(-1)
        return self.out((h * keep).sum(1) / keep.sum(1))


def batch(n=32, length=14):
    ids = torch.randint(1, 40, (n, length))
    sizes = torch.randint(4, length - 1, (n,))
    ids[torch.arange(length)[None] >= sizes[:, None]] = PAD
    return ids, ((ids < 20) & (ids > 0)).sum(1).gt((ids >= 20).sum(1)).long()


model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(80):
    ids, y = batch()
    loss = nn.functional.cross_entropy(model(ids), y)  # fault: TS318
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())

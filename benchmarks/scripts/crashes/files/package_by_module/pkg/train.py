import torch
from torch import nn

from pkg.data import batches
from pkg.models.encoder import Encoder

model = Encoder(vocab=40, dim=16)
opt = torch.optim.AdamW(model.parameters())
for ids, mask, y in batches(3):
    loss = nn.functional.cross_entropy(model(ids, mask), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

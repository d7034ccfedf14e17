"""A language model with fewer positions than the chunks of its corpus have tokens."""
import torch
from torch import nn
from settings import Settings
from corpus import Corpus
from lm import LM

cfg = Settings()
data = Corpus(cfg)
net = LM(cfg)
opt = torch.optim.Adam(net.parameters(), 1e-3)
for x, y in torch.utils.data.DataLoader(data, 4):
    loss = nn.functional.cross_entropy(net(x).flatten(0, 1), y.flatten())
    opt.zero_grad(); loss.backward(); opt.step()

import torch
from torch import nn
class LM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg.words, cfg.width)
        self.pos = nn.Parameter(torch.zeros(1, cfg.context, cfg.width))
        self.out = nn.Linear(cfg.width, cfg.words)
    def forward(self, x):
        h = self.tok(x) + self.pos  # raises TS103 at self.tok(x) + self.pos
        return self.out(h)

"""A project of several files: the trainer."""

import torch
from lib.config import Config
from lib.model import build
from lib.train import fit

config = Config(width=24)
model = build(config)
fit(model, [(torch.randn(4, 10), torch.randint(0, 3, (4,))) for _ in range(3)], config)

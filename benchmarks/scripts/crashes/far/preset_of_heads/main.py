"""A preset of an encoder whose width its heads do not divide."""
import torch
from conf import load
from enc import Encoder
cfg = load("small")
net = Encoder(cfg)
net(torch.randn(2, 5, cfg["width"])).sum().backward()

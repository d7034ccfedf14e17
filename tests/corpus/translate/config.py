"""Hyperparameters."""
from dataclasses import dataclass


@dataclass
class Config:
    vocab_size: int = 30
    d_model: int = 32
    nhead: int = 4
    num_layers: int = 1
    dim_feedforward: int = 64
    dropout: float = 0.1
    max_len: int = 24
    batch_size: int = 16
    epochs: int = 5
    lr: float = 1e-3
    clip: float = 1.0
    seed: int = 0

"""Numbers."""

from dataclasses import dataclass


@dataclass
class Config:
    inputs: int = 10
    width: int = 16
    classes: int = 3
    lr: float = 0.1

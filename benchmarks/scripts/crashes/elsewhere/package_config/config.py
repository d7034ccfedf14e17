"""What can be chosen."""

from dataclasses import dataclass


@dataclass
class Config:
    image_size: int = 28
    channels: tuple = (8, 16)
    fc_inputs: int = 16 * 14 * 14  # cause
    classes: int = 10
    batch_size: int = 8
    epochs: int = 1

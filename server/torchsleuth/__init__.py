"""TorchSleuth: finds, explains and repairs mistakes in PyTorch code, while you edit and when you run."""

__version__ = "0.1.0"

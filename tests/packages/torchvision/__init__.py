"""A small stand-in for torchvision: models behave as its own do where they are built, changed and called."""

__version__ = "0.0"

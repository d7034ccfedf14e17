"""Networks by configuration."""

from .cnn import SmallCNN


def build_model(config):
    return SmallCNN(config.channels, config.fc_inputs, config.classes)

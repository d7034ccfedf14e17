"""Trains the network of a configuration."""

from config import Config
from engine import fit
from models import build_model

if __name__ == "__main__":
    config = Config()
    model = build_model(config)
    print(fit(model, config))

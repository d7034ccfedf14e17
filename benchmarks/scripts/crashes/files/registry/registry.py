"""Names of models."""

from models.mixer import Mixer

MODELS = {"mixer": Mixer}


def create(name, **options):
    return MODELS[name](**options)

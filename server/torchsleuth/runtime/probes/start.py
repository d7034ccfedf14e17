"""Starts the probe that a run was asked for, by its name."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

from torchsleuth.runtime.probes.desk import Desk

MODULES = {
    "nonfinite": "nonfinite",
    "overfit": "overfit",
    "lr": "rates",
    "gradcheck": "gradients",
    "independence": "independence",
    "determinism": "determinism",
    "workers": "workers",
}
"""The module of each kind; its class is called ``Probe``."""


class Probe(Protocol):
    """Works in the script's process from when torch has been imported."""

    def install(self, torch: Any) -> None: ...

    def ended(self) -> None:
        """The script has come to its end by itself, or by an exception: the last moment to send a result."""


def start(settings: dict[str, Any], desk: Desk, torch: Any) -> Probe:
    """`settings`: {kind, steps, …}."""
    module = import_module(f"torchsleuth.runtime.probes.{MODULES[settings['kind']]}")
    probe: Probe = module.Probe(desk, settings)
    probe.install(torch)
    return probe

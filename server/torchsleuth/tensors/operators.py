"""Properties of operators that their names tell."""

from __future__ import annotations


def is_in_place(path: str) -> bool:
    """Whether an operator or method of PyTorch writes into its operand: ``add_``; neither ``__add__`` nor Python's ``and_``."""
    package, _, name = path.rpartition(".")
    return package != "operator" and name.endswith("_") and not name.endswith("__")


__all__ = ["is_in_place"]

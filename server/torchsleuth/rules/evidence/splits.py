"""Calls that split data at random, in another order each time."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.rule import Analysis
from torchsleuth.schema import Edit
from torchsleuth.syntax import edits

_SEEDS = {
    "torch.utils.data.random_split": "generator",
    "torch.utils.data.dataset.random_split": "generator",
    "sklearn.model_selection.train_test_split": "random_state",
}
"""Functions that split at random, and the keyword that fixes the order."""


def unseeded(analysis: Analysis) -> dict[int, str]:
    """The calls of the document whose order nothing fixes, by their identities, with the keyword that they lack."""
    found = [(use.call, _SEEDS[use.path]) for use in analysis.names.uses if use.path in _SEEDS and use.call is not None]
    return {
        id(call): seed for call, seed in found if not any(one.arg in (seed, "shuffle", None) for one in call.keywords)
    }


def seeded(analysis: Analysis, calls: Iterable[ast.Call], seed: str) -> tuple[Edit, ...]:
    """The calls with one and the same seed."""
    source, value, changes = analysis.source, "0", list[Edit]()
    if seed == "generator":
        generator, imports = spelled(analysis, source.path, "torch.Generator")
        value = f"{generator}().manual_seed(0)"
        changes += imports
    changes += [edits.add_argument(source, call, f"{seed}={value}") for call in calls]
    return tuple(changes)

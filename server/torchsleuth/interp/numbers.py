"""Integers that only an execution tells, as far as they are known."""

from __future__ import annotations

from dataclasses import dataclass, field

from torchsleuth.tensors.dims import Size, Symbol
from torchsleuth.values import Element


@dataclass
class Numbers:
    """Bounds of symbols that stand for such integers, and the symbols that stand for some of them."""

    ranges: dict[Symbol, tuple[int, int]]
    """Bounds of the positions that loops go through, and of integers that a condition chooses."""
    drawn: dict[Symbol, tuple[int, int]] = field(default_factory=dict)
    """Bounds of integers that were drawn at random."""
    limits: dict[Symbol, tuple[Size, Size]] = field(default_factory=dict)
    """Bounds of integers, as sizes."""
    identities: dict[object, int] = field(default_factory=dict)
    """The results of ``id()`` for parameters: numbers that are only compared, by the layer and the name."""
    elements: dict[int | Element, Size] = field(default_factory=dict)
    """Those that stand for elements of tensors."""
    computed: dict[tuple[int, int], Size] = field(default_factory=dict)
    """Those that were computed from others, by the tensor that holds them and its version."""
    extrema: dict[tuple[str, frozenset[Size]], Size] = field(default_factory=dict)
    """Those that stand for the greatest or least of many, by these."""


__all__ = ["Numbers"]

"""What a loop runs over."""

from __future__ import annotations

from dataclasses import dataclass

from torchsleuth.interp.values import Value


@dataclass(frozen=True)
class Iteration:
    """`exact`: `items` are all the elements in order; otherwise they stand for however many there are."""

    items: tuple[Value, ...]
    exact: bool
    over_loader: bool = False

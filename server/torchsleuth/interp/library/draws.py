"""Random integers: sizes between known bounds that are drawn anew each time, and the proof that two sizes differ."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, Symbol

if TYPE_CHECKING:
    from torchsleuth.interp.interpreter import Interpreter

MAX_SYMBOLS = 4
"""Draws in one size that are followed."""


def draw(interp: Interpreter, low: int, high: int, name: str = "n") -> Size:
    """A random integer from `low` to `high`, both included."""
    if low >= high:
        return low if low == high else interp.fresh_size("?", positive=False)
    symbol = interp.fresh_symbol(name, low > 0)
    interp.draws[symbol] = (low, high)
    return dims.of(symbol)


def vary(interp: Interpreter, left: Size, right: Size) -> bool:
    """Whether two sizes are known to differ, or known to differ for some of the draws in them."""
    difference = dims.subtract(interp.resolved(left), interp.resolved(right))
    if isinstance(difference, int):
        return difference != 0
    symbols: list[Symbol] = list(dict.fromkeys(dims.symbols(difference)))
    if len(symbols) > MAX_SYMBOLS or any(symbol not in interp.draws for symbol in symbols):
        return False
    for values in product(*(interp.draws[symbol] for symbol in symbols)):
        value = dims.substitute(difference, dict(zip(symbols, values)))
        if value != 0:
            return True
    return False

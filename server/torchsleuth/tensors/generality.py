"""Sizes that names stand for: whether two of them differ whichever numbers the names are, or only now and then."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import lru_cache

from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size, Symbol

_SAMPLES = 48
_MULTIPLE = 3 * 2**10
"""A number that most of those divide which are written where a size is divided."""
_MOST_EQUAL = 0.05
"""Two sizes that are equal for a larger share of the samples are taken to be equal under a condition that the code relies
on, such as one size being a multiple of another."""


def differ_in_general(left: Size, right: Size, rigid: frozenset[Symbol], usual: Mapping[Symbol, int]) -> bool:
    """Whether two sizes, in which names stand for any number each, are different ones but for coincidences.

    `rigid`: the symbols that may be any number. `usual`: the numbers that some of them mostly are; sizes that are equal for
    those are not said to differ. A name and a product of others may be meant to be equal: nothing is said of these.
    """
    if dims.equal(left, right) is not None:
        return not dims.equal(left, right)
    one, other = frozenset(dims.symbols(left)), frozenset(dims.symbols(right))
    if not one | other <= rigid:
        return False
    if not one & other and one and other and (_is_product(left) or _is_product(right)):
        return False
    if usual and (one | other) <= frozenset(usual):
        known: dict[Symbol, Size] = {symbol: usual[symbol] for symbol in one | other}
        left_usual, right_usual = dims.substitute(left, known), dims.substitute(right, known)
        if left_usual == right_usual and not (dims.symbol(left) and dims.symbol(right)):
            return False
    return _rarely_equal(left, right)


def _is_product(size: Size) -> bool:
    return isinstance(size, Dim) and any(sum(power for _, power in monomial) > 1 for monomial, _ in size.terms)


@lru_cache(maxsize=4096)
def _rarely_equal(left: Size, right: Size) -> bool:
    names = sorted({*dims.symbols(left), *dims.symbols(right)}, key=lambda symbol: symbol.key)
    chance = random.Random(len(names))
    equal = 0
    multiples = [_MULTIPLE * 5**power for power in range(len(names))]
    for number in range(_SAMPLES):
        # One half of the samples are numbers of no relation, in the other half they are multiples of each other.
        values = (
            chance.sample(multiples, len(names)) if number % 2 else chance.sample(range(3, 98 + len(names)), len(names))
        )
        known: dict[Symbol, Size] = dict(zip(names, values))
        try:
            equal += dims.substitute(left, known) == dims.substitute(right, known)
        except ZeroDivisionError:
            continue
    return equal <= _MOST_EQUAL * _SAMPLES


_SMALLEST = 3
"""Sizes below are degenerate: they fit where others do not."""
_CHECKED = (*range(1, 1 << 10), *range(_MULTIPLE - 64, _MULTIPLE + 64))


@lru_cache(maxsize=4096)
def always_apart(left: Size, right: Size, degenerate: bool = True) -> bool:
    """Whether two sizes, which both depend on one and the same name, differ for each number that it may stand for; but for
    those below three, unless `degenerate`."""
    names = {*dims.symbols(left), *dims.symbols(right)}
    if len(names) != 1 or not dims.symbols(left) or not dims.symbols(right):
        return False
    (name,) = names
    numbers = _CHECKED if degenerate else _CHECKED[_SMALLEST - 1 :]
    try:
        return all(
            dims.substitute(left, {name: number}) != dims.substitute(right, {name: number}) for number in numbers
        )
    except ZeroDivisionError:
        return False

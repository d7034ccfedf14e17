"""What the heap costs, in accesses to slots: a fork nothing, undoing and joining what the branches wrote, whatever else there is."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from torchsleuth.tensors.dims import Symbol
from torchsleuth.values.heap import Heap


class Counted(dict[Any, Any]):
    """Slots that count how often they are looked at or written. Nobody goes through them."""

    accesses = 0

    def __getitem__(self, key: Any) -> Any:
        self.accesses += 1
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.accesses += 1
        super().__setitem__(key, value)

    def get(self, key: Any, default: Any = None) -> Any:
        self.accesses += 1
        return super().get(key, default)

    def __iter__(self) -> Any:
        raise AssertionError("the slots are gone through")

    items = keys = values = copy = __iter__


def heap() -> Heap:
    numbers = itertools.count()
    return Heap(lambda name, positive: Symbol(name, next(numbers), positive))


def cost(size: int, written: int, branches: int = 2) -> tuple[int, int]:
    """Accesses to slots, and the heap's own count, of branches that write so many of so many slots each, and their join."""
    own, slots = heap(), Counted({key: 0 for key in range(size)})
    before = own.work
    deltas = []
    for branch in range(branches):
        mark = own.mark()
        for key in range(written):
            own.set(slots, key, branch + 1)
        deltas.append(own.rollback(mark))
    own.join(deltas)
    return slots.accesses, own.work - before


def test_a_fork_costs_nothing() -> None:
    assert cost(100_000, 0) == (0, 0)


@pytest.mark.parametrize("written", [1, 10, 100])
def test_branches_cost_what_they_write(written: int) -> None:
    small, large = cost(100, written), cost(100_000, written)
    assert small == large
    assert large[0] <= 12 * written and large[1] <= 4 * written


def test_nested_branches_cost_what_is_written_in_them() -> None:
    own, slots = heap(), Counted({key: 0 for key in range(10_000)})

    def branches(depth: int) -> None:
        if depth == 0:
            own.set(slots, 0, 1)
            return
        deltas = []
        for _ in range(2):
            mark = own.mark()
            branches(depth - 1)
            deltas.append(own.rollback(mark))
        own.join(deltas)

    branches(8)
    # 256 writes, and at each of 511 joins and rollbacks the one slot again.
    assert slots.accesses <= 20 * 2**8 and own.work <= 8 * 2**8

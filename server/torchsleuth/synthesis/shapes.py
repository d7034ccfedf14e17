"""Shapes that have to fit: a small grammar of rewritings of one tensor, searched for those that make it so.

A rewriting is what is written behind an expression, ``.transpose(1, 2)``, with the shape that it gives. A way makes all
rewritings of one kind; ways are given in the order in which an author would think of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size

Shape = tuple[Size, ...]
Fits = Callable[[Shape], bool]


class Rewriting(NamedTuple):
    """`whole`: all that the tensor holds is still there, in an order that means the same."""

    suffix: str
    shape: Shape
    whole: bool = True


Way = Callable[[Shape], Iterator[Rewriting]]


def same(left: Size, right: Size) -> bool:
    return dims.equal(left, right) is True


def same_shape(left: Shape, right: Shape) -> bool:
    return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right))


def broadcast(left: Shape, right: Shape) -> Shape | None:
    """The shape that two shapes broadcast to, None where they do not or where that is not known."""
    rank = max(len(left), len(right))
    sizes: list[Size] = []
    for a, b in zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right):
        if same(a, b) or b == 1:
            sizes.append(a)
        elif a == 1:
            sizes.append(b)
        else:
            return None
    return tuple(sizes)


def class_indices(scores: Shape) -> Shape:
    """The shape of class indices for scores with their classes in dimension 1."""
    return (scores[0], *scores[2:]) if len(scores) > 1 else ()


# -- ways ------------------------------------------------------------------------------------------


def transposed(shape: Shape) -> Iterator[Rewriting]:
    """Every exchange of two dimensions, the last two first."""
    if len(shape) == 2:
        yield Rewriting(".T", (shape[1], shape[0]))
        return
    for first, second in ((len(shape) - 2, len(shape) - 1), *combinations(range(len(shape)), 2)):
        if first >= 0 and not same(shape[first], shape[second]):
            order = list(range(len(shape)))
            order[first], order[second] = second, first
            yield Rewriting(f".transpose({first}, {second})", tuple(shape[index] for index in order), False)


def rotated(shape: Shape) -> Iterator[Rewriting]:
    """The last dimension in front, or the first one at the end, the others in their order."""
    rank = len(shape)
    for order in ((rank - 1, *range(rank - 1)), (*range(1, rank), 0)) if rank > 2 else ():
        yield Rewriting(f".permute{order}", tuple(shape[index] for index in order), False)


def channels_first(shape: Shape) -> Iterator[Rewriting]:
    """The last dimension behind that of the batch: classes of a sequence or of an image."""
    rank = len(shape)
    if rank == 3:
        yield Rewriting(".transpose(1, 2)", (shape[0], shape[2], shape[1]))
    elif rank > 3:
        order = (0, rank - 1, *range(1, rank - 1))
        yield Rewriting(f".permute{order}", tuple(shape[index] for index in order))


def channels_last(shape: Shape) -> Iterator[Rewriting]:
    """The dimension behind that of the batch at the end: the coordinates of points."""
    rank = len(shape)
    if rank > 2:
        order = (0, *range(2, rank), 1)
        yield Rewriting(f".permute{order}", tuple(shape[index] for index in order))


def squeezed(shape: Shape) -> Iterator[Rewriting]:
    """Without a dimension of size 1, the last one first."""
    for index in range(len(shape) - 1, -1, -1):
        if shape[index] == 1:
            place = -1 if index == len(shape) - 1 and index > 1 else index
            yield Rewriting(f".squeeze({place})", (*shape[:index], *shape[index + 1 :]))


def unsqueezed(shape: Shape) -> Iterator[Rewriting]:
    """With one more dimension of size 1, behind the batch first, in front of it last."""
    for index in (*range(1, len(shape) + 1), 0):
        yield Rewriting(f".unsqueeze({index})", (*shape[:index], 1, *shape[index:]))


def flattened(shape: Shape) -> Iterator[Rewriting]:
    """One dimension for all elements."""
    if len(shape) > 1:
        yield Rewriting(".flatten()", (dims.product(shape),))


def rows(shape: Shape) -> Iterator[Rewriting]:
    """All dimensions but the last one merged: a row for each element of a sequence or of an image."""
    if len(shape) > 2:
        yield Rewriting(f".flatten(0, {len(shape) - 2})", (dims.product(shape[:-1]), shape[-1]))


def widened(shape: Shape, other: Shape) -> Iterator[str]:
    """Suffixes that give a tensor the rank of another so that it broadcasts to it, the most natural first: its dimensions
    keep to the front, as those of a batch do, and the last one to the end."""
    missing = len(other) - len(shape)
    if missing <= 0:
        return
    fits: list[tuple[tuple[int, ...], str]] = []
    for kept in combinations(range(len(other)), len(shape)):
        if all(same(other[place], size) or size == 1 for place, size in zip(kept, shape)):
            fits.append((kept, _indexing(kept, len(other))))
    fits.sort(key=lambda item: (item[0][:-1], -item[0][-1]) if len(shape) > 1 else (item[0], 0))
    yield from (text for kept, text in fits if kept[-1] != len(other) - 1 or kept[0] != missing)


def _indexing(kept: tuple[int, ...], rank: int) -> str:
    if rank - len(kept) == 1:
        place = next(index for index in range(rank) if index not in kept)
        return f".unsqueeze({place if place < rank - 1 else -1})"
    inner = ", ".join(":" if index in kept else "None" for index in range(rank))
    return f"[{inner}]"


# -- search ----------------------------------------------------------------------------------------


def fitting(shape: Shape, fits: Fits, *ways: Way) -> Iterator[Rewriting]:
    """The rewritings after which a shape fits, in the order of the ways; each once."""
    seen: set[str] = set()
    for way in ways:
        for made in way(shape):
            if made.suffix not in seen and fits(made.shape):
                seen.add(made.suffix)
                yield made


def agreeing(
    left: Shape, right: Shape, agree: Callable[[Shape, Shape], bool], of_left: Sequence[Way], of_right: Sequence[Way]
) -> Iterator[tuple[Rewriting | None, Rewriting | None]]:
    """The rewritings after which two shapes agree: of the left one alone, of the right one alone, of both."""
    yield from ((made, None) for made in fitting(left, lambda shape: agree(shape, right), *of_left))
    yield from ((None, made) for made in fitting(right, lambda shape: agree(left, shape), *of_right))
    everything = (list(fitting(shape, lambda _: True, *ways)) for shape, ways in ((left, of_left), (right, of_right)))
    yield from ((one, two) for one, two in product(*everything) if agree(one.shape, two.shape))

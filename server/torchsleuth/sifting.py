"""Those of several objects that are of a class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard, TypeVar, overload

A = TypeVar("A")
B = TypeVar("B")


def all_are(objects: Iterable[object], kind: type[A]) -> TypeGuard[Sequence[A]]:
    """Whether all of these are of one class."""
    return all(isinstance(one, kind) for one in objects)


@overload
def of_kind(objects: Iterable[object], kind: type[A], /) -> list[A]: ...
@overload
def of_kind(objects: Iterable[object], kind: type[A], other: type[B], /) -> list[A | B]: ...
def of_kind(objects: Iterable[object], *kinds: type[A]) -> list[A]:
    """Those that are of one of these classes, in their order."""
    return [one for one in objects if isinstance(one, kinds)]


@overload
def first_of(objects: Iterable[object], kind: type[A], /) -> A | None: ...
@overload
def first_of(objects: Iterable[object], kind: type[A], other: type[B], /) -> A | B | None: ...
def first_of(objects: Iterable[object], *kinds: type[object]) -> object:
    """The first that is of one of these classes, None where none is."""
    return next((one for one in objects if isinstance(one, kinds)), None)


__all__ = ["all_are", "first_of", "of_kind"]

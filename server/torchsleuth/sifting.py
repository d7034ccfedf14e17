"""Objects by their class: one as what it is, and those of several that are of a class."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeGuard, TypeVar, overload

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


@overload
def as_kind(one: object, kind: type[A], /) -> A | None: ...
@overload
def as_kind(one: object, kind: type[A], other: type[B], /) -> A | B | None: ...
@overload
def as_kind(one: object, kind: type[A], other: type[B], third: type[C], /) -> A | B | C | None: ...
def as_kind(one: object, *kinds: type[object]) -> object:
    """An object itself where it is of one of these classes, None where it is not."""
    return one if isinstance(one, kinds) else None


@overload
def all_are(objects: Iterable[object], kind: type[A], /) -> TypeGuard[Sequence[A]]: ...
@overload
def all_are(objects: Iterable[object], /, *kinds: type[object]) -> bool: ...
def all_are(objects: Iterable[object], *kinds: type[object]) -> bool:
    """Whether each of these is of one of these classes."""
    return all(isinstance(one, kinds) for one in objects)


def any_are(objects: Iterable[object], *kinds: type[object]) -> bool:
    """Whether one of these is of one of these classes."""
    return any(isinstance(one, kinds) for one in objects)


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


def only(objects: Collection[A]) -> A | None:
    """The one that there is, None where there are none or several."""
    return next(iter(objects)) if len(objects) == 1 else None


__all__ = ["all_are", "any_are", "as_kind", "first_of", "of_kind", "only"]

"""Questions with scalars of which only the type is known: an answer has to hold with each of some values for them."""

from __future__ import annotations

from typing import Any

from torchsleuth.oracle.execution import common
from torchsleuth.oracle.fake import HOLE_WITNESSES, Unsupported
from torchsleuth.oracle.sizes import map_sizes
from torchsleuth.tensors.spec import Hole, Outcome, Result, Undecided


def filled(asked: Any) -> list[Any]:
    """The question with values for what is not known, or the question itself where all is known."""
    choices = max((len(HOLE_WITNESSES.get(hole.type, ())) for hole in _holes(asked)), default=0)
    return [_with(asked, choice) for choice in range(choices)] or [asked]


def _with(asked: Any, choice: int) -> Any:
    def value(hole: Hole) -> Any:
        values = HOLE_WITNESSES.get(hole.type, (hole,))
        return values[choice % len(values)]

    return map_sizes(asked, value, Hole)


def whatever(outcomes: list[Outcome]) -> Outcome:
    """The outcome that holds with each of the values: sizes that differ are unknown."""
    first, *others = outcomes
    if all(one == first for one in others):
        return first
    results = [one for one in outcomes if isinstance(one, Result)]
    if len(results) < len(outcomes):
        return Undecided("whether it works depends on a value that is not known")
    try:
        value = common([one.value for one in results])
    except Unsupported as error:
        return Undecided(str(error))
    return Result(value, tuple(fact for fact in results[0].facts if all(fact in one.facts for one in results)))


def _holes(asked: Any) -> set[Hole]:
    found: set[Hole] = set()

    def note(hole: Hole) -> Hole:
        found.add(hole)
        return hole

    map_sizes(asked, note, Hole)
    return found


__all__ = ["filled", "whatever"]

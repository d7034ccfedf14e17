"""The renaming that turns the names in a state into those of a module, shared by the text and the run."""

from __future__ import annotations

from collections.abc import Iterable


def renaming(unexpected: Iterable[str], missing: Iterable[str], others: Iterable[str] = ()) -> tuple[str, str] | None:
    """The part of all names of a state that its module does not know, with its dot, and what to put in its place so that each
    missing name is there. `others`: names that both have, which have to stay what they are. None where that is not
    the whole difference."""
    given, wanted = tuple(unexpected), set(missing)
    for name in sorted(wanted) if given else ():
        old, new = _differing(given[0].split("."), name.split("."))
        if old and new and {one.replace(old, new) for one in given} == wanted and len(given) == len(wanted):
            if not any(old in one for one in others):
                return old, new
    return None


def renamed(state: str, old: str, new: str) -> str:
    """The text of a state with names in which `old` is replaced."""
    return f'{{name.replace("{old}", "{new}"): value for name, value in {state}.items()}}'


def _differing(one: list[str], other: list[str]) -> tuple[str, str]:
    """The parts of two dotted names between what they begin and end with alike, each with its dot."""
    start = next((place for place, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return "".join(f"{part}." for part in one), "".join(f"{part}." for part in other)

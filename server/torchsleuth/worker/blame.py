"""Which part of the code is to blame for deaths of the worker: one alone blames nothing, two at the same place do."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from torchsleuth.interp.parts import Part

DEATHS = 2
"""Deaths of one document in a row, with no answer in between, of which something in it is to blame."""
KILLS = 6
"""The same for deaths that the worker cannot have brought about: somebody else, or a lack of memory, killed it."""
SPREAD = 4
"""Deaths in a row that have no part in common, after which the whole text is not tried again."""
MAX_KEPT = 500
"""Parts and texts that are remembered."""


@dataclass(frozen=True)
class Death:
    """`running`: the parts that were being followed, the outermost first. `killed`: by somebody else."""

    running: tuple[Part, ...]
    killed: bool


class Blame:
    """The parts that are left out of analyses until they change."""

    def __init__(self) -> None:
        self._deaths: dict[str, list[Death]] = {}
        """By path, since the last answer."""
        self._parts: dict[tuple[str, ...], Part] = {}
        self._texts: dict[str, None] = {}

    @property
    def left_out(self) -> tuple[Part, ...]:
        return tuple(self._parts.values())

    def refuses(self, path: str, text: str) -> bool:
        """Whether a text is not to be tried again at all."""
        return bool(self._texts) and _fingerprint(path, text) in self._texts

    def answered(self, path: str) -> None:
        self._deaths.pop(path, None)

    def died(self, path: str, text: str, death: Death) -> None:
        """The worker died of a request, or it had to be killed."""
        deaths = self._deaths.setdefault(path, [])
        deaths.append(death)
        counted = [one for one in deaths if not one.killed]
        enough = len(counted) >= DEATHS or len(deaths) >= KILLS
        if not enough:
            return
        common = [part for part in death.running if any(_runs(part, one) for one in deaths[:-1])]
        if common:
            self._parts[common[-1].identity] = common[-1]
            _limit(self._parts)
        elif len(deaths) >= SPREAD or not any(one.running for one in deaths):
            self._texts[_fingerprint(path, text)] = None
            _limit(self._texts)
        else:
            return
        del self._deaths[path]


def _runs(part: Part, death: Death) -> bool:
    return any(part.identity == one.identity for one in death.running)


def _limit(kept: dict[str, None] | dict[tuple[str, ...], Part]) -> None:
    while len(kept) > MAX_KEPT:
        del kept[next(iter(kept))]  # type: ignore[arg-type]


def _fingerprint(path: str, text: str) -> str:
    return hashlib.sha256(f"{path}\0{text}".encode(errors="replace")).hexdigest()

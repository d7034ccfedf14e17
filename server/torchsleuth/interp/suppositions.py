"""Suppositions about arguments that nobody passes, and what came out of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torchsleuth.interp.inputs import ArgumentKey, Demand
from torchsleuth.interp.trace import Trace
from torchsleuth.syntax.shapes import Declared
from torchsleuth.tensors.dims import Size


@dataclass(frozen=True)
class Supposition:
    """Suppositions about arguments that nobody passes.

    `declared`: they have the shapes that are written down. `ranks`: they have this many dimensions, with these names.
    `sizes`: constructor parameters named like sizes are integers. `dtypes`: by parameter. `tensors`: parameters that are
    used as tensors are tensors. `count`: what those are that say how often a loop goes around. `general`: integers
    with different names are different.
    """

    declared: bool = False
    ranks: dict[ArgumentKey, tuple[str, ...]] = field(default_factory=dict)
    dtypes: dict[ArgumentKey, str] = field(default_factory=dict)
    sizes: bool = False
    tensors: bool = False
    counted: frozenset[ArgumentKey] = frozenset()
    count: int = 0
    general: bool = False


@dataclass(frozen=True)
class Trial:
    """The sightings of one run with suppositions, what operators asked of the arguments, the shapes that these turned
    out to have, and which of them say how often a loop goes around."""

    given: Supposition
    trace: Trace
    demands: dict[ArgumentKey, Demand]
    shapes: dict[ArgumentKey, tuple[Size, ...] | None]
    counted: frozenset[ArgumentKey]

    @property
    def sane(self) -> bool:
        """Whether the run went through without an error."""
        trace = self.trace
        return not (trace.failures or trace.conflicts or trace.unpackings or trace.incomplete)


@dataclass
class Entry:
    """Something that nothing calls. `lacking`: its tensor arguments whose rank stayed unknown. `counted`: its integers that
    say how often a loop goes around. `used`: whether there are
    arguments that are used as tensors, and nothing else says that they are. `complete`: it came to its
    end. `defaults`: integers in it are the defaults, and whoever calls may pass others. `places`: which facts were first recorded in it, `sightings`: which declared shapes."""

    run: Callable[[Supposition], Any]
    declared: dict[ArgumentKey, Declared] = field(default_factory=dict)
    lacking: set[ArgumentKey] = field(default_factory=set)
    demands: dict[ArgumentKey, Demand] = field(default_factory=dict)
    counted: set[ArgumentKey] = field(default_factory=set)
    sizes: bool = False
    used: bool = False
    complete: bool = False
    defaults: bool = False
    places: tuple[int, int] = (0, 0)
    sightings: tuple[int, int] = (0, 0)


NOTHING = Supposition()

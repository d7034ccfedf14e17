"""Outcomes of a run for a contract: the values that are returned, what it needed, and what went wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchsleuth.interp.inputs import Demand
from torchsleuth.interp.plans import Plan
from torchsleuth.interp.trace import Operation, Place, Sighting
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.requirements import Condition
from torchsleuth.values import (
    Site,
    Unknown,
)


@dataclass(frozen=True)
class Part:
    """A value that a function returns, as far as a contract tells it. `kind`: tensor, tuple, list, dict, record, value, unknown."""

    kind: str
    shape: tuple[Size, ...] | None = None
    dtype: str | None = None
    device: str | None = None
    parts: tuple[Part, ...] = ()
    names: tuple[str, ...] = ()
    text: str = ""
    cause: Unknown | None = None

    def tensors(self) -> Iterator[Part]:
        if self.kind == "tensor":
            yield self
        for part in self.parts:
            yield from part.tensors()

    @property
    def whole(self) -> bool:
        """Whether the ranks of all the tensors in it are known."""
        if self.kind == "tensor":
            return self.shape is not None
        return self.kind != "unknown" and all(part.whole for part in self.parts)


@dataclass(frozen=True)
class Call:
    """A call of a function of the document: what is passed for each parameter."""

    function: ast.AST
    passed: dict[str, Part]


@dataclass
class Outcome:
    """One run of an entry. `failure`: what went wrong. `returned`: whether it came to its end."""

    returned: bool = False
    failure: str | None = None
    result: Part = Part("unknown")
    inputs: dict[str, tuple[Size, ...] | None] = field(default_factory=dict)
    demands: dict[str, Demand] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    stuck: list[Operation] = field(default_factory=list)
    counted: frozenset[str] = frozenset()
    integers: frozenset[str] = frozenset()
    """Inputs that are used as sizes."""
    seen: dict[Place, Sighting] = field(default_factory=dict)
    """The tensor expressions in what was run, but those that some execution gave another kind of value."""
    calls: list[Call] = field(default_factory=list)
    """The calls of the document's functions."""
    unbatched: bool = False
    """Whether a layer of images or volumes is applied to one without a batch."""

    @property
    def works(self) -> bool:
        return self.returned and self.failure is None


@dataclass(frozen=True)
class Learned:
    """A comparison of sizes that something needs, in the symbols of the moment. `site`: of the operator or the test."""

    operator: str
    left: Size
    right: Size
    site: Site | None


@dataclass
class Running:
    """The record of a run of an entry. `concrete`: all that the caller chooses are numbers."""

    plan: Plan
    concrete: bool
    required: list[tuple[str, Size, Size]] = field(default_factory=list)
    learned: list[Learned] = field(default_factory=list)
    stuck: list[Operation] = field(default_factory=list)
    raised: bool = False


__all__ = ["Call", "Learned", "Outcome", "Part", "Running"]

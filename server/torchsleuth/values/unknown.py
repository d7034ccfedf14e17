"""Values of which nothing is known, and why nothing is known of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, TypeGuard

from torchsleuth.values.sites import Site

if TYPE_CHECKING:
    from torchsleuth.values.frames import Frame


class Reason(Enum):
    """Why a value is unknown: the closed list."""

    UNSPECIFIED = "unspecified"
    """No reason was recorded."""
    NAME = "name"
    """The name is bound nowhere that the analysis sees."""
    ATTRIBUTE = "attribute"
    """The attribute of something known is not modelled."""
    ITEM = "item"
    """The element of something known is not known."""
    CALL = "call"
    """The call of something known is not modelled, or its result depends on data."""
    OPERATION = "operation"
    """An operator on known values whose result is not known."""
    EXPRESSION = "expression"
    """A kind of expression that is not modelled."""
    DERIVED = "derived"
    """It was computed from something unknown, the cause."""
    ARGUMENT = "argument"
    """The parameter of a function that nothing calls, or that a call fills which is not known."""
    JOIN = "join"
    """Paths with values of different kinds meet."""
    ELEMENT = "element"
    """An element of a sequence that a loop goes through."""
    BUDGET = "budget"
    """A limit of the analysis was reached."""
    INTERNAL_ERROR = "internal error"
    """The analysis itself failed there."""


MAX_LINKS = 30
"""Links of a chain to the first cause; of a longer one, those in the middle are left out."""


class Unknown:
    """A value of which nothing is known; every operation on it is unknown, and silent.

    Each one stands for one value of the program: two reads of a name that was not bound anew give the same object, by
    which conditions on it are recognised (see values/conditions.py). As values, all are equal.

    `reason`: why it is unknown, at `site`. `cause`: the unknown value that this one was computed from. Only `UNKNOWN` has
    neither reason nor site, and stands for no value in particular.
    """

    __slots__ = ("attributes", "cause", "frame", "links", "node", "reason")

    def __init__(
        self,
        reason: Reason = Reason.UNSPECIFIED,
        node: ast.AST | None = None,
        frame: Frame | None = None,
        cause: Unknown | None = None,
    ) -> None:
        self.reason = reason
        if cause is not None and cause.links >= MAX_LINKS:
            *_, cause = cause.chain()
        self.cause = cause
        self.links: int = 0 if cause is None else cause.links + 1
        """How many of them the chain has."""
        self.attributes: dict[str, Unknown] | None = None
        """Those of its attributes that were read since something could have set them."""
        self.node = node
        self.frame = frame

    @property
    def site(self) -> Site | None:
        """Where it became unknown."""
        if self.node is None or self.frame is None:
            return None
        return Site(self.frame.source.span(self.node), self.node, self.frame)

    @property
    def is_one_value(self) -> bool:
        """Whether it stands for one value of the program."""
        return self.reason is not Reason.UNSPECIFIED

    @property
    def is_attribute(self) -> bool:
        """Whether it was read as an attribute of its cause."""
        read = self.cause.attributes if self.cause is not None else None
        return read is not None and any(one is self for one in read.values())

    def chain(self) -> Iterator[Unknown]:
        """Itself, its cause, the cause of that, and so on to the first."""
        link: Unknown | None = self
        while link is not None:
            yield link
            link = link.cause

    def attribute(self, name: str, node: ast.AST, frame: Frame) -> Unknown:
        """The value of an attribute of it: the same until something may have set it."""
        known = self.attributes
        if known is None:
            known = self.attributes = {}
        found = known.get(name)
        if found is None:
            found = known[name] = Unknown(Reason.DERIVED, node, frame, self)
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown)

    def __hash__(self) -> int:
        return hash(Unknown)

    def __repr__(self) -> str:
        return "UNKNOWN" if self.reason is Reason.UNSPECIFIED else f"<unknown: {self.reason.value}>"


UNKNOWN = Unknown()


def owners(value: object) -> Iterator[Unknown]:
    """The unknown values that an unknown value is an attribute of, and attributes of those in turn."""
    while isinstance(value, Unknown) and value.cause is not None and value.is_attribute:
        value = value.cause
        yield value


def is_unknown(value: object) -> TypeGuard[Unknown]:
    """Whether nothing is known of a value."""
    return type(value) is Unknown

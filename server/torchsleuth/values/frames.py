"""One activation of a function, and the state of a loop in it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.dims import Size
from torchsleuth.values import Function, Instance, Slots, Value
from torchsleuth.values.heap import Delta


@dataclass(eq=False)
class Frame:
    """`names`: locals (or globals of a module body). `call`: the call expression in `caller` that led here. `sizes`: what
    the names in annotated shapes stand for."""

    source: SourceText
    names: Slots
    globals: Slots
    closure: tuple[Slots, ...] = ()
    function: Function | None = None
    receiver: Value = None
    caller: Frame | None = None
    call: ast.Call | None = None
    depth: int = 0
    start: int = 0
    returned: Value = None
    returns: list[tuple[Value, Delta]] = field(default_factory=list)
    yields: list[Value] | None = None
    yields_all: bool = True
    """Whether those are all that a generator yields, in order, and not examples of them."""
    body: Callable[[Value], None] | None = None
    """Runs where a context manager that is written as a generator yields."""
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    loops: list[LoopState] = field(default_factory=list)
    sizes: dict[str, Size] = field(default_factory=dict)
    of_class: bool = False
    """Whether it is the body of a class."""
    certain: int = 0
    """Conditions that were not decided when it began."""

    @property
    def outermost(self) -> Frame:
        """The frame of the function that an entry point calls and that leads here; the entry point's own where this is it."""
        frame = self
        while frame.caller is not None and frame.caller.caller is not None and frame.caller.caller.caller is not None:
            frame = frame.caller
        return frame

    @property
    def scopes(self) -> tuple[Slots, ...]:
        """The local names that functions and classes see which are made here: not those of a class."""
        return self.closure if self.names is self.globals or self.of_class else (self.names, *self.closure)

    @property
    def path(self) -> str:
        return self.source.path

    def instance(self) -> Instance | None:
        return self.receiver if isinstance(self.receiver, Instance) else None


@dataclass(eq=False)
class LoopState:
    """Journal marks and the states of those paths that left the loop or the iteration early. `limit`: how many
    iterations are executed, None for all. `decided`: so far it is known that each iteration takes place. `ended`: that no
    other does, where a condition says so."""

    start: int
    iteration: int
    limit: int | None = None
    decided: bool = False
    ended: bool = False
    breaks: list[Delta] = field(default_factory=list)
    continues: list[Delta] = field(default_factory=list)

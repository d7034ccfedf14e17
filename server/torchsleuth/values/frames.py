"""One activation of a function, and the state of a loop in it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torchsleuth.sifting import as_kind
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.dims import Size
from torchsleuth.values import ClassValue, Function, Instance, Site, Slots, Value
from torchsleuth.values.changes import Delta
from torchsleuth.values.names import Names


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
    handling: list[Value] = field(default_factory=list)
    """The exceptions that handlers deal with now, the innermost last."""
    around: Frame | None = None
    """The frame that a comprehension is written in, whose frame this is."""
    of_class: ClassValue | None = None
    """The class whose body it is."""
    certain: int = 0
    """Conditions that were not decided when it began."""
    given: Mapping[str, Value] = field(default_factory=dict)
    """The values that the parameters were bound to at the call."""

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
        return self.closure if self.names is self.globals or self.of_class is not None else (self.names, *self.closure)

    @property
    def path(self) -> str:
        return self.source.path

    def instance(self) -> Instance | None:
        return as_kind(self.receiver, Instance)

    def at(self, moment: int) -> Scene:
        """The frame as it was at a moment."""
        return Scene(self, moment)


@dataclass(frozen=True)
class Scene:
    """A frame as it was at a moment: what is read of it later is not what the program has made of it since."""

    _frame: Frame
    moment: int = field(compare=False)

    @property
    def names(self) -> Mapping[Any, Value]:
        return self._at(self._frame.names)

    @property
    def globals(self) -> Mapping[Any, Value]:
        return self._at(self._frame.globals)

    @property
    def closure(self) -> tuple[Mapping[Any, Value], ...]:
        return tuple(map(self._at, self._frame.closure))

    @property
    def caller(self) -> Scene | None:
        """The scene of the call that led here: nothing of it has changed since."""
        return Scene(self._frame.caller, self.moment) if self._frame.caller is not None else None

    @property
    def call(self) -> ast.Call | None:
        return self._frame.call

    @property
    def function(self) -> Function | None:
        return self._frame.function

    @property
    def receiver(self) -> Value:
        return self._frame.receiver

    @property
    def returned(self) -> Value:
        """The result of the call: at its end, whatever the moment."""
        return self._frame.returned

    @property
    def source(self) -> SourceText:
        return self._frame.source

    @property
    def scope(self) -> ast.AST:
        """The text that is executed in it: of the function, or of the whole file."""
        return self.function.node if self.function is not None else parse(self.source)

    @property
    def path(self) -> str:
        return self._frame.path

    def instance(self) -> Instance | None:
        return self._frame.instance()

    def site(self, node: ast.AST) -> Site:
        """A place in the same frame, at the same moment."""
        return Site(self.source.span(node), node, self._frame, self.moment)

    def _at(self, slots: Mapping[Any, Value]) -> Mapping[Any, Value]:
        return slots.at(self.moment) if isinstance(slots, Names) else slots


@dataclass(eq=False)
class LoopState:
    """Journal marks and the states of those paths that left the loop or the iteration early. `limit`: how many
    iterations are executed, None for all. `decided`: so far it is known that each iteration takes place. `ended`: that no
    other does, where a condition says so. `lost`: what comes next is not known."""

    start: int
    iteration: int
    limit: int | None = None
    decided: bool = False
    ended: bool = False
    lost: bool = False
    breaks: list[Delta] = field(default_factory=list)
    continues: list[Delta] = field(default_factory=list)

"""Values that are used as something else than they are."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from torchsleuth.interp.signatures import Misfit
from torchsleuth.values import (
    AnyModule,
    Bound,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    NamedResult,
    Parameters,
    Record,
    Site,
    Value,
    Wrapped,
)

P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)
Callback = tuple[Value, Function, tuple[str, ...], ast.expr]
Absent = tuple[str, str, tuple[str, ...], tuple[str, ...]]
Lacking = tuple[LibraryModule | LibraryObject, str, tuple[str, ...], bool]
Unset = tuple[Instance, str, tuple[str, ...], bool]


@dataclass(frozen=True)
class Refusal:
    """A comparison that a function asks of its arguments, and that they do not fulfil: ``left`` and ``right`` with their values."""

    operator: str
    left: ast.expr
    right: ast.expr
    values: tuple[Value, Value]


@dataclass(frozen=True)
class Rejection:
    """The cause of an error that a framework raises: a reason of the catalogue of messages, the object whose argument or method `part` is to
    blame (None: an argument of the call itself), and what is told of it."""

    reason: str
    subject: Value
    part: str
    told: tuple[Value, ...]


@dataclass(frozen=True)
class Way(Generic[P]):
    """A way of misusing a value, with what is recorded of it: the value, or more than that."""

    name: str


@dataclass(frozen=True)
class Misuse(Generic[P_co]):
    """A value that is used as something else than it is."""

    way: Way[P_co]
    site: Site
    value: P_co
    first: Site | None = None


AnyMisuse = Misuse[Any]

UNCALLED: Way[Value] = Way("uncalled")
"""A method where its result is needed."""

EXHAUSTED: Way[Parameters | ListValue] = Way("exhausted")
"""An iterator that something, at `first`, has gone through."""

RESULT: Way[NamedResult] = Way("result")
"""The result of load_state_dict(), taken for the module."""

PICKLED: Way[LibraryObject] = Way("pickled")
"""A file with an object of a class, read with weights_only."""

UNTOLD: Way[LibraryObject] = Way("untold")
"""An optimizer or a schedule whose step() lacks its argument."""

PAIR: Way[NamedResult] = Way("pair")
"""The pair that ``torch.max(x, dim)`` gives, taken for a tensor."""

KEY: Way[tuple[DictValue, str]] = Way("key")
"""An entry that a dictionary has not."""

GROUPS: Way[Bound] = Way("groups")
"""A name for an index of an optimizer's list of groups."""

OPTION_SET: Way[tuple[LibraryObject, str]] = Way("option_set")
"""An option of an optimizer that is set on the optimizer itself."""

SIZE_SET: Way[tuple[LibraryModule, str]] = Way("size_set")
"""A size of a layer that is set on the layer when it has its weights."""

UNMADE: Way[ClassValue] = Way("unmade")
"""The class of a module, taken for the module."""

SUBSCRIPTED: Way[Bound] = Way("subscripted")
"""A method of a tensor, subscripted."""

CALLED: Way[Value] = Way("called")
"""A tuple, such as a shape, a tensor, a dtype or a ModuleList, called."""

MOVED: Way[tuple[Value, ...]] = Way("moved")
"""A tuple of tensors, moved."""

REPEATED: Way[AnyModule] = Way("repeated")
"""One module several times in a list."""

PARAMETER: Way[Value] = Way("parameter")
"""A tensor put in the place of a parameter or module."""

FLAG: Way[Bound] = Way("flag")
"""``model.train`` as a condition."""

MISFIT: Way[tuple[Value, Misfit]] = Way("misfit")
"""A call whose arguments do not fit the parameters: the callee, and what does not fit."""

CALLBACK: Way[Callback] = Way("callback")
"""A function that cannot be called as it will be: the callee, its function, what it is given, and where it is passed."""

ABSENT: Way[Absent] = Way("absent")
"""A name that a module or class of the library has not: that, the name, those that are like it, and where else it is."""

LACKING: Way[Lacking] = Way("lacking")
"""An attribute that an object of the library has not: that, the name, those that are like it, and whether tensors have it."""

OF_RECORD: Way[tuple[Record, str, tuple[str, ...]]] = Way("of_record")
"""One that the result of a model has not: that, the name, and those that are like it."""

SEES_AHEAD: Way[str] = Way("sees_ahead")
"""An encoder with a head for the next token: the name of its class; `first`: its configuration."""

UNSET: Way[Unset] = Way("unset")
"""One that nothing gives an object of the user's, likewise."""

WRAPPED: Way[tuple[Wrapped, str]] = Way("wrapped")
"""One that the module inside of a wrapper has."""

NEVER_WRAPPED: Way[tuple[Instance, str]] = Way("never_wrapped")
"""``model.module`` of one that is in no wrapper."""

SELFLESS: Way[Instance] = Way("selfless")
"""An attribute of ``self``, read as a variable that nothing binds."""

UNBOUND: Way[str] = Way("unbound")
"""A name that the program binds, though not before it is read, or no longer."""

FORWARDLESS: Way[Instance] = Way("forwardless")
"""A module that is called, and has no ``forward``."""

UNMODULE: Way[tuple[str, Value, tuple[str, ...]]] = Way("unmodule")
"""A child of a container that is no module: the container, the child, and modules that are named like it."""

UNTENSOR: Way[tuple[str, Value]] = Way("untensor")
"""A module, an array or another object for a tensor: what it is given to, and the object."""

KIND: Way[tuple[str, object]] = Way("kind")
"""A use that Python or PyTorch refuses for a value of this kind: how it is used, and what that says of it."""

REFUSED: Way[Refusal] = Way("refused")
"""Arguments that the code itself refuses, by an ``assert`` or a test that raises."""

REJECTED: Way[Rejection] = Way("rejected")
"""A call of a framework that raises an error, as it was set up."""

NOTICED: Way[Rejection] = Way("noticed")
"""One that goes on, and does not do what it was set up for."""

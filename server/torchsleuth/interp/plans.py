"""Plans of how a module or function is run for its contract: the integers that its caller chooses, the inputs, and how it is made."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from torchsleuth.interp.compounds import Compound
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, Symbol
from torchsleuth.values import (
    ClassValue,
    Function,
    Value,
)
from torchsleuth.values.frames import Frame


@dataclass
class Setting:
    """An integer that whoever calls chooses. `path`: how the caller calls it, with the name of the configuration that it is a
    field of. `symbol` stands for it, `value` does where the engine needs a number. `default`: its own. `counted`: it says how
    often a loop goes around; `free`: that makes no difference. `called`: it is passed with the inputs of a module. `maker`: the
    class or function whose parameter it is, where that makes the module."""

    path: str
    symbol: Symbol
    value: int | None = None
    default: Value = None
    counted: bool = False
    free: bool = False
    called: bool = False
    maker: str = ""

    @property
    def given(self) -> Size:
        return dims.of(self.symbol) if self.value is None else self.value


@dataclass(frozen=True)
class Configuration:
    """An argument that is read for its fields. `cls`: its class, where that is known. `integers`: the fields that whoever makes it
    chooses; `read`: all that are read."""

    cls: ClassValue | None
    integers: tuple[str, ...]
    read: tuple[str, ...]


@dataclass
class Plan:
    """The arguments of an entry. `configurations`: by parameter of the constructor."""

    owner: ClassValue | None
    function: Function
    settings: dict[str, Setting] = field(default_factory=dict)
    configurations: dict[str, Configuration] = field(default_factory=dict)
    sequences: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Parameters that are several integers or tensors: the paths of those."""
    compounds: dict[str, Compound] = field(default_factory=dict)
    """Parameters that are read for their parts, which are tensors: among the sequences, too."""
    tuples: set[str] = field(default_factory=set)
    """Those of them that have to be tuples."""
    tensors: dict[str, ast.arg] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    """Parameters of the function that are a tensor or None, and None here."""
    shapes: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    given: dict[str, ast.expr] = field(default_factory=dict)
    """Arguments of the constructor that are no sizes, as a call in the document passes them."""
    floats: frozenset[str] = frozenset()
    """Parameters of the constructor that are numbers and no sizes."""
    aliases: dict[Symbol, str] = field(default_factory=dict)
    """Variables that sizes of the inputs are unpacked into."""
    objects: frozenset[str] = frozenset()
    """Parameters of the constructor that nothing tells of, and that the class calls later."""
    maker: Maker | None = None
    """The code that makes the module, where it is not made from its parameters alone."""
    taken: frozenset[str] = frozenset()
    """Parameters of the constructor that are what the maker passes, where everything else is chosen."""


@dataclass(frozen=True)
class Maker:
    """Code that makes a module on its way: a class whose constructor does, or a function. `frame`: of its document."""

    plan: Plan
    frame: Frame


__all__ = ["Configuration", "Maker", "Plan", "Setting"]

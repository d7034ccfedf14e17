"""The arguments of a call, as the model of what is called sees it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchsleuth.sifting import as_kind
from torchsleuth.tensors.device import Device, parse
from torchsleuth.tensors.spec import Native
from torchsleuth.values import HasArguments, Value
from torchsleuth.values.frames import Frame


@dataclass(frozen=True)
class Arguments(HasArguments):
    """One call as a library model sees it. `exact`: no unknown ``*args`` or ``**kwargs`` were passed."""

    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    node: ast.AST
    frame: Frame
    exact: bool = True
    written: bool = True
    """Whether the arguments are those that stand in the call: not so for the later parts of a Sequential."""
    callee: Native | None = None
    """The callee, where it is a library's."""

    @property
    def path(self) -> str:
        """The public name of what is called, empty where it is not a library's."""
        return "" if self.callee is None else self.callee.path

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def expression(self) -> ast.Call | None:
        """The call as it is written, None where something else calls: an operator, a loop, a decorator."""
        return as_kind(self.node, ast.Call)


def device_of(value: Value) -> Device | None:
    """The device that a ``device=`` argument names."""
    match value:
        case Device():
            return value
        case str():
            return parse(value)
        case int() if not isinstance(value, bool):
            return Device("cuda", value)
    return None

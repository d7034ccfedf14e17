"""Why an expression is unknown: what its evaluation gave gets a reason, a place, and the unknown that it comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim
from torchsleuth.tensors.spec import Native, TensorSpec
from torchsleuth.values import UNKNOWN, Bound, Reason, Tensor, Unknown, Value
from torchsleuth.values.frames import Frame

_OF_KNOWN_PARTS: dict[type[ast.AST], Reason] = {
    ast.Name: Reason.NAME,
    ast.Attribute: Reason.ATTRIBUTE,
    ast.Subscript: Reason.ITEM,
    ast.Call: Reason.CALL,
    ast.BinOp: Reason.OPERATION,
    ast.UnaryOp: Reason.OPERATION,
    ast.Compare: Reason.OPERATION,
    ast.BoolOp: Reason.OPERATION,
    ast.IfExp: Reason.JOIN,
}
MAX_VALUES = 4
"""Different values of one expression that are kept."""


def explained(value: Value, node: ast.AST, frame: Frame, cause: Unknown | None) -> tuple[Value, Unknown | None]:
    """The value that an expression gave, and the unknown in it; both with a reason. `cause`: the first part of it that is
    unknown."""
    if type(value) is Unknown:
        value = reasoned(value, node, frame, cause)
        return value, value
    if type(value) is Tensor and is_obscure(value.spec):
        if value.obscured is None:
            value.obscured = reasoned(UNKNOWN, node, frame, cause)
        return value, value.obscured
    if type(value) is Bound and type(value.receiver) is Tensor and is_obscure(value.receiver.spec):
        return value, value.receiver.obscured
    return value, None


def is_obscure(spec: TensorSpec) -> bool:
    """Whether the shape or one of the sizes is not known, nor has it a name."""
    if spec.shape is None:
        return True
    return spec.symbolic and any(dims.text(size) == "?" for size in of_kind(spec.shape, Dim))


def bound(value: Value, target: ast.AST, frame: Frame, cause: Unknown | None) -> Value:
    """The value that a name is bound to; of an element of something unknown, that is the cause."""
    if type(value) is Unknown and value.reason is Reason.UNSPECIFIED:
        return Unknown(Reason.ELEMENT if cause is None else Reason.DERIVED, target, frame, cause)
    return value


def reasoned(found: Unknown, node: ast.AST, frame: Frame, cause: Unknown | None) -> Unknown:
    """The unknown that an expression gave, with a reason if it has none. `cause`: the last part of it that is unknown."""
    if found.reason is not Reason.UNSPECIFIED:
        return found
    if cause is not None:
        return Unknown(Reason.DERIVED, node, frame, cause)
    return Unknown(_OF_KNOWN_PARTS.get(type(node), Reason.EXPRESSION), node, frame)


def argument(value: Value, node: ast.arg, frame: Frame) -> Value:
    """The value of a parameter: one of which nothing is known is so because of the call."""
    if type(value) is Unknown and value.reason is Reason.UNSPECIFIED:
        return Unknown(Reason.ARGUMENT, node, frame)
    if isinstance(value, Tensor) and value.obscured is None and is_obscure(value.spec):
        value.obscured = Unknown(Reason.ARGUMENT, node, frame)
    return value


def dotted(node: ast.AST, frame: Frame) -> str:
    """An expression as the user would look it up: ``yaml.safe_load`` also where it is imported under another name."""
    match node:
        case ast.Attribute():
            return f"{dotted(node.value, frame)}.{node.attr}"
        case ast.Name():
            value = as_kind(frame.globals.get(node.id), Native)
            return value.path if value is not None else node.id
    return " ".join(ast.unparse(node).split())


@dataclass
class Watch:
    """Collects the values of the expressions of some lines of one file while it is analysed."""

    path: str
    first: int
    last: float
    values: dict[ast.expr, list[Value]] = field(default_factory=dict)

    def see(self, node: ast.expr, value: Value, frame: Frame) -> None:
        if frame.path != self.path or not self.first <= node.lineno <= self.last:
            return
        seen = self.values.setdefault(node, [])
        if len(seen) < MAX_VALUES and not any(value is one for one in seen):
            seen.append(value)

    def expressions(self) -> Iterator[tuple[ast.expr, list[Value]]]:
        """In the order of the text, the outer before the inner ones."""
        yield from sorted(self.values.items(), key=lambda item: _order(item[0]))


def _order(node: ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, -(node.end_lineno or 0), -(node.end_col_offset or 0)

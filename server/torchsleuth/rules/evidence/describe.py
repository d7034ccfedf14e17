"""Words for tensors, layers and shapes in messages, and the trail of where a size came from."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.schema import Related
from torchsleuth.syntax.forms import is_function_call
from torchsleuth.tensors import dims
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import LibraryModule, Origin, Tensor
from torchsleuth.values.frames import Scene

MAX_NAME = 40
_MAX_ORIGINS = 12
"""Operators that a tensor is followed through."""


def shape_text(spec: TensorSpec) -> str:
    """``(64, 3, H, W)``."""
    if spec.shape is None:
        return "of unknown shape"
    return dims.shape_text(spec.shape)


def expression_text(node: ast.AST | None, fallback: str) -> str:
    if node is None:
        return fallback
    text = " ".join(ast.unparse(node).split())
    return f"`{text}`" if len(text) <= MAX_NAME else fallback


def argument_nodes(operation: Operation) -> list[ast.expr]:
    """The expressions that an operation was written with, receiver first for a method."""
    node = operation.site.node
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.UnaryOp():
            return [node.operand]
        case ast.AugAssign():
            return [node.target, node.value]
    if operation.target == "operator.setitem" or (operation.target == "Tensor.__bool__" and not _is_written_bool(node)):
        return [node] if isinstance(node, ast.expr) else []
    match node:
        case ast.Subscript():
            whole = node.value
            if operation.target == "Tensor.size" and isinstance(whole, ast.Attribute):
                whole = whole.value  # x of x.shape[1]
            return [whole, node.slice]
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.Subscript() if operation.target == "Tensor.__index__":
            return [node.slice]
    if operation.target in ("Tensor.__iter__", "Tensor.__format__"):
        return [node] if isinstance(node, ast.expr) else []
    match node:
        case ast.Call() if operation.target.startswith("Tensor.__"):
            return list(node.args)
        case ast.Call():
            receiver = (
                [node.func.value]
                if operation.target.startswith("Tensor.") and isinstance(node.func, ast.Attribute)
                else []
            )
            return [*receiver, *node.args]
    return []


def _is_written_bool(node: ast.AST) -> bool:
    """``bool(x)``, where a condition asks the same of ``x`` itself."""
    return is_function_call(node, "bool")


def operand_node(operation: Operation, index: int) -> ast.expr | None:
    """The expression of an operand, None where it is not written there (inside a Sequential, say)."""
    if not operation.written:
        return None
    nodes = argument_nodes(operation)
    return nodes[index] if index < len(nodes) and not isinstance(nodes[index], ast.Starred) else None


def layer_text(module: LibraryModule) -> str:
    """``fc1 = Linear(8192, 10)``, as the user knows the layer."""
    name = f"{module.name}" if module.name and not module.name.isdigit() else ""
    return f"`{name}` ({module.type_name})" if name else module.type_name


_SIGNS = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "matmul": "@"},
    **{"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "pow": "**", "floordiv": "//", "mod": "%"},
    **{"and": "&", "or": "|", "xor": "^", "invert": "~", "lshift": "<<", "rshift": ">>", "neg": "-"},
    **{"getitem": "indexing", "setitem": "assignment"},
}


def operator_text(operation: Operation) -> str:
    written = operation.name
    name = written.strip("_")
    if written.startswith("__i") and name[1:] in _SIGNS:
        return f"{_SIGNS[name[1:]]}="
    return _SIGNS.get(name, name) if operation.target.startswith("operator.") else name


def origin_trail(tensor: Tensor, name: str) -> list[Related]:
    """Where the tensor's size was made: the operator that last changed the shape."""
    origin = _made_by(tensor, lambda spec: spec.shape == tensor.spec.shape)
    if origin is None:
        return []
    inputs = [shape_text(spec) for spec in origin.inputs[:2] if spec.shape is not None]
    operator = origin.bare_name
    if inputs:
        text = message(
            "related.origin",
            tensor=name,
            shape=shape_text(tensor.spec),
            operator=operator,
            inputs=" and ".join(inputs),
        )
    else:
        text = message("related.origin.plain", tensor=name, shape=shape_text(tensor.spec))
    span = origin.site.span
    return [span.related(text)]


def dtype_trail(tensor: Tensor, name: str) -> list[Related]:
    """Where the tensor got its dtype."""
    origin = _made_by(tensor, lambda spec: spec.dtype == tensor.spec.dtype)
    if origin is None:
        return []
    span, text = origin.site.span, message("related.origin.plain", tensor=name, shape=tensor.spec.dtype)
    return [span.related(text)]


def _made_by(tensor: Tensor, alike: Callable[[TensorSpec], bool]) -> Origin | None:
    """The last operator on the way to a tensor that none of whose inputs is like the tensor."""
    origin = tensor.origin
    for _ in range(_MAX_ORIGINS):
        pairs = zip(origin.sources, origin.inputs) if origin is not None else ()
        before = next((source.origin for source, spec in pairs if alike(spec)), None)
        if before is None:
            break
        origin = before
    return origin


def call_trail(frame: Scene, limit: int = 2) -> list[Related]:
    """The calls that led into the frame, innermost first; of those further out only the one that comes from another file."""
    trail: list[Related] = []
    current: Scene | None = frame
    length = 0
    while current is not None and current.call is not None and current.caller is not None:
        span = current.caller.source.span(current.call)
        inside = all(place.path == frame.path for place in trail)
        if length < limit or (inside and span.path != frame.path):
            trail.append(span.related(message("related.call"), call=True))
        current, length = current.caller, length + 1
    return trail

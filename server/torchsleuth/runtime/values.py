"""Describes values of the user's frames for the crash report, without calling anything of the user's."""

from __future__ import annotations

import ast
import math
import sys
from collections import OrderedDict, defaultdict
from types import FrameType
from typing import Any

from torchsleuth.runtime.recorder import describe

MAX_ELEMENTS_READ = 4_000_000
"""Tensors up to this size have their range read, once, after the crash."""
MAX_ITEMS = 8
MAX_KEYS = 60
_PLAIN = (int, float, bool, str, type(None))
_MAPPINGS = (dict, OrderedDict, defaultdict)


def is_tensor(value: Any) -> bool:
    return any(
        base.__name__ == "Tensor" and base.__module__ in ("torch", "torch._tensor") for base in type(value).__mro__
    )


def is_module(value: Any) -> bool:
    return any(
        base.__name__ == "Module" and base.__module__ == "torch.nn.modules.module" for base in type(value).__mro__
    )


def is_a(value: Any, *names: str) -> bool:
    """Whether a class of one of these names is among those of a value."""
    return any(base.__name__ in names for base in type(value).__mro__)


def describe_value(value: Any, depth: int = 0) -> dict[str, Any]:
    """A JSON-able description; never raises."""
    try:
        return _describe(value, depth)
    except Exception:
        return {"kind": "object", "type": type(value).__name__}


def _describe(value: Any, depth: int) -> dict[str, Any]:
    name = type(value).__name__
    if is_tensor(value):
        return _tensor(value)
    if is_module(value):
        found: dict[str, Any] = {"kind": "module", "type": name}
        if is_a(value, "ModuleDict"):
            found["keys"] = [_short(key) for key in list(value.__dict__["_modules"])[:MAX_KEYS]]
        return found
    if type(value) in _PLAIN:
        text = value[:80] if isinstance(value, str) else value
        return {"kind": "value", "type": name, "value": text if not isinstance(text, float) else repr(text)}
    if isinstance(value, tuple | list | set) and depth < 2:
        items = [describe_value(item, depth + 1) for item in list(value)[:MAX_ITEMS]]
        return {"kind": "sequence", "type": name, "length": len(value), "items": items}
    if type(value) in _MAPPINGS:
        keys = [key for key in list(value)[:MAX_KEYS] if type(key) in (str, int)]
        found = {"kind": "mapping", "type": name, "length": len(value), "keys": [_short(key) for key in keys]}
        if depth < 2:  # of other values nothing but the kind: a configuration may hold secrets
            found["items"] = [
                _tensor(item) if is_tensor(item) else {"kind": "object", "type": type(item).__name__}
                for item in list(value.values())[:MAX_ITEMS]
            ]
        return found
    if name == "ndarray":
        return {"kind": "array", "type": name, "shape": list(value.shape), "dtype": str(value.dtype)}
    return {"kind": "object", "type": name, "library": type(value).__module__.partition(".")[0]}


def _short(key: str | int) -> str | int:
    return key[:80] if isinstance(key, str) else key


def _tensor(value: Any) -> dict[str, Any]:
    torch = sys.modules["torch"]

    with torch._C.DisableTorchFunction():
        found = {"kind": "tensor", "type": type(value).__name__, **describe(value)}
        found["contiguous"] = value.layout == torch.strided and value.is_contiguous()
        found["leaf"] = value.is_leaf
        found["grad_fn"] = None if value.grad_fn is None else type(value.grad_fn).__name__
        found.update(_range("range", value))
        base = value._base if value._is_view() else None
        if base is not None and base.dtype == value.dtype == torch.int64 and base.dim() <= value.dim():
            found.update(_range("whole_range", base))  # of the labels that these were cut out of
    return found


def _range(name: str, value: Any) -> dict[str, Any]:
    """The least and the largest element, where that is cheap to read."""
    torch = sys.modules["torch"]
    if value.device.type != "cpu" or not 0 < value.numel() <= MAX_ELEMENTS_READ or value.is_complex():
        return {}
    low, high = (float(part) for part in torch.aminmax(value.detach()))
    return {name: [low, high] if math.isfinite(low) and math.isfinite(high) else None}


def evaluate(node: ast.expr, frame: FrameType) -> tuple[bool, Any]:
    """(known, value) of a name, an attribute chain or a constant index, read from the frame without running
    properties, ``__getattr__`` or any other function."""
    if isinstance(node, ast.Name):
        for scope in (frame.f_locals, frame.f_globals):
            if node.id in scope:
                return True, scope[node.id]
    elif isinstance(node, ast.Constant):
        return True, node.value
    elif isinstance(node, ast.Attribute):
        known, owner = evaluate(node.value, frame)
        return _attribute(owner, node.attr) if known else (False, None)
    elif isinstance(node, ast.Subscript):
        known, owner = evaluate(node.value, frame)
        known_index, index = evaluate(node.slice, frame)
        if known and known_index and type(owner) in (list, tuple, dict):
            try:
                return True, owner[index]
            except Exception:
                return False, None
        if known and type(owner).__name__ == "Tensor" and type(owner).__module__ == "torch":
            return _cut(owner, node.slice, frame)
    return False, None


def _cut(tensor: Any, index: ast.expr, frame: FrameType) -> tuple[bool, Any]:
    """``row[start : start + 6]``, by whole numbers alone."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    bounds = []
    for part in parts:
        ends = [part.lower, part.upper, part.step] if isinstance(part, ast.Slice) else [part]
        numbers = [None if end is None else _whole(end, frame) for end in ends]
        if any(number is None and end is not None for number, end in zip(numbers, ends)):
            return False, None
        bounds.append(slice(*numbers) if isinstance(part, ast.Slice) else numbers[0])
    try:
        with sys.modules["torch"]._C.DisableTorchFunction():
            return True, tensor.detach()[tuple(bounds)]
    except Exception:
        return False, None


def _whole(node: ast.expr, frame: FrameType) -> int | None:
    """A whole number, or a sum of such."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        left, right = _whole(node.left, frame), _whole(node.right, frame)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Mult):
            return left * right
        return left + right if isinstance(node.op, ast.Add) else left - right
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _whole(node.operand, frame)
        return None if number is None else -number
    known, value = evaluate(node, frame)
    return value if known and type(value) is int else None


def _attribute(owner: Any, name: str) -> tuple[bool, Any]:
    if is_tensor(owner):
        return False, None
    try:
        held = object.__getattribute__(owner, "__dict__")
    except Exception:
        return False, None
    stores = [held, *(held.get(store) for store in ("_parameters", "_buffers", "_modules"))]
    for store in stores:
        if isinstance(store, dict) and name in store:
            return True, store[name]
    for base in type(owner).__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            return (True, found) if isinstance(found, int | float | str | tuple) or is_tensor(found) else (False, None)
    return False, None

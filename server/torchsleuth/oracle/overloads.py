"""Signatures of PyTorch's own operators, for which Python has none: from their documentation and their schemas."""

from __future__ import annotations

import ast
import re
from functools import cache

import torch

from torchsleuth.oracle import gate
from torchsleuth.tensors.spec import Parameter

_HIDDEN = frozenset({"out", "generator", "layout", "pin_memory", "memory_format"})
"""Arguments that are not told of."""
_HIDDEN_WAYS = frozenset({"names", "dimname"})
"""Arguments of the calls that are not told of."""


@cache
def overloads(path: str) -> tuple[tuple[Parameter, ...], ...]:
    """The ways to call a function or a method (without its tensor), the documented one first; () where none is known."""
    name = path.rpartition(".")[2]
    method = path.startswith("Tensor.")
    ways = _documented(path, name)
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        given = schema.arguments
        if any(one.is_out or one.name in _HIDDEN_WAYS for one in given):
            continue
        if given and given[0].name == "self":
            if not isinstance(given[0].type, torch.TensorType):
                continue
            given = given[int(method) :]
        elif method:
            continue
        listed = (
            Parameter(
                "input" if one.name == "self" else one.name,
                "name" if one.kwarg_only else "either",
                not one.has_default_value(),
            )
            for one in given
        )
        ways.append(tuple(one for one in listed if one.name not in _HIDDEN))
    return tuple(dict.fromkeys(ways))


def _documented(path: str, name: str) -> list[tuple[Parameter, ...]]:
    """``cat(tensors, dim=0, *, out=None) -> Tensor`` in the lines of a documentation, where it reads as Python."""
    try:
        text = (gate.method(name) if path.startswith("Tensor.") else gate.known(path)).__doc__ or ""
    except LookupError:
        return []
    found = []
    for line in re.findall(rf"^\s*(?:torch\.)?{name}(\(.*\))(?: -> .*)?$", text.split("\n\n")[0], re.MULTILINE):
        try:
            function = ast.parse(f"def f{line}: ...").body[0]
        except SyntaxError:
            continue
        if isinstance(function, ast.FunctionDef) and function.args.vararg is None and not function.args.kwarg:
            spec = function.args
            placed = [*spec.posonlyargs, *spec.args]
            way = [
                Parameter(one.arg, "either", index < len(placed) - len(spec.defaults))
                for index, one in enumerate(placed)
            ]
            way += [
                Parameter(one.arg, "name", default is None) for one, default in zip(spec.kwonlyargs, spec.kw_defaults)
            ]
            found.append(tuple(one for one in way if one.name not in _HIDDEN))
    return found

"""Signatures of PyTorch's own operators, for which Python has none, and what they return: from their documentation and their
schemas."""

from __future__ import annotations

import ast
import inspect
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


@cache
def gives_tensor(path: str) -> bool:
    """Whether a function of PyTorch's, or a method of tensors, returns one tensor whatever it is called with."""
    try:
        function = gate.method(path.rpartition(".")[2]) if path.startswith("Tensor.") else gate.known(path)
        returned = inspect.signature(function).return_annotation
    except (LookupError, TypeError, ValueError):
        returned = inspect.Signature.empty
    if returned is not inspect.Signature.empty:
        return returned is torch.Tensor or returned == "Tensor"
    name = path.rpartition(".")[2]
    if path.startswith(("torch.linalg.", "torch.special.", "torch.fft.")):
        name = path.removeprefix("torch.").replace(".", "_")
    schemas = [
        schema
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}")
        if any("Tensor" in str(one.type) for one in schema.arguments)
        and not any(one.is_out or one.name in _HIDDEN_WAYS for one in schema.arguments)
    ]
    return bool(schemas) and all(
        len(schema.returns) == 1 and isinstance(schema.returns[0].type, torch.TensorType) for schema in schemas
    )


@cache
def keeps_form(path: str) -> bool:
    """Whether a method of tensors writes into its tensor, whatever it is called with, and leaves its shape as it is."""
    name = path.removeprefix("Tensor.")
    packet = getattr(torch.ops.aten, name, None) if path.startswith("Tensor.") and name.endswith("_") else None
    ways = [getattr(packet, way) for way in packet.overloads()] if packet is not None else []
    tags = [set(way.tags) for way in ways if isinstance(way._schema.arguments[0].type, torch.TensorType)]
    return bool(tags) and all(torch.Tag.inplace in one and torch.Tag.inplace_view not in one for one in tags)


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

"""Parameters and norms that were built with a size which what they meet has not: another name of the constructor has it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.constructor import constructor_call
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.reached import note
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Json, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    called,
    is_attribute,
    is_display,
    is_dotted,
    is_text,
    nodes_in,
    plain_name,
    stands_on,
)

_MAKES = ("empty", "zeros", "ones", "rand", "randn", "full", "Tensor", "FloatTensor")
_EINSUM = r"subscript (\w) has size (\d+) for operand (\d+) which does not broadcast with previously seen size (\d+)"
_BROADCAST = r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)"
_PRODUCT = r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)"
_SIZES = f"{_EINSUM}|{_BROADCAST}|{_PRODUCT}"
_Wrong = tuple[ast.expr, int]
"""Where a size is written in a constructor, and what it has to be."""


def _class_of(case: Case) -> ast.ClassDef | None:
    return next((kind for kind in reversed(case.frame.all(ast.ClassDef)) if stands_on(kind, case.frame.line)), None)


def _made(kind: ast.ClassDef) -> Iterator[tuple[str, list[ast.expr]]]:
    """The attributes of an object that are tensors made from sizes, with these: ``self.w = nn.Parameter(torch.empty(n, m))``."""
    for node in nodes_in(kind, ast.Assign):
        for target, value in assigned_pairs(node):
            if is_dotted(target, "self") and (sizes := _sizes_of(value)):
                assert isinstance(target, ast.Attribute)
                yield target.attr, sizes
    for call in nodes_in(kind, ast.Call):
        if called(call) in ("register_buffer", "register_parameter") and len(call.args) > 1 and is_text(call.args[0]):
            if sizes := _sizes_of(call.args[1]):
                yield call.args[0].value, sizes


def _sizes_of(value: ast.expr) -> list[ast.expr]:
    if called(value) == "Parameter" and isinstance(value, ast.Call) and value.args:
        return _sizes_of(value.args[0])
    while isinstance(value, ast.BinOp):
        value = value.left if isinstance(value.left, ast.Call) else value.right
    if called(value) not in _MAKES or not isinstance(value, ast.Call) or not value.args:
        return []
    return list(value.args[0].elts) if is_display(value.args[0]) else list(value.args)


def _changes(case: Case) -> Iterator[tuple[int, int]]:
    """The sizes of which one is wrong, and the other one is wanted, both ways."""
    found = re.search(_SIZES, case.crash["message"])
    if found is not None:
        one, other = [
            int(part) for index, part in enumerate(found.groups(), 1) if part is not None and index not in (1, 3)
        ]
        yield from ((one, other), (other, one))


def _wrong(case: Case) -> list[_Wrong]:
    """The sizes of the failing operands that are written in the constructor of their module, and do not fit."""
    kind = _class_of(case)
    if kind is None:
        return []
    made = dict(_made(kind))
    wrong = []
    for node, tensor in case.frame.tensor_operands():
        own, shape = _own_parameter(node, tensor["shape"], case)
        sizes = made.get(own, [])
        tensor = {"shape": shape}
        if len(sizes) == len(tensor["shape"]):
            for old, new in _changes(case):
                places = [place for place, size in enumerate(tensor["shape"]) if size == old]
                wrong += [(sizes[place], new) for place in places if len(places) == 1]
    return wrong


def _own_parameter(node: ast.expr, shape: list[int], case: Case) -> tuple[str, list[int]]:
    """The attribute that an operand is, or that it gets its last size from, with its shape: ``self.b`` of ``x @ self.a.T @ self.b.T``."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        node = node.right
    if is_attribute(node, "T", "mT") and isinstance(node, ast.Attribute):
        node = node.value
    if not is_dotted(node, "self"):
        return "", shape
    held = case.frame.named.get(f"self.{node.attr}")
    return node.attr, held["shape"] if held is not None else shape


_COUNTERPARTS = (("in_", "out_"), ("_in", "_out"), ("src", "dst"), ("query", "key"))


def _counterpart(case: Case, node: ast.expr) -> Iterator[str]:
    """``base.out_features`` for ``base.in_features``."""
    if isinstance(node, ast.Attribute):
        for one, other in _COUNTERPARTS:
            for old, new in ((one, other), (other, one)):
                if old in node.attr:
                    yield f"{case.frame.text(node.value)}.{node.attr.replace(old, new)}"
                    return


def _names(case: Case, kind: ast.ClassDef) -> dict[int, list[str]]:
    """The names of the constructor by their values, as far as attributes and the sizes of other tensors show them."""
    values: dict[str, int] = {}
    attributes: Json = (case.crash["module"] or {}).get("attributes", {})
    for node in nodes_in(kind, ast.Assign):
        for target, value in assigned_pairs(node):
            if is_dotted(target, "self") and plain_name(value) is not None:
                assert isinstance(target, ast.Attribute)
                known = attributes.get(target.attr)
                if type(known) is int:
                    values[plain_name(value) or ""] = known
    for name, sizes in _made(kind):
        held = case.frame.named.get(f"self.{name}")
        shape = held["shape"] if held is not None else []
        for size, number in zip(sizes, shape) if len(shape) == len(sizes) else ():
            if isinstance(size, ast.Name):
                values.setdefault(size.id, number)
    found: dict[int, list[str]] = {}
    for name, number in values.items():
        found.setdefault(number, []).append(name)
    return found


def _wrong_here(case: Case) -> Iterator[Related]:
    kind = _class_of(case)
    for node, new in _wrong(case) if kind is not None else ():
        if kind is not None and (_names(case, kind).get(new) or any(True for _ in _counterpart(case, node))):
            yield note(case.frame.source, node, "error.other_size", size=new)


def _another_name(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``nn.Parameter(torch.empty(heads, in_dim))`` → ``…(heads, out_dim)``, where that has the size that is wanted."""
    kind = _class_of(case)
    for node, new in _wrong(case) if kind is not None else ():
        for name in _names(case, kind).get(new, [])[:2] if kind is not None else ():
            if name != plain_name(node):
                yield replace(case.frame, node, name)
        for text in _counterpart(case, node):
            yield replace(case.frame, node, text, safe=False)


# norms over pictures


def _norm(case: Case) -> tuple[CrashFrame, ast.Call, ast.expr, int] | None:
    """A LayerNorm over channels and sides of pictures that come in another size, with its sizes and its number of channels."""
    wanted, given = (case.module or {}).get("attributes", {}).get("normalized_shape") or [], case.input
    found = constructor_call(case)
    if found is None or given is None or len(wanted) != 3 or len(given["shape"]) != 4:
        return None
    if given["shape"][1] != wanted[0] or given["shape"][1:] == wanted:
        return None
    site, call = found
    sizes = argument_of(call, 0, "normalized_shape")
    file = next((file for file in case.files if file.path == site.source.path), None)
    return (file, call, sizes, wanted[0]) if file is not None and sizes is not None else None


def _norm_here(case: Case) -> Iterator[Related]:
    norm = _norm(case)
    if norm is not None:
        yield note(norm[0].source, norm[1], "error.norm_of_sides")


def _of_any_side(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``nn.LayerNorm([channels, side, side])`` → ``nn.GroupNorm(1, channels)``, which takes pictures of every size."""
    norm = _norm(case)
    if norm is not None:
        file, call, sizes, channels = norm
        first = file.text(sizes.elts[0]) if is_display(sizes) and len(sizes.elts) == 3 else str(channels)
        text = file.text(call.func).replace("LayerNorm", "GroupNorm")
        title = message("fix.replace", old=file.source.on_one_line(call)[:60], new=f"{text}(1, {first})")
        yield Fix(title, (edits.replace(file.source, call, f"{text}(1, {first})"),), safe=False)


_NORM = r"Given normalized_shape=\[\d+, \d+, \d+\]"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_SIZES, _another_name), (_NORM, _of_any_side))
PLACES = ((_SIZES, _wrong_here), (_NORM, _norm_here))

"""Repairs of dtypes: a conversion where a tensor is used, or another dtype where it was made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import (
    Operand,
    appended,
    birth,
    lineage,
    package_name,
    replaced,
    suffixed,
)
from torchsleuth.rules.rule import Analysis, Candidate, added_argument
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, is_method_call, is_spread, names_in
from torchsleuth.values import Tensor

METHODS = {
    "float32": "float", "float64": "double", "float16": "half", "bfloat16": "bfloat16",
    "int64": "long", "int32": "int", "bool": "bool",
}  # fmt: skip
_CONVERSIONS = frozenset({*METHODS.values(), "to", "type"})
_PICKS = ("getitem", "select", "chunk", "split", "unbind", "narrow", "index_select")
_TAKES_DTYPE = frozenset(
    "tensor as_tensor zeros ones empty full rand randn randint arange linspace zeros_like ones_like eye".split()
)


def casts(analysis: Analysis, used: Operand, dtype: str) -> Iterator[Candidate]:
    """Ways to give an operand a dtype: without the conversion that took it away, where it was made, so that every use of
    it is repaired, then where it is used."""
    yield from unconverted(used)
    if (used.spec.dtype or "").startswith("complex") and dtype.startswith("float"):
        # A conversion would leave out the imaginary part.
        yield from suffixed(used, ".abs()", safe=False)
        for shown in (operation for _, operation in lineage(analysis, used.tensor)):
            if shown.site.call is not None and "complex" not in (shown.specs[0].dtype or "" if shown.specs else ""):
                yield appended(shown.site, shown.site.call, ".abs()", safe=False)
        return
    here = [made for name in _of_dtype(used, dtype) for made in suffixed(used, f".to({name}.dtype)")][:1]
    here += suffixed(used, f".{METHODS[dtype]}()") if dtype in METHODS else ()
    there = list(born_as(used.tensor, dtype))
    # What else is in the tensor that it is a part of may need the dtype that it has.
    part = any(operation.name in _PICKS for _, operation in lineage(analysis, used.tensor))
    yield from (*here, *there) if part else (*there, *here)


def _of_dtype(used: Operand, dtype: str) -> Iterator[str]:
    """An argument of a module that has another dtype than the usual one: it is that of the whole model."""
    frame, own = used.site.scene, names_in(used.node or ast.Pass())
    if frame.function is None or frame.function.name != "forward" or dtype not in ("float64", "float16", "bfloat16"):
        return
    for argument in frame.function.node.args.args:
        value = as_kind(frame.names.get(argument.arg), Tensor)
        if value is not None and value.spec.dtype == dtype and argument.arg not in own:
            yield argument.arg


def unconverted(used: Operand) -> Iterator[Candidate]:
    """Take a conversion away from what may have the dtype without it: ``y.float()``."""
    node = used.node
    if is_method_call(node, *_CONVERSIONS):
        edit = edits.without_attribute(used.site.source, node, node.func.attr)
        if edit is not None:
            yield Candidate(message("fix.remove", text=f".{node.func.attr}()"), (edit,))


def born_as(tensor: Tensor, dtype: str) -> Iterator[Candidate]:
    """The call that made a tensor, with the dtype; a number list that became a tensor, or an array."""
    born = birth(tensor)
    if born is None:
        return
    source, torch = born.site.source, package_name(born.site, "torch")
    written = argument_of(born.call, None, "dtype")
    if written is not None:
        yield replaced(born.site, written, f"{torch}.{dtype}" if torch else dtype)
    elif born.name in _TAKES_DTYPE and torch is not None and not is_spread(born.call.args):
        if dtype == "float32" and born.name in ("randint",):
            yield appended(born.site, born.call, ".float()")
            return
        text = f"dtype={torch}.{dtype}"
        yield added_argument(source, born.call, text)
    elif born.name == "from_numpy" and dtype in METHODS:
        yield appended(born.site, born.call, f".{METHODS[dtype]}()")

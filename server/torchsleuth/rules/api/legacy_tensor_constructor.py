"""legacy-tensor-constructor: torch.Tensor(…), torch.FloatTensor(…) and their like.

What it finds
    A call of torch.Tensor, or of a tensor type such as torch.LongTensor or torch.cuda.FloatTensor.
Why it hurts
    What they make depends on the argument: Tensor(3) has three uninitialised elements, Tensor([3]) has one, and integers
    become floats without a word. They take no device and no dtype.
Example
    weight = nn.Parameter(torch.Tensor(out_features, in_features))
    labels = torch.LongTensor([0, 1, 1])
Use instead
    weight = nn.Parameter(torch.empty(out_features, in_features))
    labels = torch.tensor([0, 1, 1], dtype=torch.int64)
Fix safety
    Safe, and offered where it is known whether the argument is a size or data. Memory and values are the same.
References
    torch.Tensor, torch.tensor, torch.empty
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.replacements import replaced
from torchsleuth.rules.evidence.uses import text, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import only
from torchsleuth.syntax.forms import is_spread
from torchsleuth.syntax.names import Use
from torchsleuth.tensors.legacy import DTYPES
from torchsleuth.values import Array, ListValue, Value, is_int

CODE = "TS810"
_SIZES, _DATA = "sizes", "data"


def find(analysis: Analysis) -> Iterator[Finding]:
    for use in analysis.names.uses:
        package, _, name = use.path.rpartition(".")
        if use.call is None or name not in DTYPES or package not in ("torch", "torch.cuda"):
            continue
        kind = _kind(analysis, use.call)
        new = {_SIZES: "torch.empty", _DATA: "torch.tensor"}.get(kind or "", "torch.empty or torch.tensor")
        fixes = _fixes(analysis, use, use.call, kind, DTYPES[name], package == "torch.cuda")
        yield Finding(analysis.source.span(use.call), message("legacy.constructor", old=use.path, new=new), (), fixes)


def _kind(analysis: Analysis, call: ast.Call) -> str | None:
    """Whether the arguments are sizes or data, from how they are written or from what the analysis knows of them."""
    if call.keywords or is_spread(call.args):
        return None
    if len(call.args) != 1:
        return _SIZES
    if isinstance(call.args[0], ast.List | ast.ListComp):
        return _DATA
    span = analysis.source.span(call)
    kinds = {_kind_of(seen.args) for seen in analysis.trace.calls if seen.site.span == span}
    return only(kinds)


def _kind_of(values: tuple[Value, ...]) -> str | None:
    if len(values) == 1 and is_int(values[0]):
        return _SIZES
    return _DATA if len(values) == 1 and isinstance(values[0], Array | ListValue) else None


def _fixes(
    analysis: Analysis, use: Use, call: ast.Call, kind: str | None, dtype: str, cuda: bool
) -> Iterator[Candidate]:
    if kind is None:
        return
    name, imported = written(analysis, "torch.empty" if kind == _SIZES else "torch.tensor", use)
    package = name.rpartition(".")[0]
    arguments = ", ".join(text(analysis, part) for part in call.args) or "0"
    # Tensor has the default dtype, as empty has.
    typed = "" if kind == _SIZES and use.path.endswith(".Tensor") else f", dtype={package}.{dtype}"
    placed = ', device="cuda"' if cuda else ""
    yield replaced(analysis, call, f"{name}({arguments}{typed}{placed})", imported)


RULE = Rule(FAULTS[CODE], find)

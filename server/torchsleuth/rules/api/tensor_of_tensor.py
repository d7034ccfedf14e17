"""tensor-of-tensor: torch.tensor of what is a tensor already.

What it finds
    `torch.tensor(x)` where `x` is a tensor.
Why it hurts
    It copies the numbers and leaves the graph of `x`, without saying so, and PyTorch warns at each call. As data goes through
    code of Python, this is also slower than a copy.
Example
    weights = torch.tensor(model.weight)
Use instead
    weights = model.weight.detach().clone()
Fix safety
    Safe: it is what `torch.tensor` does.
References
    torch.tensor, torch.Tensor.clone
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import replaced, short, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import all_are
from torchsleuth.syntax.forms import is_spread
from torchsleuth.values import Tensor

CODE = "TS816"


def find(analysis: Analysis) -> Iterator[Finding]:
    calls: defaultdict[Span, list[LibraryCall]] = defaultdict(list)
    for call in analysis.calls.get("torch.tensor", ()):
        calls[call.site.span].append(call)
    told = {fault.cut.site.span for fault in analysis.trace.autograd if fault.cut is not None}
    for span, same in calls.items():
        if span not in told and all_are([call.given(0, "data") for call in same], Tensor):
            yield from _finding(same[0])


def _finding(found: LibraryCall) -> Iterator[Finding]:
    call, source = found.site.call, found.site.source
    if call is None or len(call.args) != 1 or is_spread(call.args):
        return
    given = written(source, call.args[0])
    text = message("tensor.of_tensor", call=short(source.segment(call)), tensor=short(given))
    yield Finding(found.site.span, text, (), tuple(_copied(found, call, given)))


def _copied(found: LibraryCall, call: ast.Call, given: str) -> Iterator[Candidate]:
    source, options = found.site.source, {part.arg: part for part in call.keywords}
    grad = options.pop("requires_grad", None)
    if options.keys() <= {"dtype", "device"}:
        moved = ", ".join(source.segment(part) for part in options.values())
        copy = f"{given}.detach().clone()" + (f".to({moved})" if moved else "")
        required = f".requires_grad_({source.segment(grad.value)})" if grad is not None else ""
        yield replaced(found.site, call, copy + required, safe=True)


RULE = Rule(FAULTS[CODE], find)

"""average-in-half: an average of weights whose steps are too small for the numbers that hold it.

What it finds
    A moving average of the parameters of a network that were converted to bfloat16 or float16, of which each step takes a hundredth or
    less of the new ones.
Why it hurts
    bfloat16 has 8 significant bits: what changes a number by less than a 250th to a 500th part of it is rounded away. The average stays at,
    or near, the weights of the beginning. float16 has 11 bits, with the same end for slower averages.
Example
    model = Net().to(torch.bfloat16)
    average = copy.deepcopy(model)
    for p, q in zip(average.parameters(), model.parameters()):
        p.lerp_(q, 0.001)
Use instead
    model = Net()
    average = copy.deepcopy(model)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(model(x), y)
Fix safety
    Unsafe: weights in float32 take twice the memory. Compute with autocast in bfloat16, and keep weights and average in float32.
References
    "Mixed Precision Training" (Micikevicius et al.), section 3.1
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.moving import Following, followings
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.values import LibraryModule, Value

CODE = "TS582"
_LARGEST = {"bfloat16": 0.01, "float16": 0.002}
"""The share of the new weights up to which most steps are rounded away."""
_CONVERTS = tuple(f"torch.nn.Module.{name}" for name in ("to", "half", "bfloat16", "type"))


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for one in followings(analysis):
        dtype = _dtype_of(one.average.receiver)
        cast = _cast(analysis, one) if dtype in _LARGEST else None
        small = one.share is not None and 0 < one.share <= _LARGEST.get(dtype or "", 0.0)
        if cast is None or not small or cast.site.span in seen:
            continue
        seen.add(cast.site.span)
        places = (one.source.span(one.statement).related(message("average.half.step")),)
        text = message("average.half", dtype=dtype, share=f"{one.share:.3g}", line=one.statement.lineno)
        yield Finding(cast.site.span, text, places, tuple(_uncast(cast)))


def _dtype_of(module: Value) -> str | None:
    """The dtype that all parameters of a module have, where it is known."""
    held = {part.slots["dtype"] for part in of_kind(descendants(module), LibraryModule)}
    return str(next(iter(held))) if len(held) == 1 and None not in held else None


def _cast(analysis: Analysis, one: Following) -> LibraryCall | None:
    """The conversion of the average, or of the network that it was copied from."""
    calls = [call for path in _CONVERTS for call in analysis.calls.get(path, ())]
    for module in (one.average.receiver, one.trained.receiver):
        made = [
            call
            for call in calls
            if call.receiver is module and (call.args or call.kwargs or call.path.endswith(("half", "16")))
        ]
        if made:
            return made[-1]
    return None


def _uncast(cast: LibraryCall) -> Iterator[Candidate]:
    """The module without its conversion."""
    node = cast.site.node
    if is_method_call(node) and isinstance(node, ast.Call) and len(node.args) <= 1 and not node.keywords:
        yield replacement(cast.site.source, node, cast.site.source.segment(node.func.value), safe=False)


RULE = Rule(FAULTS[CODE], find)

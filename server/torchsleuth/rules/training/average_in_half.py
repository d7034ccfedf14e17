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
from itertools import chain

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import held
from torchsleuth.rules.evidence.moving import followings
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import argument_of, called, is_method_call
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import LibraryModule, Value

CODE = "TS582"
_LARGEST = {"bfloat16": 0.01, "float16": 0.002}
"""The share of the new weights up to which most steps are rounded away."""
_DECAY = 0.999
"""The default of PyTorch's averages."""
_CONVERTS = tuple(f"torch.nn.Module.{name}" for name in ("to", "half", "bfloat16", "type"))


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    by_hand = ((one.source, one.statement, one.share, (one.average, one.trained)) for one in followings(analysis))
    for source, node, share, networks in chain(by_hand, _by_library(analysis)):
        receivers = [one.receiver if isinstance(one, LibraryCall) else one for one in networks]
        dtype = _dtype_of(receivers[0])
        cast = _cast(analysis, receivers) if dtype in _LARGEST else None
        small = share is not None and 0 < share <= _LARGEST.get(dtype or "", 0.0)
        if cast is None or not small or cast.site.span in seen:
            continue
        seen.add(cast.site.span)
        places = (source.span(node).related(message("average.half.step")),)
        text = message("average.half", dtype=dtype, share=f"{share:.3g}", line=places[0].start.line)
        yield Finding(cast.site.span, text, places, tuple(_uncast(cast)))


def _by_library(analysis: Analysis) -> Iterator[tuple[SourceText, ast.expr, float | None, tuple[Value, ...]]]:
    """``AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.999))``"""
    for call in analysis.calls.get("torch.optim.swa_utils.AveragedModel", ()):
        node = call.site.call
        given = (
            [one.value for one in node.keywords if one.arg in ("multi_avg_fn", "avg_fn")] if node is not None else []
        )
        for function in given:
            if called(function) in ("get_ema_multi_avg_fn", "get_ema_avg_fn") and isinstance(function, ast.Call):
                decay = argument_of(function, 0, "decay")
                kept = held(decay, call.site.scene) if decay is not None else _DECAY
                share = 1 - kept if isinstance(kept, float) else None
                yield call.site.source, function, share, (call.given(0, "model"),)


def _dtype_of(module: Value) -> str | None:
    """The dtype that all parameters of a module have, where it is known."""
    held = {part.slots["dtype"] for part in of_kind(descendants(module), LibraryModule)}
    return str(next(iter(held))) if len(held) == 1 and None not in held else None


def _cast(analysis: Analysis, networks: list[Value]) -> LibraryCall | None:
    """The conversion of the average, or of the network that it was copied from."""
    calls = [call for path in _CONVERTS for call in analysis.calls.get(path, ())]
    for module in networks:
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

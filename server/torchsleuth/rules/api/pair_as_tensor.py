"""pair-as-tensor: the values and the indices of a maximum, taken for one tensor.

What it finds
    A method, an attribute or a computation on what `torch.max(x, dim)`, `x.min(dim)`, `sort`, `topk`, `median` and their
    like give.
Why it hurts
    AttributeError "'torch.return_types.max' object has no attribute 'eq'". A comparison gives False instead of a tensor.
Example
    predicted = torch.max(outputs, 1)
    correct = predicted.eq(labels).sum()
Use instead
    predicted = outputs.argmax(dim=1)
Fix safety
    Unsafe: the indices are offered before the values where the pair is compared, the values first elsewhere.
References
    torch.max
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute

CODE = "TS813"
_COMPARING = frozenset({"eq", "ne", "equal", "tolist", "view_as"})


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.PAIR):
        made = next((call for call in analysis.trace.calls if call.result is misuse.value), None)
        if made is None or made.site.call is None:
            continue
        source, birth = misuse.site.source, made.site.source
        text = message(
            "pair.tensor",
            call=f"`{birth.segment(made.site.call.func)}`",
            text=source.on_one_line(misuse.site.node),
        )
        places = (made.site.span.related(message("pair.made")),)
        yield Finding(misuse.site.span, text, places, tuple(_chosen(misuse, made)))


def _chosen(misuse: Misuse[object], made: LibraryCall) -> Iterator[Candidate]:
    source, node = made.site.source, misuse.site.node
    compares = isinstance(node, ast.Compare) or is_attribute(node, *_COMPARING)
    for name in ("indices", "values") if compares else ("values", "indices"):
        edit = edits.insert_after_node(source, made.site.node, f".{name}")
        yield Candidate(message("fix.entry", key=f".{name}"), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)

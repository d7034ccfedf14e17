"""to-result-discarded: a tensor is moved or converted, and the result is thrown away.

What it finds
    A statement such as `x.to(device)`, `x.cuda()` or `x.float()` on a tensor whose device or dtype it would change, or
    `x.unsqueeze(0)` or `x.detach()`.
Why it hurts
    Unlike a module, a tensor is not changed in place: `x` stays where it was, and the next operator fails.
Example
    x.to(device)
Use instead
    x = x.to(device)
Fix safety
    Safe: it assigns the result to the name that was meant.
References
    torch.Tensor.to
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call

CODE = "TS202"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int]] = set()
    for site in analysis.trace.discarded:
        call = site.node
        key = (site.span.path, site.span.start.line)
        if key in seen or not is_method_call(call):
            continue
        seen.add(key)
        source = site.source
        name, written = source.segment(call.func.value), source.segment(call)
        edit = edits.insert(source, source.start_of(call), f"{name} = ")
        fix = Candidate(message("fix.assign", call=written, tensor=name), (edit,))
        yield Finding(site.span, message("to.discarded", call=written, tensor=f"`{name}`"), (), (fix,))


RULE = Rule(FAULTS[CODE], find)

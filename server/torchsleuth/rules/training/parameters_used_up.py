"""parameters-used-up: an iterator over parameters or batches that is gone through a second time.

What it finds
    What parameters(), zip(), map(), filter(), a generator expression or a generator function gives, used after something
    has gone through all of it: an optimizer, a clipping, a count, the first of several epochs.
Why it hurts
    An iterator can be gone through once. An optimizer raises ValueError "optimizer got an empty parameter list"; a clipping
    or a loop does nothing, without a word, and so the second epoch has no batches.
Example
    params = model.parameters()
    optimizer = torch.optim.Adam(params)
    torch.nn.utils.clip_grad_norm_(params, 1.0)
Use instead
    params = list(model.parameters())
    optimizer = torch.optim.Adam(params)
    torch.nn.utils.clip_grad_norm_(params, 1.0)
Fix safety
    Safe: a list can be gone through any number of times.
References
    torch.nn.Module.parameters
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Severity
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.values import ListValue, Parameters

CODE = "TS529"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.EXHAUSTED):
        value, first = as_kind(misuse.value, Parameters, ListValue), misuse.first
        if first is None or value is None or _is_plain(value):
            continue
        places = [first.span.related(message("parameters.spent.first"))]
        if value.made is not None:
            places.append(value.made.span.related(message("parameters.spent.made")))
        again = first.node is misuse.site.node
        key = "parameters.spent.before" if again else "parameters.spent"
        text = message(key, **({} if again else {"line": first.span.start.line}))
        severity: Severity = "error" if _refuses(analysis, misuse) else "warning"
        yield Finding(misuse.site.span, text, tuple(places), tuple(_kept(misuse)), severity)


def _is_plain(value: Parameters | ListValue) -> bool:
    """Whether an iterator gives numbers and texts alone: a program may well mean to use it up."""
    return isinstance(value, ListValue) and value.once is not None and value.once.slots.get("plain") is True


def _refuses(analysis: Analysis, misuse: Misuse[object]) -> bool:
    """Whether it is all that is given to an optimizer, which raises for no parameters at all."""
    return any(optimizer.given(0, "params") is misuse.value for optimizer in analysis.trace.optimizers)


def _kept(misuse: Misuse[Parameters | ListValue]) -> Iterator[Candidate]:
    made = misuse.value.made
    if made is None:
        return
    source, node = made.source, made.node
    text = source.segment(node)
    if isinstance(node, ast.GeneratorExp):
        text = f"[{text[1:-1]}]" if text.startswith("(") and text.endswith(")") else ""
    else:
        text = f"list({text})"
    if text:
        yield Candidate(message("fix.list"), (edits.replace(source, node, text),))


RULE = Rule(FAULTS[CODE], find)

"""hooked-output-overwritten: a layer with a hook for its gradients, whose output the next layer overwrites.

What it finds
    `register_full_backward_hook` on a layer whose output goes into a layer or function that works in place, such as
    `nn.ReLU(inplace=True)`.
Why it hurts
    The hook wraps the output in a view that must not be changed: RuntimeError, "Output 0 of BackwardHookFunctionBackward is a view
    and is being modified inplace".
Example
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(inplace=True))
    net[0].register_full_backward_hook(keep)
    net(torch.randn(1, 3, 8, 8)).sum().backward()
Use instead
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
Fix safety
    Safe: the result is the same, and takes memory of its own.
References
    torch.nn.Module.register_full_backward_hook
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import operator_text
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import keyword_of
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.values import LibraryModule, Site, Tensor
from torchsleuth.values.graph import INPLACE_POSITION

CODE = "TS421"
_HOOK = "register_full_backward_hook"


def find(analysis: Analysis) -> Iterator[Finding]:
    hooked: dict[int, LibraryCall] = {}
    for path, calls in analysis.calls.items():
        for call in calls if path.endswith(_HOOK) else ():
            if isinstance(call.receiver, LibraryModule):
                hooked.setdefault(call.receiver.identity, call)
    seen: set[Span] = set()
    for change in analysis.trace.operations if hooked else ():
        given = as_kind(change.args[0], Tensor) if change.args and _is_in_place(change) else None
        made = analysis.operation_of(given.origin) if given is not None else None
        hook = hooked.get(made.module.identity) if made is not None and made.module is not None else None
        if made is None or hook is None or hook.site.span in seen or change.specs[0].requires_grad is not True:
            continue
        if _is_before(hook.site, made.site) and change.certain and made.certain:
            seen.add(hook.site.span)
            yield _finding(hook, made, change)


def _is_before(one: Site, other: Site) -> bool:
    """Whether one thing happened before another: by their lines, where nothing has changed in between."""
    if one.moment != other.moment:
        return one.moment < other.moment
    return one.span.path == other.span.path and one.span.start.line < other.span.start.line


def _is_in_place(operation: Operation) -> bool:
    """Whether an operator writes its result into its operand: by its name, or as it was told."""
    given = operation if operation.module is None else operation.module
    place = INPLACE_POSITION.get(operation.name)
    told = place is not None and place < len(given.args) and given.args[place] is True
    return told or given.kwargs.get("inplace") is True or (operation.module is None and is_in_place(operation.target))


def _finding(call: LibraryCall, made: Operation, change: Operation) -> Finding:
    text = message("hook.overwritten", layer=operator_text(made), change=operator_text(change))
    places = (change.site.span.related(message("hook.overwritten.here")),)
    return Finding(call.site.span, text, places, tuple(_apart(change)))


def _apart(change: Operation) -> Iterator[Candidate]:
    """The next layer with memory of its own."""
    site = change.module.site if change.module is not None else change.site
    node = site.call if site is not None else None
    option = keyword_of(node, "inplace") if node is not None else None
    if site is not None and option is not None:
        yield replacement(site.source, option.value, "False")


RULE = Rule(FAULTS[CODE], find)

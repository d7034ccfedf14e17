"""unfrozen-too-late: parameters that are unfrozen after the optimizer was given only those that were not frozen.

What it finds
    An optimizer of the parameters that require grad when it is made, and frozen ones among the others, which are unfrozen later,
    while no optimizer is given them.
Why it hurts
    They get gradients, which cost time and memory, and never change: the second stage of fine-tuning trains what the first one
    did. Nothing fails.
Example
    for p in model.parameters():
        p.requires_grad = True
    train(model, optimizer)
Use instead
    for p in model.parameters():
        p.requires_grad = True
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    train(model, optimizer)
Fix safety
    Unsafe: with all parameters given at once, those that are frozen have no gradient and are left as they are until then.
References
    torch.optim.Optimizer.add_param_group
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants
from torchsleuth.interp.library.optim import given_to
from torchsleuth.interp.trace import LibraryCall, Switch
from torchsleuth.messages import message
from torchsleuth.rules.evidence.filtered import filtered
from torchsleuth.rules.evidence.loops import optimizers_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.values import LibraryObject, Parameters

CODE = "TS543"
_CONFIGURES = "configure_optimizers"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    made = [
        (call, given)
        for path, calls in analysis.calls.items()
        if path.startswith("torch.optim.") and path.count(".") == 2
        for call in calls
        if isinstance(call.result, LibraryObject) and (given := filtered(analysis, call)) is not None
    ]
    for call, given in made:
        for thaw in analysis.trace.switches:
            if thaw.site.span not in reported and _too_late(analysis, call, thaw):
                reported.add(thaw.site.span)
                yield _finding(call, given, thaw)


def _finding(call: LibraryCall, given: ast.expr, thaw: Switch) -> Finding:
    """What is said where parameters are unfrozen, or where Lightning asks for the optimizer, once for all."""
    function = call.site.scene.function
    fixes = _all_given(call, given)
    if function is not None and function.name == _CONFIGURES:
        text = message("unfrozen.left_out", line=thaw.site.span.start.line)
        places = (thaw.site.span.related(message("unfrozen.here")),)
        return Finding(call.site.source.span(given), text, places, fixes)
    text = message("unfrozen.late", line=call.site.span.start.line)
    places = (call.site.span.related(message("unfrozen.optimizer")),)
    return Finding(thaw.site.span, text, places, fixes)


def _too_late(analysis: Analysis, call: LibraryCall, thaw: Switch) -> bool:
    """Whether parameters that were frozen when an optimizer was made are unfrozen after it, and given to none."""
    optimizer, began = as_kind(call.result, LibraryObject), call.site.scene.moment
    switches, moment = analysis.trace.switches, thaw.site.scene.moment
    if not thaw.value or moment <= began or optimizer is None:
        return False
    below = {id(part) for part in descendants(thaw.module)}
    frozen = [one for one in switches if not one.value and one.site.scene.moment < began and id(one.module) in below]
    again = [one for one in switches if one.site.scene.moment > moment and not one.value]
    whole = {id(part) for given in of_kind(given_to(optimizer), Parameters) for part in _parts(given)}
    if not frozen or again or not any(id(one.module) in whole for one in frozen):
        return False
    for one in frozen:
        since = [other for other in switches if one.site.scene.moment < other.site.scene.moment < began]
        if any(other.value and any(part is one.module for part in descendants(other.module)) for other in since):
            return False
    later = [
        one
        for one in analysis.trace.optimizers
        if one is not optimizer and any(event.index >= thaw.after for event in analysis.events_of(one, "step"))
    ]
    others = optimizers_of(later, [thaw.module])
    added = any(path.endswith(".add_param_group") for path in analysis.calls)
    steps = [event for event in analysis.events_of(optimizer, "step") if event.index >= thaw.after]
    return not others and not added and bool(steps)


def _parts(given: Parameters) -> Iterator[object]:
    for module in given.modules:
        yield from descendants(module)


def _all_given(call: LibraryCall, filtered: ast.expr) -> Iterator[Candidate]:
    """All of the parameters for the optimizer."""
    whole: ast.expr | None = None
    if isinstance(filtered, ast.Call) and ast.unparse(filtered.func) == "filter" and len(filtered.args) == 2:
        whole = filtered.args[1]
    if isinstance(filtered, ast.ListComp | ast.GeneratorExp) and len(filtered.generators) == 1:
        generator = filtered.generators[0]
        if ast.unparse(generator.target) == ast.unparse(filtered.elt):
            whole = generator.iter
    if whole is not None:
        source = call.site.source
        text = source.segment(whole)
        yield replacement(source, filtered, text, safe=False)


RULE = Rule(FAULTS[CODE], find)

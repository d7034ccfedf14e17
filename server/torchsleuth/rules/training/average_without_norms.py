"""average-without-norms: averaged weights with the batch statistics of the last model.

What it finds
    `AveragedModel` of a model with batch norms, called for evaluation in a program that neither calls `update_bn` nor averages
    the buffers. A loop over the parameters of a model and of its copy that averages these, where the copy is evaluated and its buffers
    stay what they were when it was made.
Why it hurts
    Only parameters are averaged. AveragedModel copies the running mean and variance from the model at each update: in evaluation each
    batch norm scales by statistics of other weights than its own. An average over the last few steps hardly notices, one over epochs
    does. A copy by hand has the statistics of the model at the beginning: what it gives in evaluation is noise.
Example
    average = AveragedModel(model)
Use instead
    average = AveragedModel(model, use_buffers=True)
Fix safety
    Averaging the statistics comes close to computing them anew, as `update_bn(loader, average)` does; it changes results, and so it is not
    safe.
References
    torch.optim.swa_utils.AveragedModel, torch.optim.swa_utils.update_bn
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import unseen
from torchsleuth.rules.evidence.moving import Following, followings
from torchsleuth.rules.evidence.norms import batch_norms
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_function_call, is_method_call
from torchsleuth.values import Value

CODE = "TS574"
_AVERAGE = "torch.optim.swa_utils.AveragedModel"
_OTHERWISE = frozenset({"update_bn", "buffers", "named_buffers", "load_state_dict"})
"""Functions by which a file brings the statistics in another way."""
_BUFFERS = frozenset({"update_bn", "buffers", "named_buffers"})


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _by_hand(analysis)
    for call in analysis.calls.get(_AVERAGE, ()):
        source = call.site.source
        norm = next(batch_norms(call.given(0, "model")), None)
        names = {called(one) for one in analysis.index(source.path).of_type(ast.Call)}
        brought = call.given(4, "use_buffers", False) is not False or names & _OTHERWISE
        if norm is None or call.site.call is None or "update_parameters" not in names or brought:
            continue
        where = norm.site.span.related(message("average.norm.here")) if norm.site is not None else None
        text = message("average.norms", norm=norm.type_name)
        fix = added_argument(source, call.site.call, "use_buffers=True", safe=False)
        yield Finding(call.site.span, text, (where,) if where is not None else (), (fix,))


def _by_hand(analysis: Analysis) -> Iterator[Finding]:
    """Averages of parameters alone, in a copy whose statistics nothing brings."""
    for one in followings(analysis):
        source, average = one.source, one.average.receiver
        norm = next(batch_norms(average), None)
        names = {called(part) for part in analysis.index(source.path).of_type(ast.Call)}
        if norm is None or names & _BUFFERS or _is_loaded(analysis, average):
            continue
        evaluated = [event for event in analysis.events("forward") if _is_in(event, average)]
        if not evaluated or not one.average.loops or any(event.training is not False for event in evaluated):
            continue  # In training mode, it has statistics of its own.
        places = [evaluated[0].site.span.related(message("average.evaluated"))]
        places += [norm.site.span.related(message("average.norm.here"))] if norm.site is not None else []
        text = message("average.norms.never", norm=norm.type_name)
        yield Finding(source.span(one.loop.iter), text, tuple(places), tuple(_copied(one)), severity="warning")


def _is_loaded(analysis: Analysis, average: Value) -> bool:
    """Whether a copy is given the state of the model again and again."""
    loads = analysis.calls.get("torch.nn.Module.load_state_dict", ())
    return any(call.receiver is average and call.loops for call in loads) or unseen(analysis, "load_state_dict")


def _is_in(event: Event, average: Value) -> bool:
    return any(part is event.subject for part in descendants(average))


def _copied(one: Following) -> Iterator[Candidate]:
    """A second loop, which copies the buffers."""
    source, iterable = one.source, one.loop.iter
    calls = [one.average.site.node, one.trained.site.node]
    if is_function_call(iterable, "zip") and all(map(is_method_call, calls)):
        own, new = (source.segment(call.func.value) for call in calls if is_method_call(call))
        indent = edits.next_line(source, one.loop.lineno)
        text = f"for ours, theirs in zip({own}.buffers(), {new}.buffers()):{indent}    ours.copy_(theirs)"
        edit = edits.insert_line_after(source, one.loop, text)
        yield Candidate(message("fix.copy_buffers"), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)

"""load-overwritten: weights that are loaded, and initialised again.

What it finds
    `model.load_state_dict(…)`, after which every layer of the model is initialised by torch.nn.init before the model is
    used: mostly `model.apply(init_weights)` in the wrong place. `optimizer.load_state_dict(…)` of an optimizer that never
    steps afterwards, as another one is made for the same parameters.
Why it hurts
    Nothing of the checkpoint is left, and training starts from random weights, or from averages of zero. Nothing is raised.
Example
    model.load_state_dict(torch.load("pretrained.pt"))
    model.apply(init_weights)
Use instead
    model.apply(init_weights)
    model.load_state_dict(torch.load("pretrained.pt"))
Fix safety
    Safe: loading was in vain otherwise.
References
    torch.nn.Module.load_state_dict, torch.nn.init
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants, has_own_parameters, has_unknown_parts, parts_of
from torchsleuth.interp.library.optim import is_optimizer, trained_parts
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import blocks_of, is_alone, place_in, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.values import Instance, LibraryModule, LibraryObject, Site, Tensor, Value

CODE = "TS537"
_LOAD = "torch.nn.Module.load_state_dict"
_INIT = "torch.nn.init."


def find(analysis: Analysis) -> Iterator[Finding]:
    calls, seen = analysis.trace.calls, set()
    for position, load in enumerate(calls):
        if load.path != _LOAD or not load.certain or load.guarded or load.loops or load.site.span in seen:
            continue
        layers = _layers(load.receiver)
        last = _initialised(analysis, load, calls[position + 1 :], layers) if layers else None
        place = place_in(last.site, load.site.scene.function) if last is not None else None
        if place is not None and place.scene == load.site.scene:
            seen.add(load.site.span)
            yield _finding(analysis, load, place)
    yield from _optimizers(analysis)


def _optimizers(analysis: Analysis) -> Iterator[Finding]:
    """Optimizers whose state is loaded, and that others take the place of."""
    calls, trace = analysis.trace.calls, analysis.trace
    reported: set[Span] = set()
    for position, load in enumerate(calls):
        loaded = as_kind(load.receiver, LibraryObject)
        if not load.path.endswith(".load_state_dict") or loaded is None:
            continue
        plain = is_optimizer(loaded) and load.certain and not load.guarded and not load.loops
        if not plain or load.site.span in reported or loaded.identity in trace.escaped:
            continue
        if any(call.receiver is loaded or loaded in call.args for call in calls[position + 1 :]):
            continue
        other = next((call for call in calls[position + 1 :] if _takes_over(analysis, call, loaded)), None)
        place = place_in(other.site, load.site.scene.function) if other is not None else None
        if place is not None and place.scene == load.site.scene:
            reported.add(load.site.span)
            text = message("load.replaced", line=load.site.span.start.line)
            places = (load.site.span.related(message("load.replaced.loaded")),)
            yield Finding(place.span, text, places, _exchanged(analysis, load.site, place))


def _takes_over(analysis: Analysis, call: LibraryCall, loaded: LibraryObject) -> bool:
    """Whether a call makes an optimizer that steps in the place of another, and is given no state itself."""
    made = as_kind(call.result, LibraryObject)
    if made is None or made.path != loaded.path or call.path != made.path or not call.certain:
        return False
    own, others = ({part.identity for part in trained_parts(one)} for one in (made, loaded))
    given = any(one.receiver is made and one.path.endswith(".load_state_dict") for one in analysis.trace.calls)
    steps = any(event.kind == "step" and event.subject is made for event in analysis.trace.events)
    return bool(own) and own == others and steps and not given and made.identity not in analysis.trace.escaped


def _layers(module: Value) -> set[int]:
    """The layers with parameters, but for those that normalise; empty where they are not all known."""
    if not isinstance(module, LibraryModule | Instance) or has_unknown_parts(module):
        return set()
    parts = list(parts_of(module))
    if any(isinstance(part, Tensor) or part.built is not None for part in parts):
        return set()
    own = [part for part in of_kind(parts, LibraryModule) if has_own_parameters(part)]
    return {part.identity for part in own if "Norm" not in part.type_name}


def _initialised(
    analysis: Analysis, load: LibraryCall, calls: list[LibraryCall], layers: set[int]
) -> LibraryCall | None:
    """The call by which the last of the layers is initialised, if nothing uses the model, or loads again, before it."""
    whole = {part.identity for part in of_kind(descendants(load.receiver), LibraryModule, Instance)}
    left, last = set(layers), None
    for call in calls:
        if any(event.kind == "forward" for event in analysis.trace.events[load.after : call.after]):
            break
        given = as_kind(call.first, Tensor)
        if (
            call.path == _LOAD
            and isinstance(call.receiver, LibraryModule | Instance)
            and call.receiver.identity in whole
        ):
            return None
        if call.path.startswith(_INIT) and call.certain and given is not None and given.owner is not None:
            left.discard(given.owner.identity)
            last = last or (None if left else call)
    return last


def _finding(analysis: Analysis, load: LibraryCall, place: Site) -> Finding:
    text = message("load.overwritten", line=load.site.span.start.line)
    places = (load.site.span.related(message("load.overwritten.loaded")),)
    return Finding(place.span, text, places, _exchanged(analysis, load.site, place))


def _exchanged(analysis: Analysis, load: Site, place: Site) -> Iterator[Candidate]:
    """The statement that loads, behind the one that initialises."""
    path = load.span.path
    first, behind = statement_of(analysis, load), statement_of(analysis, place)
    tree, source = analysis.tree(path), analysis.source_of(path)
    block = next((one for one in blocks_of(tree) if first in one), [])
    around = edits.path_to(tree, behind) if behind is not None else []
    behind = next((part for part in block if part in around), None)
    if isinstance(first, ast.Expr) and behind is not None and is_alone(first, analysis, path):
        text = source.segment(first)
        changes = (edits.remove_line(source, first.lineno), edits.insert_line_after(source, behind, text))
        yield Candidate(message("fix.move_after", text=text, line=behind.end_lineno), changes)


RULE = Rule(FAULTS[CODE], find, of_absence=True)

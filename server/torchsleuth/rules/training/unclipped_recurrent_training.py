"""unclipped-recurrent-training: a recurrent or attention model trained without gradient clipping.

What it finds
    A training loop with backward() and step() over a model that contains an RNN, LSTM, GRU or Transformer, and no
    clipping of gradients anywhere.
Why it hurts
    Gradients through many time steps or layers explode now and then; one such step can undo hours of training.
Example
    loss.backward()
    optimizer.step()
Use instead
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
Fix safety
    Changes the training, mildly: large gradients are scaled down to norm 1.
References
    torch.nn.utils.clip_grad_norm_
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import changes_gradients, feeds
from torchsleuth.rules.evidence.loops import is_simple, modules_of, name_in, optimizer_text, receiver_text, statement_of
from torchsleuth.rules.evidence.modules import named
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryModule, LibraryObject

CODE = "TS510"
_RECURRENT = frozenset(
    "RNN LSTM GRU LSTMCell GRUCell RNNCell Transformer TransformerEncoder TransformerDecoder "
    "TransformerEncoderLayer TransformerDecoderLayer MultiheadAttention".split()
)


def find(analysis: Analysis) -> Iterator[Finding]:
    events = analysis.trace.events
    found: dict[object, tuple[LibraryObject, LibraryModule, Event]] = {}
    for optimizer in analysis.trace.optimizers:
        layer = next((part for part in trained_parts(optimizer) if _recurrent(part)), None)
        step = next((event for event in analysis.events_of(optimizer, "step") if event.loops), None)
        if not isinstance(layer, LibraryModule) or step is None or optimizer.identity in analysis.trace.escaped:
            continue
        if any(event.kind == "backward" and feeds(event, optimizer) is not False for event in events[: step.index]):
            found.setdefault(step.site.span, (optimizer, layer, step))
    if found and not any(event.kind == "clip" for event in events) and not changes_gradients(analysis):
        for optimizer, layer, step in found.values():
            yield _finding(analysis, optimizer, layer, step)


def _recurrent(part: object) -> bool:
    return isinstance(part, LibraryModule) and part.type_name in _RECURRENT and part.requires_grad is True


def _finding(analysis: Analysis, optimizer: LibraryObject, layer: LibraryModule, step: Event) -> Finding:
    places: tuple[Related, ...] = ()
    if layer.site is not None:
        places = (layer.site.span.related(message("clip.missing.layer", layer=layer.type_name)),)
    text = message("clip.missing", layer=layer.type_name)
    return Finding(step.site.span, text, places, _clipped(analysis, optimizer, step))


def _clipped(analysis: Analysis, optimizer: LibraryObject, step: Event) -> Iterator[Candidate]:
    """``clip_grad_norm_`` before the step; where a scaler makes it, behind an ``unscale_``."""
    path = step.site.span.path
    statement, name = statement_of(analysis, step.site), optimizer_text(analysis, step)
    if statement is None or name is None or not is_simple(statement, analysis, path):
        return
    given = [name_in(step.site.scene, module) for module in modules_of(optimizer)]
    parameters = f"{given[0]}.parameters()" if len(given) == 1 and given[0] else None
    parameters = parameters or f"[p for group in {name}.param_groups for p in group['params']]"
    source = analysis.source_of(path)
    function, imports = named(analysis, step.site, "torch.nn.utils.clip_grad_norm_")
    lines = [f"{function}({parameters}, max_norm=1.0)"]
    receiver = receiver_text(step.site)
    if receiver != name:
        lines.insert(0, f"{receiver}.unscale_({name})")
    separator = edits.next_line(source, statement.lineno)
    edit = edits.insert_line_before(source, statement, separator.join(lines))
    yield Candidate(message("fix.clip"), (*imports, edit), safe=False)


RULE = Rule(FAULTS[CODE], find, of_absence=True)

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

import ast
from collections.abc import Iterator

from torchsleuth.interp.library.modules import descendants
from torchsleuth.interp.trace import Event
from torchsleuth.interp.values import LibraryModule
from torchsleuth.messages import message
from torchsleuth.rules.loops import is_simple, modules_of, statement_of, trained_by
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS510"
_RECURRENT = frozenset(
    "RNN LSTM GRU LSTMCell GRUCell RNNCell Transformer TransformerEncoder TransformerDecoder "
    "TransformerEncoderLayer TransformerDecoderLayer MultiheadAttention".split()
)


def find(analysis: Analysis) -> Iterator[Finding]:
    events = analysis.trace.events
    if any(event.kind in ("clip", "grad_touched", "unscale") for event in events):
        return
    reported: set[tuple[str, int]] = set()
    for optimizer in analysis.trace.optimizers:
        if not any(_recurrent(module) for module in modules_of(optimizer)):
            continue
        steps = [event for event in events if event.kind == "step" and event.subject is optimizer and event.loops]
        for step in steps[:1]:
            backward = next((e for e in reversed(events[: step.index]) if e.kind == "backward"), None)
            key = (step.site.span.path, step.site.span.start.line)
            if backward is not None and key not in reported:
                reported.add(key)
                yield _finding(analysis, backward, step)


def _recurrent(module: object) -> bool:
    return any(isinstance(part, LibraryModule) and part.type_name in _RECURRENT for part in descendants(module))


def _finding(analysis: Analysis, backward: Event, step: Event) -> Finding:
    forward = _forward(analysis, step)
    name = ast.unparse(forward.site.node.func) if forward and isinstance(forward.site.node, ast.Call) else None
    statement = statement_of(analysis, step.site)
    candidates: list[Candidate] = []
    in_scope = forward is not None and forward.site.frame.function is step.site.frame.function
    if name and in_scope and statement is not None and is_simple(statement, analysis, step.site.span.path):
        source = analysis.source_of(step.site.span.path)
        prefix = "torch." if "torch" in step.site.frame.globals else ""
        if not prefix and "nn" not in step.site.frame.globals:
            prefix = "torch."
        line = f"{prefix}nn.utils.clip_grad_norm_({name}.parameters(), max_norm=1.0)"
        edit = edits.insert_line_before(source, statement, line)
        candidates.append(Candidate(message("fix.clip"), (edit,), safe=False))
    text = message("clip.missing", module=f"`{name}`" if name else "the model")
    return Finding(step.site.span, text, (), tuple(candidates))


def _forward(analysis: Analysis, step: Event) -> Event | None:
    """The last forward before the step of a module that its optimizer trains."""
    for event in reversed(analysis.trace.events[: step.index]):
        if event.kind == "forward" and trained_by(step.subject, event.subject):
            return event
    return None


RULE = Rule(CODE, "unclipped-recurrent-training", "hint", "training loop", __doc__, find)

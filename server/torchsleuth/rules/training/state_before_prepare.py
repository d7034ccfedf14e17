"""state-before-prepare: load_state() of an accelerator that does not know any model yet.

What it finds
    `accelerator.load_state()` before the model and the optimizer are given to `accelerator.prepare()`.
Why it hurts
    The accelerator restores what it was given so far, and that is nothing: the training begins again with new weights. Nothing is
    raised.
Example
    accelerator.load_state("last")
    model, optimizer = accelerator.prepare(model, optimizer)
Use instead
    model, optimizer = accelerator.prepare(model, optimizer)
    accelerator.load_state("last")
Fix safety
    Safe: the state is restored, once there is something to restore it in.
References
    "Checkpointing" in the Accelerate documentation
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.accelerate import ACCELERATOR
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_alone, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, moved_after
from torchsleuth.values import is_module, is_object

CODE = "TS593"
_REGISTERS = ("prepare", "prepare_model", "prepare_optimizer", "prepare_scheduler", "register_for_checkpointing")


def find(analysis: Analysis) -> Iterator[Finding]:
    told = [call for name in _REGISTERS for call in analysis.calls.get(f"{ACCELERATOR}.{name}", ())]
    for load in analysis.calls_at_places(f"{ACCELERATOR}.load_state"):
        own = [call for call in told if call.receiver is load.receiver]
        later = [call for call in own if call.moment > load.moment and any(map(is_module, call.args))]
        unknown = not is_object(load.receiver, ACCELERATOR) or load.receiver.identity in analysis.trace.escaped
        if unknown or not later or len(later) < len(own):
            continue
        text = message("accelerator.state_before", line=later[0].site.span.start.line)
        place = later[0].site.span.related(message("accelerator.prepared"))
        yield Finding(load.site.span, text, (place,), tuple(_moved(analysis, load, later[0])))


def _moved(analysis: Analysis, load: LibraryCall, prepare: LibraryCall) -> Iterator[Candidate]:
    one, other = statement_of(analysis, load.site), statement_of(analysis, prepare.site)
    path = load.site.span.path
    if one is not None and other is not None and path == prepare.site.span.path and is_alone(one, analysis, path):
        if load.site.scene.function is prepare.site.scene.function and one.col_offset == other.col_offset:
            yield moved_after(analysis.source_of(path), one, other)


RULE = Rule(FAULTS[CODE], find)

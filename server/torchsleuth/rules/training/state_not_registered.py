"""state-not-registered: an object with a state of its own that the checkpoints of an accelerator do not hold.

What it finds
    An object whose class has `state_dict()` and `load_state_dict()`, which nobody calls, in a program that saves and loads with
    `accelerator.save_state()` and `load_state()`, and does not register it.
Why it hurts
    save_state() writes what was prepared or registered. After a resumed training, the object has the state it began with: the
    average of the weights, or the counter, is lost.
Example
    ema = Average(model)
    accelerator.save_state("last")
    accelerator.load_state("last")
Use instead
    ema = Average(model)
    accelerator.register_for_checkpointing(ema)
    accelerator.save_state("last")
    accelerator.load_state("last")
Fix safety
    Safe: the checkpoint holds one file more.
References
    accelerate.Accelerator.register_for_checkpointing
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.accelerate import ACCELERATOR
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.accelerators import called_by_name, name_of
from torchsleuth.rules.evidence.loops import is_alone, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.values import ClassValue, Function, Instance

CODE = "TS594"
_OF_STATES = ("state_dict", "load_state_dict")


def find(analysis: Analysis) -> Iterator[Finding]:
    saves = analysis.calls.get(f"{ACCELERATOR}.save_state", ())
    if not saves or not analysis.calls.get(f"{ACCELERATOR}.load_state"):
        return
    hooks = "register_save_state_pre_hook", "register_for_checkpointing"
    if called_by_name(analysis, *hooks):
        return
    save = saves[0]
    for name, value in save.site.scene.names.items():
        if not isinstance(name, str) or not isinstance(value, Instance) or not _keeps_state(value):
            continue
        made = value.site
        if any(f"{name}.{method}" in source.text for source in analysis.sources for method in _OF_STATES):
            continue
        if made is not None and made.call is not None and value.identity not in analysis.trace.escaped:
            text = message("accelerator.not_registered", name=name)
            place = save.site.span.related(message("accelerator.saved"))
            yield Finding(made.span, text, (place,), tuple(_registered(analysis, value, name, save)))


def _keeps_state(value: Instance) -> bool:
    """Whether the class of an object says itself what its state is, and the object is none that is prepared."""
    own = [cls for cls in value.cls.mro() if isinstance(cls, ClassValue)]
    defined = all(any(isinstance(cls.slots.get(name), Function) for cls in own) for name in _OF_STATES)
    return defined and not value.is_module and value.native is None


def _registered(analysis: Analysis, value: Instance, name: str, save: LibraryCall) -> Iterator[Candidate]:
    """``accelerator.register_for_checkpointing(ema)`` below the statement that makes the object."""
    made, accelerator = value.site, name_of(save)
    statement = statement_of(analysis, made) if made is not None else None
    if made is not None and statement is not None and accelerator is not None:
        if is_alone(statement, analysis, made.span.path) and save.receiver in made.scene.names.values():
            line = f"{accelerator}.register_for_checkpointing({name})"
            edit = edits.insert_line_after(made.source, statement, line)
            yield Candidate(message("fix.insert", text=line), (edit,))


RULE = Rule(FAULTS[CODE], find, of_absence=True)

"""trainer-arguments: arguments of the Trainer of transformers of which one undoes another.

What it finds
    `load_best_model_at_end=True` with an `eval_strategy` that is not the `save_strategy`; a stream without a length that is trained
    without `max_steps`. And arguments that nothing reads: `num_train_epochs` beside a `max_steps`, a `learning_rate` beside an optimizer
    with another one.
Why it hurts
    TrainingArguments and the Trainer raise a ValueError in the first two cases. In the others the training is shorter, or has another
    learning rate, than what is written.
Example
    args = TrainingArguments("out", num_train_epochs=10, max_steps=10)
Use instead
    args = TrainingArguments("out", num_train_epochs=10)
Fix safety
    Safe for the strategies; the others show one of two things that may be meant.
References
    transformers.TrainingArguments
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.finetuning import ARGUMENTS, made_with, trainings, whole_call
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument, replacement
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import keyword_of
from torchsleuth.values import ClassValue, Instance, LibraryObject, is_int, items_of
from torchsleuth.values.join import MISSING

CODE = "TS595"
_STREAM = "torch.utils.data.IterableDataset"


def find(analysis: Analysis) -> Iterator[Finding]:
    for call in analysis.calls_at_places(*ARGUMENTS):
        node = whole_call(call)
        if node is not None and call.path in ARGUMENTS:
            yield from _of_strategies(call, node)
            yield from _of_epochs(call, node)
    made = made_with(analysis)
    for trainer in trainings(analysis):
        if made is not None and "args" in trainer.kwargs:
            yield from _of_stream(trainer, made)
            yield from _of_rate(trainer, made)


def _of_strategies(call: LibraryCall, node: ast.Call) -> Iterator[Finding]:
    """The best model is known where it is measured whenever one is kept."""
    if call.kwargs.get("load_best_model_at_end") is not True:
        return
    old, saves = keyword_of(node, "evaluation_strategy"), call.kwargs.get("save_strategy", "steps")
    name = "eval_strategy" if old is None else "evaluation_strategy"
    measures = call.kwargs.get(name, "no")
    if not isinstance(measures, str) or not isinstance(saves, str) or saves in (measures, "best"):
        return
    source, given = call.site.source, keyword_of(node, name)
    text = message("trainer.strategies", name=name, measures=measures, saves=saves)
    fixes: tuple[Candidate, ...] = ()
    if saves != "no":
        new = f'"{saves}"'
        fixes = (replacement(source, given.value, new) if given else added_argument(source, node, f"{name}={new}"),)
    at = keyword_of(node, "load_best_model_at_end") or node
    yield Finding(source.span(at), text, (), fixes, severity="error")


def _of_epochs(call: LibraryCall, node: ast.Call) -> Iterator[Finding]:
    """A number of steps, beside a number of epochs that nothing reads then."""
    steps, epochs = (keyword_of(node, name) for name in ("max_steps", "num_train_epochs"))
    most = call.kwargs.get("max_steps")
    if steps is not None and epochs is not None and is_int(most) and isinstance(most, int) and most > 0:
        text = message("trainer.epochs", steps=most, epochs=call.site.source.segment(epochs.value))
        yield Finding(call.site.source.span(steps), text)


def _of_stream(trainer: LibraryCall, made: LibraryCall) -> Iterator[Finding]:
    """A data set that can only be gone through, without a number of steps."""
    data, steps = as_kind(trainer.given(3, "train_dataset"), Instance), made.kwargs.get("max_steps", -1)
    if data is None or not data.cls.derives_from(_STREAM) or data.cls.opaque or not isinstance(steps, int) or steps > 0:
        return
    if any("__len__" in base.slots for base in of_kind(data.cls.mro(), ClassValue)):
        return
    text = message("trainer.stream", name=data.cls.name)
    place = made.site.span.related(message("trainer.here"))
    yield Finding(trainer.site.span, text, (place,), severity="error")


def _of_rate(trainer: LibraryCall, made: LibraryCall) -> Iterator[Finding]:
    """A learning rate that an optimizer of its own makes void."""
    given, node = items_of(trainer.kwargs.get("optimizers")), made.site.call
    optimizer = as_kind(given[0], LibraryObject) if given else None
    written = keyword_of(node, "learning_rate") if node is not None else None
    if optimizer is None or written is None or not optimizer.path.startswith("torch.optim."):
        return
    rate, own = made.kwargs.get("learning_rate"), optimizer.given(1, "lr", MISSING)
    if isinstance(rate, float | int) and isinstance(own, float | int) and rate != own:
        text = message("trainer.rate", given=f"{rate:g}", used=f"{own:g}")
        place = trainer.site.span.related(message("trainer.here"))
        yield Finding(made.site.source.span(written), text, (place,))


RULE = Rule(FAULTS[CODE], find)

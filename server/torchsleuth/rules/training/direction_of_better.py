"""direction-of-better: something that watches a loss or an accuracy, and takes the worse values for the better ones.

What it finds
    `ReduceLROnPlateau(mode="max")` that is stepped with a loss, or one of mode "min", the default, that is stepped with an
    accuracy; checkpoints and early stopping of Lightning that monitor one of them in the wrong direction.
Why it hurts
    Every improvement counts as none: the learning rate is lowered, the training stopped, the worst weights are kept.
Example
    scheduler = ReduceLROnPlateau(optimizer, mode="max")
    scheduler.step(val_loss)
Use instead
    scheduler = ReduceLROnPlateau(optimizer, mode="min")
    scheduler.step(val_loss)
Fix safety
    Safe: the direction is the one of the value.
References
    torch.optim.lr_scheduler.ReduceLROnPlateau
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import held
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument, replacement
from torchsleuth.schema import Related, Span
from torchsleuth.syntax.forms import argument_of, last_word
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import UNKNOWN, LibraryObject, Value
from torchsleuth.values.frames import Scene

CODE = "TS576"
_LOWER = frozenset({"loss", "losses", "error", "perplexity", "ppl", "mse", "mae", "rmse", "wer", "cer"})
"""Words for values of which the smallest is the best."""
_HIGHER = frozenset({"acc", "accuracy", "iou", "miou", "auc", "auroc", "f1", "precision", "recall", "top1"})
_MONITORS = ("ModelCheckpoint", "EarlyStopping")
_PACKAGES = ("lightning.pytorch.callbacks", "pytorch_lightning.callbacks")


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for event in analysis.events("scheduler_step"):
        subject, call = event.subject, event.site.call
        made = subject.site if isinstance(subject, LibraryObject) and subject.type_name == "ReduceLROnPlateau" else None
        given = argument_of(call, 0, "metrics") if call is not None else None
        if made is None or made.call is None or given is None or event.site.span in seen:
            continue
        seen.add(event.site.span)
        watched = event.site.source
        place = watched.span(given).related(message("better.stepped"))
        mode = subject.given(1, "mode", None) if isinstance(subject, LibraryObject) else UNKNOWN
        name = _told(given, event.site.scene)
        yield from _judged(made.source, made.call, 1, mode, name, watched.segment(given), (place,))
    for name in (f"{package}.{monitor}" for package in _PACKAGES for monitor in _MONITORS):
        for made_call in analysis.calls.get(name, ()):
            node = made_call.site.call
            given = argument_of(node, None, "monitor") if node is not None else None
            if node is not None and isinstance(given, ast.Constant) and made_call.site.span not in seen:
                seen.add(made_call.site.span)
                mode = made_call.kwargs.get("mode")
                yield from _judged(made_call.site.source, node, None, mode, given.value, repr(given.value), ())


def _told(given: ast.expr, scene: Scene) -> object:
    """The name that a value is known by: of an entry, its key."""
    return held(given.slice, scene) if isinstance(given, ast.Subscript) else last_word(given)


def _judged(
    source: SourceText,
    call: ast.Call,
    position: int | None,
    given: Value,
    name: object,
    text: str,
    places: tuple[Related, ...],
) -> Iterator[Finding]:
    """The finding about an object that watches a value by a name, in the direction that it was `given`: None for the default."""
    words = set(re.split(r"[^a-z0-9]+", name.lower())) if isinstance(name, str) else set()
    lower, higher = bool(words & _LOWER), bool(words & _HIGHER)
    mode = argument_of(call, position, "mode")
    if lower == higher or (mode is not None and not isinstance(mode, ast.Constant)):
        return
    chosen = "min" if given is None else given
    meant = "min" if lower else "max"
    if chosen in ("min", "max") and chosen != meant:
        fixes: list[Candidate] = []
        if mode is not None:
            fixes = [replacement(source, mode, f'"{meant}"')]
        elif given is None:
            fixes = [added_argument(source, call, f'mode="{meant}"')]
        at = source.span(mode if mode is not None else call)
        said = message("better.direction", value=f"`{text}`", mode=chosen, meant=meant)
        yield Finding(at, said, places, fixes)


RULE = Rule(FAULTS[CODE], find)

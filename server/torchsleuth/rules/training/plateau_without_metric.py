"""plateau-without-metric: a schedule that watches a value which it is never told.

What it finds
    step() of ReduceLROnPlateau without an argument.
Why it hurts
    TypeError "step() missing 1 required positional argument: 'metrics'", after the first epoch.
Example
    scheduler = ReduceLROnPlateau(optimizer, patience=2)
    scheduler.step()
Use instead
    scheduler.step(validation_loss)
Fix safety
    Unsafe: of the values at hand, the loss of the validation is offered before other losses.
References
    torch.optim.lr_scheduler.ReduceLROnPlateau
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import receiver_text
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import nodes_in, stores
from torchsleuth.values import LibraryObject, Scalar, Site, Tensor, Value
from torchsleuth.values.frames import Scene

CODE = "TS521"
_MAX = 3


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.UNTOLD):
        node, subject = misuse.site.call, as_kind(misuse.value, LibraryObject)
        if subject is not None and subject.type_name == "ReduceLROnPlateau":
            name = receiver_text(misuse.site) or "the scheduler"
            text = message("scheduler.metric", scheduler=f"`{name}`")
            fixes = tuple(_told(misuse.site, node)) if node is not None else ()
            yield Finding(misuse.site.span, text, (), fixes)


def _told(step: Site, call: ast.Call) -> Iterator[Candidate]:
    source, frame = step.source, step.scene
    names = [name for name in _assigned_above(step, frame) if _is_number(frame.names.get(name))]
    names.sort(key=lambda name: ("val" not in name.lower() and "test" not in name.lower(), "loss" not in name.lower()))
    for name in names[:_MAX]:
        text = f"{name}.item()" if isinstance(frame.names[name], Tensor) else name
        yield added_argument(source, call, text, safe=False)


def _assigned_above(step: Site, frame: Scene) -> list[str]:
    """The names that the function, or the script, sets above the call, the last one first."""
    scope = frame.scope
    stored = [part for part in nodes_in(scope, ast.Name) if stores(part) and part.lineno < step.span.start.line]
    return list(dict.fromkeys(part.id for part in sorted(stored, key=lambda part: -part.lineno)))


def _is_number(value: Value) -> bool:
    if isinstance(value, Tensor):
        return value.spec.shape == ()
    return isinstance(value, float) or (isinstance(value, Scalar) and value.type == "float")


RULE = Rule(FAULTS[CODE], find)

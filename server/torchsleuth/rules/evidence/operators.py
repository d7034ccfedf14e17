"""Which code an operator's failure belongs to, and what its finding says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePath

from torchsleuth.explanations import BY_INDEX, explained, family
from torchsleuth.interp.trace import Operation, OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import constructor_related
from torchsleuth.rules.evidence.describe import (
    call_trail,
    dtype_trail,
    operator_text,
    origin_trail,
)
from torchsleuth.rules.evidence.operands import operand, operands
from torchsleuth.rules.rule import Analysis, Finding
from torchsleuth.schema import Related
from torchsleuth.values import LibraryModule

EXCHANGED = "TS313"
_ORDERED = frozenset(
    "CrossEntropyLoss cross_entropy NLLLoss nll_loss BCELoss binary_cross_entropy BCEWithLogitsLoss "
    "binary_cross_entropy_with_logits PoissonNLLLoss poisson_nll_loss".split()
)
"""Losses for which it matters which argument is the prediction."""
_PUT_OUT = frozenset({"logits", "softmax", "log_softmax", "sigmoid", "activation"})
_OF_DTYPES = frozenset({"TS301", "TS302", "TS307", "TS309"})
"""Failures over a dtype: of the operands, it matters where they got theirs. Most have float32, which says nothing."""
_RECURRENT = ("RNN", "LSTM", "GRU")
_ATTENDING = ("MultiheadAttention", "Transformer")


def code_of(failure: OperatorFailure) -> str:
    """The code that a failure is reported under."""
    return "TS117" if failure.last_batch else family_of(failure)


def family_of(failure: OperatorFailure) -> str:
    """The code of the family that an operator's error belongs to; TS199 for the rest."""
    if is_exchanged(failure.operation):
        return EXCHANGED
    module = failure.operation.module
    if module is not None and module.type_name in _RECURRENT and "out of bounds" in failure.failure.message:
        return "TS110"
    if (
        module is not None
        and module.type_name.startswith(_ATTENDING)
        and "is invalid for input of size" in failure.failure.message
    ):
        return "TS111"  # Batches of two sizes, which are divided into heads.
    code = family(failure.failure.message) or "TS199"
    if code == "TS302" and failure.operation.name.startswith(BY_INDEX):
        return "TS309"
    return "TS301" if code == "TS307" and not _is_binary(failure.operation) else code


def _is_binary(operation: Operation) -> bool:
    """Whether an operation is a binary cross entropy, the one that TS307 is about; others refuse integers, too."""
    name = operation.name
    return name.startswith(("BCE", "binary_cross_entropy")) or "Loss" in name or name.endswith("_loss")


def is_exchanged(operation: Operation) -> bool:
    """Whether a loss is given what a layer puts out as its target, and something else as its prediction."""
    if operation.name not in _ORDERED:
        return False
    prediction, target = operand(operation, 0, "input"), operand(operation, 1, "target")
    if prediction is None or target is None or prediction.spec.requires_grad is not False:
        return False
    learnt = target.spec.requires_grad is True or (prediction.spec.dtype or "").startswith("int")
    return learnt and bool(target.tensor.tags & _PUT_OUT) and not prediction.tensor.tags & _PUT_OUT


def failures(analysis: Analysis, code: str) -> Iterator[OperatorFailure]:
    for failure in analysis.trace.failures:
        if code_of(failure) == code:
            yield failure


def trail(
    analysis: Analysis, failure: OperatorFailure, argument: str | None = None, value: object = None
) -> tuple[Related, ...]:
    """The other ends of a failure: the layer's constructor, where each operand's shape or dtype was made, the calls."""
    operation = failure.operation
    places: list[Related] = []
    if isinstance(operation.module, LibraryModule):
        places += constructor_related(operation.module, argument, value)
    if code_of(failure) in _OF_DTYPES:
        for part in operands(operation)[:3]:
            places += dtype_trail(part.tensor, part.text()) if part.spec.dtype != "float32" else []
    else:
        for part in operands(operation)[:2]:
            places += origin_trail(part.tensor, part.text())
    places += map(partial(_with_condition, analysis, operation), call_trail(operation.site.scene))
    seen: dict[tuple[str, int, int, int], Related] = {}
    for place in places:
        seen.setdefault((place.path, place.start.line, place.start.column, place.end.column), place)
    own = operation.site.span
    return tuple(place for place in seen.values() if place.span != own)


def _with_condition(analysis: Analysis, operation: Operation, place: Related) -> Related:
    """The call that leads to a failure, with the condition that it breaks."""
    broken = analysis.trace.broken.get(operation.site.span)
    at = broken.call.span if broken is not None else None
    if broken is None or at is None or place.span != at:
        return place
    own = operation.site.span
    where = f"{PurePath(own.path).name}:{own.start.line}"
    text = message(f"related.call.{broken.kind}", text=broken.text, operator=operator_text(operation), place=where)
    return replace(place, message=text)


def own_words(failure: OperatorFailure) -> str:
    """PyTorch's message without the name of the operator, which stands in ours already."""
    name = failure.operation.name
    return failure.failure.message.strip().split("\n")[0].removeprefix(f"torch.{name}(): ").removeprefix(f"{name}(): ")


def generic(analysis: Analysis, code: str) -> Iterator[Finding]:
    """Findings of a code in PyTorch's own words, with the operands named."""
    return (finding for _, finding in reported(analysis, code))


def reported(analysis: Analysis, code: str) -> Iterator[tuple[OperatorFailure, Finding]]:
    """The failures of a code, each with its finding in PyTorch's own words."""
    for failure in failures(analysis, code):
        operation = failure.operation
        described = [part.described("input") for part in operands(operation)[:3] if part.spec.shape is not None]
        error = explained(failure.failure.message) or own_words(failure)
        operator = operator_text(operation)
        text = (
            message("operator.error", operator=operator, shapes=", ".join(described), error=error)
            if described
            else message("operator.plain", operator=operator, error=error)
        )
        yield failure, Finding(operation.site.span, text, trail(analysis, failure))

"""Which code an operator's failure belongs to: one table from the message PyTorch raises to the rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePath

from torchsleuth.explanations import BY_INDEX, WANTS_FLOATS, explained
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

PATTERNS: tuple[tuple[str, str], ...] = (
    ("TS823", r"cannot assign '.*' object to (?:buffer|parameter)"),
    ("TS801", r"deprecated since version .* is now removed"),
    ("TS609", r"Expected more than 1"),
    ("TS530", r"loaded state dict (?:contains|has)"),
    ("TS105", r"view size is not compatible"),
    ("TS312", r"(?:must be|be of type|an?) (?:tuple of )?[Ii]nt(?:eger)?s?\b.*float|received an invalid combination of arguments - got \([^)]*float"),
    ("TS113", r"Expected input batch_size|Expected target size|input and target batch or spatial sizes|weight tensor should"),
    ("TS113", r"size mismatch \(got input: .* , target: |Using a target size|Target size .* must be the same as input size"),
    ("TS113", r"only batches of spatial targets|multi-target not supported|must be of size batch_size"),
    ("TS302", r"expected target dtype to be Long|expected scalar type Long|Expected floating point type for target"),
    ("TS307", r"result type \w+ can't be cast to the desired output type Long|Found dtype Long but expected Float"),
    ("TS309", r"tensors used as indices must be|one of the following scalar types: Long, Int|[Ee]xpected.*int64 for index"),
    ("TS309", r"one_hot is only applicable to index tensor"),
    ("TS310", r"is out of bounds|index out of range in self|Class values must be"),
    ("TS301", r"same dtype|same data ?type|but found (Double|Float|Half|Long|Int)|should be the same|input dtype"),
    ("TS301", WANTS_FLOATS),
    ("TS301", r"not implemented for '\w+'|expected condition to be a boolean|only supports boolean masks"),
    ("TS301", r"value cannot be converted to type|can't be cast to the desired output type|destination dtypes match"),
    ("TS301", r"expected parameter to have scalar type|operator.* bool tensor|only implemented on integer"),
    ("TS110", r"input_size\. Expected|inconsistent input_size|Expected hidden|Expected input to be 2D or 3D|hx should also be"),
    ("TS110", r"batch_size must match|(?:Input batch size|input) .*hidden\d?|LSTM: Expected|GRU: Expected|RNN: Expected"),
    ("TS111", r"embed_dim|embedding dimension|attn_mask|key_padd|num_heads|equal to d_model|src and tgt|padding_mask|key's sequence"),
    ("TS111", r"only bool and floating types of"),
    ("TS109", r"running_mean should|running_var should|normalized_shape=|num_groups|weight to be a vector of size|match num_features"),
    ("TS112", r"Kernel size can't be greater|Output size is too small|Padding size should be less"),
    ("TS102", r"to have \d+ channels|expected weight to be at least|divisible by groups|expected input\[.*channels"),
    ("TS101", r"cannot be multiplied|size mismatch, got|first two dimensions of batch2|einsum\(\)|inconsistent tensor size"),
    ("TS101", r"must have same reduction dim|same number of columns|size does not match weight size"),
    ("TS104", r"is invalid for input of size|only one dimension can be inferred|unflatten|number of sizes provided|split_sizes to sum"),
    ("TS106", r"Sizes of tensors must match except|cannot be concatenated|stack expects each tensor|same number of dimensions: got"),
    ("TS104", r"Shape mismatch, |Could not infer sizes for|Identifiers? only on one side|Axis \w+ is not used"),
    ("TS107", r"Dimension out of range"),
    ("TS103", r"shape of the mask|must match the size of tensor|doesn't match the broadcast shape|must match the existing size|cannot broadcast|broadcast"),
    ("TS108", r"Expected \d-?D|expected \d-?D|number of dimensions|too many indices|must be a 3D tensor|must be a matrix|1D tensors expected"),
    ("TS108", r"dims|same number of dimensions as|3D or 4D|1D or 2D|t\(\) expects|1 or 2 dim|at least \d dimensions"),
    ("TS108", r"must have the same number of spatial|Expected a batch of 2D affine|mode needs \dD input|Wrong shape: expected|no larger than self|0-dim tensor|0-d tensor"),
)  # fmt: skip
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
_COMPILED = tuple((code, re.compile(pattern)) for code, pattern in PATTERNS)


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
    code = next((code for code, pattern in _COMPILED if pattern.search(failure.failure.message)), "TS199")
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
    return tuple(
        place for place in seen.values() if (place.path, place.start, place.end) != (own.path, own.start, own.end)
    )


def _with_condition(analysis: Analysis, operation: Operation, place: Related) -> Related:
    """The call that leads to a failure, with the condition that it breaks."""
    broken = analysis.trace.broken.get(operation.site.span)
    at = broken.call.span if broken is not None else None
    if broken is None or at is None or (place.path, place.start, place.end) != (at.path, at.start, at.end):
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
        yield Finding(operation.site.span, text, trail(analysis, failure))

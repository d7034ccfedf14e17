"""softmax-over-batch: probabilities that sum to 1 over the samples instead of the classes.

What it finds
    softmax and log_softmax along the dimension of the batch: dimension 0 of what a loader batched, of what a loss takes
    as its prediction, also after further layers that keep it, or of what argmax then picks classes from in another
    dimension. Also softmax without `dim`, where PyTorch guesses: dimension 0 of a tensor with three dimensions, 1 of a
    matrix.
Why it hurts
    Every sample competes with the others of its batch. Nothing is raised, the loss hardly moves, and a prediction depends
    on what else is in the batch.
Example
    probabilities = torch.softmax(logits, dim=0)         # (32, 10)
Use instead
    probabilities = torch.softmax(logits, dim=1)
Fix safety
    Safe: the classes are in dimension 1, or in the last one.
References
    torch.nn.Softmax, torch.nn.functional.softmax
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.batch import batch_of
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import written_call
from torchsleuth.rules.evidence.constructors import constructor_related
from torchsleuth.rules.evidence.describe import call_trail, shape_text
from torchsleuth.rules.evidence.layouts import followed, paths
from torchsleuth.rules.evidence.operands import Operand, operand, replaced, steps
from torchsleuth.rules.evidence.scores import dim_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Related
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import argument_of
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import LibraryObject, Site, Tensor, Value

CODE = "TS308"
_NAMES = ("softmax", "log_softmax", "Softmax", "LogSoftmax", "softmin", "Softmin")
_KEEPS = (
    "log",
    "clamp",
    "add",
    "mul",
    "neg",
    "dropout",
    "Dropout",
    "to",
    "float",
    "contiguous",
    "clone",
    "detach",
    "div",
)
"""Calls that may come between the softmax and its use without moving a dimension."""
_PREDICTIONS = tuple(
    "CrossEntropyLoss NLLLoss BCELoss MSELoss KLDivLoss cross_entropy nll_loss binary_cross_entropy mse_loss "
    "kl_div".split()
)
_LOSSES = (*_PREDICTIONS, "BCEWithLogitsLoss", "binary_cross_entropy_with_logits")
_MAX_STEPS = 60
_PICKS = ("argmax", "max", "topk")
_CHOICES = ("Categorical", "OneHotCategorical", "RelaxedOneHotCategorical")
"""Distributions over the last dimension of their probabilities."""


def find(analysis: Analysis) -> Iterator[Finding]:
    uses = list(_uses(analysis))
    refused = {misuse.site.span for misuse in analysis.misuses(misuses.MISFIT)}
    losses = [item for item in analysis.trace.operations if item.name in _LOSSES]
    seen: set[tuple[str, int, int]] = set()
    for operation in analysis.trace.operations:
        if operation.name not in _NAMES or operation.site.span in refused:
            continue
        used = operand(operation, 0, "input", "self")
        start = operation.site.span.start
        key = (operation.site.span.path, start.line, start.column)
        if used is None or used.spec.rank is None or used.spec.rank < 2 or key in seen:
            continue
        dim = dim_of(operation)
        if is_number(dim) and dim in (0, -used.spec.rank):
            proof = _proof(analysis, operation, used, uses, losses)
            if proof is not None:
                seen.add(key)
                yield _finding(operation, used, proof)
        elif dim is None:
            seen.add(key)
            yield _finding(operation, used, None)


def _uses(analysis: Analysis) -> Iterator[tuple[Site, Operation]]:
    """Where a softmax goes to a loss, an argmax, a draw or a batched product with its dimensions in place."""
    for operation in analysis.trace.operations:
        name = operation.name
        if name in (*_PREDICTIONS, *_PICKS, "bmm", "matmul", "multinomial"):
            used = operand(operation, 0, "input", "self")
            given = used.tensor if used is not None else None
        elif name == "einsum" and len(operation.operands) == 2 and _is_batch_of_product(operation):
            given = operation.operands[0]
        elif (chosen := _chosen(operation)) is not None:
            probabilities = chosen.given(0, "probs")
            given = as_kind(probabilities, Tensor)
        else:
            continue
        weighs = name in _WEIGHTED
        source = _softmax_behind(given, weighs) if isinstance(given, Tensor) else None
        if source is not None:
            yield source, operation


_WEIGHTED = ("bmm", "matmul", "einsum")
_RESHAPES = ("view", "reshape", "unflatten", "flatten")


def _is_batch_of_product(product: Operation) -> bool:
    """Whether the first dimension of the first operand of an einsum is in the other operand and in the result, too."""
    equation = as_kind(product.first, str)
    terms, _, result = equation.replace(" ", "").partition("->") if equation is not None else ("", "", "")
    first, *others = terms.split(",")
    return bool(first) and first[0] in result and all(first[0] in other for other in others)


def _keeps_last(tensor: Tensor, source: Tensor) -> bool:
    """Whether a tensor in another shape has the same last dimension, which a product then sums over."""
    after, before = tensor.spec.shape, source.spec.shape
    return bool(after and before) and after[-1] == before[-1] != 1  # type: ignore[index]


def _softmax_behind(tensor: Tensor, weighs: bool = False) -> Site | None:
    """`weighs`: the result is a factor of a product, which sums over its last dimension."""
    for current, origin in steps(tensor, 6):
        name = origin.bare_name
        if name in _NAMES:
            return origin.site
        same = name in _KEEPS or (weighs and name in _RESHAPES)
        if not same or not origin.sources or (name in _RESHAPES and not _keeps_last(current, origin.sources[0])):
            return None
    return None


def _proof(
    analysis: Analysis,
    operation: Operation,
    used: Operand,
    uses: list[tuple[Site, Operation]],
    losses: list[Operation],
) -> Operation | str | None:
    """Why dimension 0 is that of the samples: a loader made it, or a later operation takes it as that."""
    axis = batch_of(used.tensor)
    if axis is not None:
        return "loader" if axis == 0 else None
    if used.spec.rank != 2 or used.shape[0] != used.shape[1]:
        lost = next((use for use in losses if _reaches(analysis, operation, use)), None)
        if lost is not None:
            return lost
    for source, use in uses:
        if source is not operation.site:
            continue
        name = use.name
        if name in _PICKS and used.spec.rank == 2 and _picked(use, name) in (1, -1):
            return use
        if name in _PREDICTIONS and _is_prediction(use, used):
            return use
        if (
            name in ("bmm", "einsum")
            or (name == "matmul" and _is_batched(use))
            or (used.spec.rank == 2 and (name == "multinomial" or _chosen(use) is not None))
        ):
            return use
    return None


def _is_batched(use: Operation) -> bool:
    """Whether a product is one of many matrices: dimension 0 is none of those that are summed over."""
    return len(use.specs) == 2 and all(spec.rank is not None and spec.rank > 2 for spec in use.specs)


def _reaches(analysis: Analysis, operation: Operation, loss: Operation) -> bool:
    """Whether dimension 0 of a softmax is still that of a prediction, of which a loss takes one for each sample."""
    prediction, target = operand(loss, 0, "input"), operand(loss, 1, "target")
    if prediction is None or target is None or not prediction.spec.shape or not target.spec.shape:
        return False
    if prediction.shape[0] != target.shape[0] or target.shape[1:] not in ((), (1,)):
        return False
    for tensor, step, path in paths(analysis, prediction.tensor, _MAX_STEPS):
        if step.site is operation.site:
            return followed(tensor, path) == 0
    return False


def _chosen(use: Operation) -> LibraryObject | None:
    """The distribution over classes that an operation samples from."""
    chosen = as_kind(use.first, LibraryObject)
    return chosen if chosen is not None and chosen.type_name in _CHOICES else None


def _picked(use: Operation, name: str) -> Value:
    position = 2 if name == "topk" else 1
    return use.given(position, "dim", None)


def _is_prediction(use: Operation, used: Operand) -> bool:
    """Whether a loss takes dimension 0 as the samples: one target for each, or a row of targets."""
    target = operand(use, 1, "target")
    return target is not None and bool(target.spec.shape) and target.spec.shape[0] == used.shape[0]  # type: ignore[index]


def _finding(operation: Operation, used: Operand, proof: Operation | str | None) -> Finding:
    name = operation.name
    places: list[Related] = []
    if isinstance(proof, Operation):
        places.append(proof.site.span.related(message("softmax.samples")))
    if operation.module is not None:
        places += constructor_related(operation.module, None, None)
    places += call_trail(operation.site.scene, limit=1)
    text = message(
        "softmax.batch" if proof is not None else "softmax.no_dim",
        softmax=name,
        tensor=used.text("the input"),
        shape=shape_text(used.spec),
        size=dims.text(used.shape[0]),
        guess=0 if len(used.shape) == 3 else 1,
    )
    return Finding(operation.site.span, text, tuple(places), _candidates(operation, used))


def _candidates(operation: Operation, used: Operand) -> Iterator[Candidate]:
    site = written_call(operation)
    if site is None or site.call is None:
        return
    source, call = site.source, site.call
    position = 0 if operation.module is not None or operation.target.startswith("Tensor.") else 1
    node = argument_of(call, None, "dim")
    if node is None and len(call.args) > position:
        node = call.args[position]
    last_first = len(used.shape) != 2 and used.shape[-1] != 1
    for dim in (-1, 1) if last_first else (1, -1):
        if node is not None:
            yield replaced(site, node, str(dim))
        else:
            text = f"dim={dim}"
            yield added_argument(source, call, text)


RULE = Rule(FAULTS[CODE], find)

"""loss-broadcast: a loss that compares every prediction with every target.

What it finds
    MSELoss, L1Loss, SmoothL1Loss, HuberLoss and their like on (N, 1) against (N,), or on other sizes that broadcast to
    more elements than either side has; and the same written out, as `((prediction - target) ** 2).mean()`. And (N, 1)
    against (N,) in a product, a ratio or a sum of what is averaged later: returns, advantages, targets, weights; or in a
    comparison whose hits are counted: an accuracy. And
    log-probabilities of a normal distribution, one for each dimension of an action, (N, A), with one value for each
    sample, (N, 1): `q - alpha * log_prob`, `log_prob.exp() * advantage`.
Why it hurts
    (N, 1) and (N,) broadcast to (N, N): each sample is drawn towards the targets of all, and the model learns their mean.
    PyTorch only warns, once: "Using a target size that is different to the input size".
Example
    loss = nn.MSELoss()(model(x), y)                    # (32, 1) and (32,)
Use instead
    loss = nn.MSELoss()(model(x), y.unsqueeze(1))
Fix safety
    Safe: sample by sample is what a loss compares.
References
    torch.nn.MSELoss, Broadcasting semantics in the PyTorch notes
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail, origin_trail
from torchsleuth.rules.evidence.loops import blocks_of, is_simple, statement_of
from torchsleuth.rules.evidence.operands import (
    Operand,
    fitted,
    fitted_by_callers,
    operand,
    operands,
    suffixed,
)
from torchsleuth.rules.evidence.per_action import unsummed
from torchsleuth.rules.evidence.squares import COMPARISONS, MEETINGS, Uses, is_averaged, is_square, may_be_square
from torchsleuth.rules.losses.mse_on_class_indices import class_indices
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_assignment, is_literal, is_name, nodes_in, parts_of_key, targets_of
from torchsleuth.synthesis.shapes import Shape, broadcast, same_shape, squeezed, transposed, unsqueezed
from torchsleuth.tensors import dims
from torchsleuth.values import Tensor

CODE = "TS114"
_LOSSES = frozenset(
    "MSELoss L1Loss SmoothL1Loss HuberLoss PoissonNLLLoss SoftMarginLoss mse_loss l1_loss smooth_l1_loss huber_loss "
    "poisson_nll_loss soft_margin_loss".split()
)
_DIFFERENCES = ("operator.sub", "Tensor.sub", "torch.sub")
_DISTANCES = frozenset("pow square abs __pow__ __abs__".split())
_REDUCTIONS = frozenset("mean sum".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int, int]] = set()
    for operation in analysis.trace.operations:
        pair = _pair(analysis, operation)
        start = operation.site.span.start
        key = (operation.site.span.path, start.line, start.column)
        if pair is None or key in seen:
            continue
        prediction, target = pair
        made = broadcast(prediction.shape, target.shape)
        if made is None or not _grows(prediction.shape, target.shape, made):
            continue
        if operation.target in _DIFFERENCES and not _is_error(analysis, operation, prediction.tensor, target.tensor):
            continue
        seen.add(key)
        yield _finding(analysis, operation, prediction, target, made)
    yield from _squares(analysis, seen)
    yield from _for_each_action(analysis, seen)


def _squares(analysis: Analysis, seen: set[tuple[str, int, int]]) -> Iterator[Finding]:
    """Columns against vectors in what comes before a loss."""
    uses: Uses | None = None
    for operation in analysis.trace.operations:
        name = operation.bare_name
        if (
            name not in MEETINGS | COMPARISONS
            or len(operation.specs) != len(operation.tensors)
            or len(operation.specs) < 2
        ):
            continue
        left, right = operands(operation)[-2:]
        span = operation.site.span
        key = (span.path, span.start.line, span.start.column)
        meets = may_be_square if name in COMPARISONS else is_square
        if left.spec.shape is None or right.spec.shape is None or not meets(left.shape, right.shape):
            continue
        made = broadcast(left.shape, right.shape)
        uses = Uses(analysis) if uses is None else uses
        if key in seen or made is None or _is_widened(left.tensor) and _is_widened(right.tensor):
            continue
        if is_averaged(uses, operation, made):
            seen.add(key)
            yield _finding(analysis, operation, left, right, made, "loss.square")


def _for_each_action(analysis: Analysis, seen: set[tuple[str, int, int]]) -> Iterator[Finding]:
    """Log-probabilities of each dimension of an action against one number for the whole of it."""
    uses: Uses | None = None
    told: set[Span] = set()
    if not any(operation.target.endswith(".log_prob") for operation in analysis.trace.operations):
        return
    for operation in analysis.trace.operations:
        uses = Uses(analysis) if uses is None else uses
        found = unsummed(analysis, uses, operation)
        span = operation.site.span
        key = (span.path, span.start.line, span.start.column)
        if found is None or key in seen or found[2].site.span in told:
            continue
        seen.add(key)
        wide, column, made = found
        told.add(made.site.span)
        text = message("loss.per_action", wide=wide.described("it"), column=column.described("what it meets"))
        places = (
            made.site.span.related(message("loss.per_action.here")),
            *call_trail(operation.site.scene, limit=1),
        )
        yield Finding(span, text, places, _summed(analysis, wide, made))


def _summed(analysis: Analysis, wide: Operand, made: Operation) -> Iterator[Candidate]:
    """The sum over the dimensions: of what the function returns, of log_prob() itself, or here."""
    sum_of = ".sum(dim=-1, keepdim=True)"
    yield from _sum_at_end(analysis, made, sum_of)
    source, node = made.site.source, made.site.node
    title = message("fix.insert", text=sum_of)
    yield Candidate(title, (edits.replace(source, node, source.segment(node) + sum_of),), safe=False)
    yield from suffixed(wide, sum_of, safe=False)


def _sum_at_end(analysis: Analysis, made: Operation, sum_of: str) -> Iterator[Candidate]:
    """A line behind the last statement that computes the variable: corrections of a transformed action belong to the sum."""
    path, source = made.site.span.path, made.site.source
    first = statement_of(analysis, made.site)
    target = as_kind(first.targets[0], ast.Name) if is_assignment(first) else None
    if first is None or target is None:
        return
    for block in blocks_of(analysis.tree(path)):
        if first in block:
            last = [one for one in block if _assigns(one, target.id)][-1]
            if is_simple(last, analysis, path):
                line = f"{target.id} = {target.id}{sum_of}"
                edit = edits.insert_line_after(source, last, line)
                yield Candidate(message("fix.insert", text=line), (edit,))


def _assigns(statement: ast.stmt, name: str) -> bool:
    targets = targets_of(statement)
    return any(is_name(target, name) for target in targets)


def _grows(left: Shape, right: Shape, made: Shape) -> bool:
    """Whether both sides are repeated: neither has the shape of the result, whatever dimensions of size 1 it lacks."""

    def bare(shape: Shape) -> list[object]:
        return [size for size in shape if size != 1]

    return bare(made) != bare(left) and bare(made) != bare(right)


def _pair(analysis: Analysis, operation: Operation) -> tuple[Operand, Operand] | None:
    """The operands of a loss, or of a difference of which a distance may be computed."""
    name = operation.name
    if name in _LOSSES and operation.target.startswith("torch.nn."):
        if class_indices(analysis, operation) is not None:
            return None
        prediction, target = operand(operation, 0, "input"), operand(operation, 1, "target")
    elif operation.target in _DIFFERENCES and len(operands(operation)) == 2:
        prediction, target = operands(operation)
    else:
        return None
    if prediction is None or target is None or prediction.spec.shape is None or target.spec.shape is None:
        return None
    return prediction, target


def _is_error(analysis: Analysis, operation: Operation, left: Tensor, right: Tensor) -> bool:
    """Whether a difference of prediction and target is squared, or made positive, and averaged: a loss written out.
    Distances of all pairs are not: there, sizes of 1 are put in on purpose, and some dimensions are left."""
    predicted = [bool(side.history) and side.spec.requires_grad is True for side in (left, right)]
    if predicted[0] == predicted[1]:
        return False
    widened = [_is_widened(side) for side in (left, right)]
    for reduced in analysis.trace.operations:
        if reduced.name not in _REDUCTIONS or not reduced.tensors:
            continue
        whole = len(reduced.args) == 1 and not reduced.kwargs
        if widened[0] and widened[1] or any(widened) and not whole:
            continue
        distance = reduced.tensors[0].origin
        if distance is None or distance.name not in _DISTANCES or not distance.sources:
            continue
        origin = distance.sources[0].origin
        if origin is not None and origin.site is operation.site:
            return True
    return False


def _is_widened(tensor: Tensor) -> bool:
    """Whether a dimension of size 1 was put in right there: ``x.unsqueeze(1)``, ``x[:, None]``."""
    origin = tensor.origin
    if origin is None:
        return False
    if origin.name == "unsqueeze":
        return True
    return any(is_literal(part, None) for part in parts_of_key(origin.site.node))


def _finding(
    analysis: Analysis,
    operation: Operation,
    prediction: Operand,
    target: Operand,
    made: Shape,
    what: str = "loss.broadcast",
) -> Finding:
    text = message(
        what,
        prediction=prediction.described("the prediction"),
        target=target.described("the target"),
        made=f"({', '.join(dims.text(size) for size in made)})",
    )
    places = [
        *origin_trail(prediction.tensor, prediction.text("the prediction")),
        *origin_trail(target.tensor, target.text("the target")),
        *call_trail(operation.site.scene, limit=1),
    ]
    own = operation.site.span
    kept = tuple(place for place in places if place.span != own)
    return Finding(own, text, kept, _candidates(analysis, prediction, target, what == "loss.square"))


def _candidates(analysis: Analysis, prediction: Operand, target: Operand, everywhere: bool) -> Iterator[Candidate]:
    """`everywhere`: the function may use an argument again, and it has the wrong shape there, too."""
    for used, other in ((target, prediction), (prediction, target)) if everywhere else ():
        yield from fitted_by_callers(analysis, used, partial(same_shape, other.shape), unsqueezed)
    for used, other in ((target, prediction), (prediction, target)):
        yield from fitted(analysis, used, partial(same_shape, other.shape), unsqueezed)
    for used, other in ((prediction, target), (target, prediction)):
        yield from fitted(analysis, used, partial(same_shape, other.shape), squeezed)
    for used, other in ((target, prediction), (prediction, target)):
        yield from fitted(analysis, used, partial(same_shape, other.shape), transposed, safe=True)
    if everywhere:
        yield from _columns(analysis, prediction, target)
    if prediction.node is not None and target.node is not None:
        text = target.text("").strip("`")
        if text:
            yield from suffixed(prediction, f".view_as({text})")


def _columns(analysis: Analysis, left: Operand, right: Operand) -> Iterator[Candidate]:
    """A column of each vector in the statement, where a sum or product of them meets a column."""
    vector = left if len(left.shape) < len(right.shape) else right
    statement, names = statement_of(analysis, left.site), left.site.scene.names
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.expr):
        return
    nodes = [
        node
        for node in nodes_in(value, ast.Name)
        if isinstance(held := names.get(node.id), Tensor)
        and held.spec.shape is not None
        and same_shape(held.spec.shape, vector.shape)
    ]
    source = left.site.source
    if len(nodes) > 1:
        title = message("fix.columns", names=", ".join(dict.fromkeys(node.id for node in nodes)))
        yield Candidate(title, tuple(edits.insert_after_node(source, node, ".unsqueeze(1)") for node in nodes))


RULE = Rule(FAULTS[CODE], find)

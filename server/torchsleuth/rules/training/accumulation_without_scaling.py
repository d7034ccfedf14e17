"""accumulation-without-scaling: gradients of several batches are added up, and the loss is not divided.

What it finds
    backward() in every iteration, step() only in every k-th (`if (i + 1) % k == 0`, or a counter that is set back), and a loss that is a mean over the
    batch and goes backward as it is.
Why it hurts
    The gradient is k times that of the large batch it stands for: the learning rate is k times too high. Adam and its like
    divide by the size of the gradient, so that there it is a hint, unless the gradient is clipped.
Example
    loss = criterion(model(x), y)
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
Use instead
    loss = criterion(model(x), y)
    (loss / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
Fix safety
    Unsafe: a learning rate that was tuned with the sum has to be tuned again.
References
    torch.amp, "Gradient accumulation"
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from itertools import accumulate
from operator import mul

from torchsleuth.faults import FAULTS
from torchsleuth.interp.roles import UNKNOWN_LOSS
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import held
from torchsleuth.rules.evidence.gradients import changes_gradients, feeds
from torchsleuth.rules.evidence.schedules import every_kth
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax.forms import is_literal, is_method_call
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import LibraryObject, Tensor, is_object_named
from torchsleuth.values.graph import PRODUCTS, GraphNode

CODE = "TS514"
_MEANS = frozenset(
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy kl_div "
    "binary_cross_entropy_with_logits CrossEntropyLoss NLLLoss MSELoss L1Loss SmoothL1Loss HuberLoss BCELoss "
    "BCEWithLogitsLoss KLDivLoss ctc_loss CTCLoss mean".split()
)
_ADAPTIVE = frozenset("Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam SparseAdam Adafactor Rprop Muon".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    found: dict[object, tuple[Event, Event, ast.expr]] = {}
    for step in analysis.events("step"):
        if not step.loops or not isinstance(step.subject, LibraryObject):
            continue
        decided = every_kth(analysis, step)
        backward = _accumulated(analysis, step) if decided is not None else None
        if backward is None or decided is None:
            continue
        condition, site = decided
        times = held(condition, site.scene)
        if _is_unscaled(analysis, backward.node, times if is_number(times) else None):
            found.setdefault(backward.site.span, (backward, step, condition))
    if found and not changes_gradients(analysis):
        clipped = bool(analysis.events("clip"))
        for backward, step, condition in found.values():
            adaptive = is_object_named(step.subject, *_ADAPTIVE)
            yield _finding(backward, step, condition, hidden=adaptive and not clipped)


def _accumulated(analysis: Analysis, step: Event) -> Event | None:
    """A backward() of each iteration of the same loop, whose gradients are still there at the next one."""
    point = step.loops[-1]
    passes = [
        event
        for event in analysis.events("backward")
        if event.certain
        and event.loops[-1:]
        and event.loops[-1].execution == point.execution
        and feeds(event, step.subject) is True
    ]
    for first, second in zip(passes, passes[1:]):
        between = analysis.trace.events[first.index : second.index]
        if not any(event.kind in ("zero_grad", "step") and event.certain for event in between):
            return first
    return None


def _is_unscaled(analysis: Analysis, node: GraphNode | None, batches: int | None) -> bool:
    """Whether a loss is a mean, or a sum with one, and nothing in it was divided by as many batches as make a step. Where that
    number is not known, a product may be such a division."""
    if node is None:
        return False
    terms = list(_terms(analysis, node, ()))
    if batches is None:
        return any(_is_mean(term) for term, weights in terms if not weights)
    products = [product for _, weights in terms for product in (*weights, *accumulate(weights, mul))]
    divided = any(math.isclose(abs(product) * batches, 1.0) for product in products)
    return any(_is_mean(term) for term, _ in terms) and not divided


def _terms(
    analysis: Analysis, node: GraphNode, weights: tuple[float, ...]
) -> Iterator[tuple[GraphNode, tuple[float, ...]]]:
    """The terms of a sum, and by what each is multiplied, from the outside to the inside."""
    weight = _weight(analysis, node)
    if node.operator in ("add", "sub", "neg"):
        for part in node.inputs:
            yield from _terms(analysis, part, weights)
    elif weight is not None and len(node.inputs) == 1:
        yield from _terms(analysis, node.inputs[0], (*weights, weight))
    else:
        yield node, weights


def _is_mean(node: GraphNode) -> bool:
    given = node.site.call.keywords if node.site.call is not None else []
    return node.operator == UNKNOWN_LOSS or (
        node.operator in _MEANS and not any(_changes_mean(keyword) for keyword in given)
    )


def _weight(analysis: Analysis, node: GraphNode) -> float | None:
    """The number that a product, or a quotient, multiplies the other operand by."""
    operation = analysis.operation_of(node)
    inverse = node.operator in ("div", "truediv", "true_divide")
    if operation is None or (node.operator not in PRODUCTS and not inverse) or len(operation.args) != 2:
        return None
    one, other = operation.args
    number = other if isinstance(one, Tensor) else None if inverse else one
    if not isinstance(number, int | float) or isinstance(number, bool) or not number:
        return None
    return 1 / number if inverse else float(number)


def _changes_mean(keyword: ast.keyword) -> bool:
    if keyword.arg == "reduction":
        return not is_literal(keyword.value, "mean")
    return keyword.arg in ("weight", "size_average")


def _finding(backward: Event, step: Event, condition: ast.expr, hidden: bool) -> Finding:
    """`hidden`: the optimizer divides by the size of the gradient."""
    source = backward.site.source
    times = source.segment(condition)
    places = (step.site.span.related(message("accumulate.step", times=times)),)
    candidates: list[Candidate] = []
    node = backward.site.node
    if is_method_call(node):
        text = f"({source.segment(node.func.value)} / {times})"
        candidates.append(replacement(source, node.func.value, text, safe=False))
    unsure = backward.node is not None and any(part.operator == UNKNOWN_LOSS for part in backward.node.members)
    text = message("accumulate.hidden" if hidden else "accumulate.unscaled", times=times)
    return Finding(backward.site.span, text, places, tuple(candidates), severity="hint" if hidden or unsure else None)


RULE = Rule(FAULTS[CODE], find, of_absence=True)

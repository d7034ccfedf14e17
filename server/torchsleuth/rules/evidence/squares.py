"""Square matrices that a column and a vector of the same samples broadcast to, and that are averaged as if they were one number
for each sample."""

from __future__ import annotations

import ast
from collections import defaultdict

from torchsleuth.interp.trace import Operation
from torchsleuth.rules.rule import Analysis
from torchsleuth.syntax.forms import is_literal, parts_of_key
from torchsleuth.synthesis.shapes import Shape, same, same_shape
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import Tensor

MEETINGS = frozenset("add sub mul div truediv minimum maximum min max where iadd isub imul itruediv".split())
"""Operators on two tensors, element by element."""
COMPARISONS = frozenset("eq ne".split())
ELEMENTWISE = MEETINGS | frozenset(
    "pow square abs exp log log1p clamp clip clamp_min clamp_max neg relu softplus sigmoid tanh sqrt logsigmoid float "
    "ReLU Softplus Sigmoid Tanh LogSigmoid detach lt gt le ge nan_to_num".split()
)
CONVERSIONS = frozenset("float double long int to type bool logical_not".split())
WHOLE = frozenset("mean sum".split())
LOSSES = frozenset(
    "MSELoss L1Loss SmoothL1Loss HuberLoss mse_loss l1_loss smooth_l1_loss huber_loss BCELoss binary_cross_entropy "
    "BCEWithLogitsLoss binary_cross_entropy_with_logits".split()
)
_WIDENS = frozenset("unsqueeze view reshape getitem unflatten expand repeat".split())
_MAX_STEPS = 40
_STEPS_BEFORE = 3


class Uses:
    """The operations that each tensor goes into."""

    def __init__(self, analysis: Analysis) -> None:
        self._found: defaultdict[int, list[Operation]] = defaultdict(list)
        for operation in analysis.trace.operations:
            for tensor in operation.operands:
                if tensor.origin is not None:
                    self._found[id(tensor.origin.site)].append(operation)

    def of(self, operation: Operation) -> list[Operation]:
        return self._found.get(id(operation.site), [])


def is_square(left: Shape, right: Shape) -> bool:
    """(N, 1) against (N,), with any dimensions that both have in front."""
    column, vector = (left, right) if len(left) > len(right) else (right, left)
    if len(column) != len(vector) + 1 or column[-1] != 1 or len(vector) != 1:
        return False
    return vector[-1] != 1 and same(column[-2], vector[-1])


def may_be_square(left: Shape, right: Shape) -> bool:
    """The same, for a comparison: where neither number is known, nothing else makes sense, either."""
    column, vector = (left, right) if len(left) > len(right) else (right, left)
    if is_square(left, right) or len(vector) != 1 or len(column) != 2 or column[1] != 1:
        return is_square(left, right)
    return not is_number(column[0]) and not is_number(vector[0])


def is_averaged(uses: Uses, operation: Operation, made: Shape) -> bool:
    """Whether a square matrix is only computed with element by element, until all of it becomes one number that is
    trained: its mean or sum, where nothing was widened on purpose, or a loss against what has another shape. One that says
    where samples are equal becomes the mean or the sum of all."""
    counts = operation.bare_name in COMPARISONS
    keeping = CONVERSIONS if counts else ELEMENTWISE
    learns = any(spec.requires_grad is True for spec in operation.specs)
    on_purpose = any(map(_is_widened_here, operation.operands, [operation] * len(operation.operands)))
    pending, seen, ends = [(operation, learns)], {id(operation)}, 0
    for _ in range(_MAX_STEPS):
        if not pending:
            return ends > 0
        current, trained = pending.pop()
        for use in uses.of(current):
            if id(use) in seen:
                continue
            seen.add(id(use))
            name = use.bare_name
            grows = trained or any(spec.requires_grad is True for spec in use.specs)
            if name in WHOLE and len(use.args) == 1 and not use.kwargs:
                if on_purpose or not (grows or counts):
                    return False
                ends += 1
            elif name in LOSSES and not counts:
                if not grows or not _is_against_another(use, made):
                    return False
                ends += 1
            elif name in keeping and len(use.operands) == len(use.tensors):
                pending.append((use, grows))
            else:
                return False
    return False


def _is_against_another(loss: Operation, made: Shape) -> bool:
    shapes = [spec.shape for spec in loss.specs[:2]]
    return any(shape is not None and not same_shape(shape, made) for shape in shapes)


def _is_widened_here(tensor: Tensor, operation: Operation) -> bool:
    """Whether a tensor got a dimension of size 1 in the same function, right before."""
    origin = tensor.origin
    for _ in range(_STEPS_BEFORE):
        if origin is None or origin.site.scene.function is not operation.site.scene.function:
            return False
        name = origin.name
        if name in _WIDENS and (name != "getitem" or _has_none(origin.site.node)):
            return True
        if any(isinstance(part, ast.keyword) and part.arg == "keepdim" for part in ast.walk(origin.site.node)):
            return True
        origin = origin.sources[0].origin if len(origin.sources) == 1 else None
    return False


def _has_none(node: ast.AST) -> bool:
    return any(is_literal(part, None) for part in parts_of_key(node))

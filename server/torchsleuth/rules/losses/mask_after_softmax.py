"""mask-after-softmax: the weights of an attention are masked when they are normalised already.

What it finds
    The softmax of scores that nothing has masked, whose weights are then set to 0 where there is padding, or what comes later,
    and multiplied with the values without being divided by their new sum.
Why it hurts
    What is masked has taken its part of the sum of 1: the weights that are left are too small, the more so the more padding a
    batch has; and through that sum the masked positions, the later words among them, still decide. Nothing is raised.
Example
    weights = scores.softmax(dim=-1)
    weights = weights.masked_fill(padding[:, None, :], 0.0)
    out = weights @ values
Use instead
    scores = scores.masked_fill(padding[:, None, :], float("-inf"))
    out = scores.softmax(dim=-1) @ values
Fix safety
    Unsafe: the outputs change, and a model that was trained without has to be trained again.
References
    torch.nn.functional.scaled_dot_product_attention
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.loops import is_simple, statement_of
from torchsleuth.rules.evidence.masks import Masks
from torchsleuth.rules.evidence.operands import Operand, lineage, operands
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import targets_of
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import Tensor

CODE = "TS324"
_SOFTMAX = frozenset({"softmax", "Softmax"})
_PRODUCTS = frozenset("matmul bmm einsum".split())
_BETWEEN = frozenset("dropout Dropout to float contiguous type_as view reshape squeeze unsqueeze".split())
_SCORES = _BETWEEN | frozenset("mul div truediv tanh Tanh relu ReLU leaky_relu LeakyReLU".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    masks = Masks(analysis)
    for product in analysis.trace.operations:
        if product.name not in _PRODUCTS or len(product.operands) != 2:
            continue
        masked = _masked(analysis, product.operands[0])
        softmax = _softmax(analysis, masked) if masked is not None else None
        if masked is None or softmax is None or masked.site.span in seen:
            continue
        mask = _mask(masked)
        meaning = masks.meaning(mask.tensor) if mask is not None and _is_over_keys(masked, mask) else None
        fills = masked.name.startswith("masked_fill")
        if meaning is not None and meaning.kept is not fills:
            seen.add(masked.site.span)
            yield _finding(analysis, masked, softmax)


def _masked(analysis: Analysis, weights: Tensor) -> Operation | None:
    """The operation that set weights to 0 before they went into a product."""
    for _, operation in lineage(analysis, weights):
        name = operation.name
        if name.startswith("masked_fill"):
            value = operation.given(2, "value")
            return operation if value == 0 and not isinstance(value, bool) else None
        if name == "mul":
            return operation if len(operation.operands) == 2 else None
        if name not in _BETWEEN:
            return None
    return None


def _softmax(analysis: Analysis, masked: Operation) -> Operation | None:
    """The softmax along the last dimension that the weights come from, of scores that were computed by a product, or a layer,
    and not masked."""
    found: Operation | None = None
    for _, operation in lineage(analysis, masked.operands[0]):
        name = operation.name
        weighted = name == "mul" and len(operation.operands) > 1
        if found is None and name in _SOFTMAX and _is_last(operation):
            found = operation
        elif found is not None and (name in _PRODUCTS or name == "Linear"):
            return found
        elif weighted or name not in (_BETWEEN if found is None else _SCORES):
            return None
    return None


def _is_last(softmax: Operation) -> bool:
    dim = softmax.given(1, "dim")
    if softmax.module is not None:
        dim = softmax.module.given(0, "dim", None)
    rank = softmax.specs[0].rank if softmax.specs else None
    return is_number(dim) and rank is not None and dim in (-1, rank - 1)


def _mask(masked: Operation) -> Operand | None:
    given = operands(masked)
    return given[1] if len(given) == 2 else None


def _is_over_keys(masked: Operation, mask: Operand) -> bool:
    """Whether a mask differs along the keys, the last dimension of the weights."""
    weights = masked.specs[0].shape
    return bool(weights and mask.shape) and mask.shape[-1] == (weights or (0,))[-1] and mask.shape[-1] != 1


def _finding(analysis: Analysis, masked: Operation, softmax: Operation) -> Finding:
    places = (
        softmax.site.span.related(message("softmax.normalised")),
        *call_trail(masked.site.scene, limit=1),
    )
    return Finding(masked.site.span, message("softmax.masked"), places, _normalised(analysis, masked))


def _normalised(analysis: Analysis, masked: Operation) -> Iterator[Candidate]:
    """The weights divided by what is left of their sum."""
    statement, path = as_kind(statement_of(analysis, masked.site), ast.Assign), masked.site.span.path
    targets = targets_of(statement) if statement is not None else []
    if statement is not None and len(targets) == 1 and isinstance(targets[0], ast.Name):
        if statement.value is analysis.index(path).same(masked.site.node) and is_simple(statement, analysis, path):
            name = targets[0].id
            line = f"{name} = {name} / {name}.sum(dim=-1, keepdim=True).clamp(min=1e-6)"
            edit = edits.insert_line_after(masked.site.source, statement, line)
            yield Candidate(message("fix.insert", text=line), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)

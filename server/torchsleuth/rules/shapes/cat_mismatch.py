"""cat-mismatch: tensors joined along a dimension although they differ in another one.

What it finds
    cat, stack, hstack, vstack and their like on tensors whose other sizes, or whose number of dimensions, differ.
Why it hurts
    PyTorch stops with "Sizes of tensors must match except in dimension 0".
Example
    torch.cat([words, chars])            # (8, 300) and (8, 50)
Use instead
    torch.cat([words, chars], dim=1)
Fix safety
    Safe where only one `dim` fits, or where a dimension of size 1 is inserted. Resampling and padding are offered as
    unsafe.
References
    torch.cat, torch.stack, torch.nn.utils.rnn.pad_sequence
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation, OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import change_argument
from torchsleuth.rules.evidence.describe import operator_text
from torchsleuth.rules.evidence.operands import (
    Operand,
    fitted,
    layers_behind,
    lineage,
    operands,
    package_name,
    replaced,
    resized,
    suffixed,
)
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.evidence.spatial import padded, padded_steps, resampled, resampled_at_birth
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import is_reference
from torchsleuth.synthesis.shapes import Shape, same, transposed, unsqueezed
from torchsleuth.tensors.dims import is_index, is_number
from torchsleuth.values import Tensor

CODE = "TS106"
_JOINS = ("cat", "concat", "concatenate")
_DIMENSION = {"hstack": 1, "vstack": 0, "column_stack": 1, "dstack": 2}


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        given = operands(failure.operation)
        if len(given) < 2 or any(used.spec.shape is None for used in given):
            yield plain
            continue
        odd = next(
            (used for used in given[1:] if not _agree(given[0].shape, used.shape, _dim(failure.operation))), given[1]
        )
        text = message(
            "cat.operands",
            operator=operator_text(failure.operation),
            first=given[0].described("the first tensor"),
            other=odd.described("another tensor"),
            dim=_dim(failure.operation),
        )
        candidates = _candidates(analysis, failure, given, odd)
        yield Finding(failure.operation.site.span, text, trail(analysis, failure), candidates)


def _dim(operation: Operation) -> int:
    name = operation.name
    if name in _DIMENSION:
        return _DIMENSION[name]
    value = as_kind(
        operation.kwargs.get("dim", operation.given(1, "axis", 0)),
        int,
    )
    return value if value is not None else 0


def _agree(left: Shape, right: Shape, dim: int) -> bool:
    """Whether two shapes can be joined along a dimension."""
    if len(left) != len(right) or not is_index(dim, left):
        return False
    return all(index == dim % len(left) or same(a, b) for index, (a, b) in enumerate(zip(left, right)))


def _candidates(
    analysis: Analysis, failure: OperatorFailure, given: list[Operand], odd: Operand
) -> Iterator[Candidate]:
    call = failure.operation.site.call
    name, dim = failure.operation.name, _dim(failure.operation)
    first = given[0]
    joins = name in _JOINS
    if joins and call is not None:
        yield from _other_dim(failure.operation, call, given)
    if name == "stack":
        yield from padded_steps(failure.operation.site)
    if name in _DIMENSION and call is not None:
        yield from _cat_along(failure, call, given)
    for used, others in ((odd, first), (first, odd)):
        wanted, missing = others.shape, len(others.shape) - len(used.shape)
        if missing == 1:
            yield from fitted(analysis, used, lambda made: _agree(made, wanted, dim), unsqueezed)
            for index, size in enumerate(others.shape):
                if size == 1 and _agree((*others.shape[:index], *others.shape[index + 1 :]), used.shape, dim):
                    yield from suffixed(others, f".squeeze({index})")
        if missing > 1:
            yield from _filled(used, others, dim)
    for used, others in ((odd, first), (first, odd)):
        yield from padded(analysis, used, others)
        yield from resampled(used, others)
        yield from resampled_at_birth(used, others)
    for used, others in ((odd, first), (first, odd)):
        yield from _expanded(used, others, dim)
    for used, others in ((odd, first), (first, odd)):
        wanted = others.shape
        yield from fitted(analysis, used, lambda made: _agree(made, wanted, dim), transposed, safe=False)
        yield from _resized(analysis, used, others, dim)
    if name == "stack" and call is not None and call.args and all(len(used.shape) for used in given):
        utilities = package_name(failure.operation.site, "torch.nn.utils.rnn")
        if utilities is not None:
            source = failure.operation.site.source
            new = f"{utilities}.pad_sequence({source.segment(call.args[0])}, batch_first=True)"
            yield replaced(failure.operation.site, call, new, safe=False)


def _expanded(used: Operand, others: Operand, dim: int) -> Iterator[Candidate]:
    """One for all samples: ``token.expand(x.size(0), -1, -1)``."""
    rank = len(used.shape)
    if len(others.shape) != rank:
        return
    single = [axis for axis in range(rank) if used.shape[axis] == 1 and axis != dim % max(rank, 1)]
    made = [others.shape[axis] if axis in single else size for axis, size in enumerate(used.shape)]
    if single and is_reference(others.node):
        if _agree(tuple(made), others.shape, dim):
            text = others.site.source.segment(others.node)
            sizes = [f"{text}.size({axis})" if axis in single else "-1" for axis in range(rank)]
            yield from suffixed(used, f".expand({', '.join(sizes)})")


def _filled(used: Operand, others: Operand, dim: int) -> Iterator[Candidate]:
    """A tensor of few dimensions with those that it lacks at its end; expanded where the other is larger there."""
    rank, missing = len(others.shape), len(others.shape) - len(used.shape)
    made = (*used.shape, *[1] * missing)
    index = f"[{', '.join([':'] * len(used.shape) + ['None'] * missing)}]"
    if _agree(made, others.shape, dim):
        yield from suffixed(used, index)
        yield from suffixed(used, ".unsqueeze(-1)" * missing)
    elif dim % rank < len(used.shape) and _agree(made[: len(used.shape)], others.shape[: len(used.shape)], dim):
        if others.node is not None and is_reference(others.node):
            text = others.site.source.segment(others.node)
            kept = ", ".join(["-1"] * len(used.shape))
            yield from suffixed(used, f"{index}.expand({kept}, *{text}.shape[{len(used.shape)}:])")


def joined_otherwise(analysis: Analysis, tensor: Tensor) -> Iterator[Candidate]:
    """The tensors that a tensor was joined of, joined along another dimension: their features, not their batches."""
    for _, operation in lineage(analysis, tensor):
        call, given = operation.site.call, operands(operation)
        if operation.name in _JOINS and call is not None and len(given) > 1:
            if all(used.spec.shape for used in given):
                yield from _other_dim(operation, call, given)
            return


def _other_dim(operation: Operation, call: ast.Call, given: list[Operand]) -> Iterator[Candidate]:
    """The other dimensions along which all of them can be joined."""
    rank = len(given[0].shape)
    fitting = [dim for dim in range(rank) if all(_agree(given[0].shape, used.shape, dim) for used in given[1:])]
    fitting = [dim for dim in fitting if dim != _dim(operation) % rank]
    written = next((item.value for item in call.keywords if item.arg in ("dim", "axis")), None)
    if written is None and len(call.args) > 1:
        written = call.args[1]
    for dim in fitting:
        if written is not None:
            yield replaced(operation.site, written, str(dim))
        else:
            yield added_argument(operation.site.source, call, f"dim={dim}")


def _cat_along(failure: OperatorFailure, call: ast.Call, given: list[Operand]) -> Iterator[Candidate]:
    site = failure.operation.site
    torch = package_name(site, "torch")
    rank = len(given[0].shape)
    for dim in range(rank):
        if torch and call.args and all(_agree(given[0].shape, used.shape, dim) for used in given[1:]):
            text = f"{torch}.cat({site.source.segment(call.args[0])}, dim={dim})"
            yield replaced(site, call, text)


def _resized(analysis: Analysis, used: Operand, other: Operand, dim: int) -> Iterator[Candidate]:
    """The layer, or the place where the tensor is made, given the size that the other tensor has."""
    if len(used.shape) != len(other.shape):
        return
    for index, (mine, wanted) in enumerate(zip(used.shape, other.shape)):
        if index == dim % len(used.shape) or same(mine, wanted) or not is_number(wanted):
            continue
        yield from resized(used.tensor, index, wanted)
        for layer in layers_behind(analysis, used.tensor, "Linear"):
            if index == len(used.shape) - 1:
                for made in change_argument(analysis, layer, 1, "out_features", wanted):
                    yield made.unsafe()
            break


RULE = Rule(FAULTS[CODE], find)

"""broadcast-mismatch: element-wise operands whose sizes do not broadcast.

What it finds
    Operators such as +, *, where and masked_fill on tensors whose sizes, aligned from the right, are neither equal nor 1:
    a mask without the dimension of the heads, a positional encoding of another length, a residual connection around a
    block that changes the number of channels.
Why it hurts
    PyTorch stops with "The size of tensor a (96) must match the size of tensor b (48)".
Example
    x * mask                # (8, 20, 64) and (8, 20)
Use instead
    x * mask.unsqueeze(-1)
Fix safety
    Safe where a dimension of size 1 is inserted. Changing a layer, or where a tensor is made, is offered as unsafe, for
    it is not evident which of the operands is meant.
References
    Broadcasting semantics in the PyTorch notes
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import change_argument, names_for
from torchsleuth.rules.evidence.describe import operator_text
from torchsleuth.rules.evidence.extents import cut_to_part, kept_dimension, reduced_otherwise, trimmed
from torchsleuth.rules.evidence.operands import (
    Operand,
    assigned,
    attribute_module,
    birth,
    fitted,
    layers_behind,
    made_wider,
    operands,
    replaced,
    resized,
    resized_ancestors,
    reversed_alone,
    short,
    size_texts,
    sized_otherwise,
    sliced_otherwise,
    suffixed,
)
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.evidence.spatial import padded, resampled, strided
from torchsleuth.rules.losses.mse_on_class_indices import class_indices
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.rules.shapes.reshape_size_mismatch import batch_kept
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, is_reference, nodes_in, stands_on
from torchsleuth.synthesis.shapes import Shape, broadcast, rotated, same, same_shape, squeezed, transposed, widened
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_number
from torchsleuth.values import LibraryModule, Site

CODE = "TS103"


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        if class_indices(analysis, failure.operation) is not None:
            continue
        if "shape of the mask" in failure.failure.message:
            yield _of_mask(analysis, failure)
            continue
        pair = _clash(failure)
        yield plain if pair is None else _finding(analysis, failure, *pair)


def _clash(failure: OperatorFailure) -> tuple[Operand, Operand] | None:
    """The first two operands that do not broadcast."""
    given = [used for used in operands(failure.operation) if used.spec.shape is not None]
    for index, left in enumerate(given):
        for right in given[index + 1 :]:
            if broadcast(left.shape, right.shape) is None:
                return left, right
    return None


def _finding(analysis: Analysis, failure: OperatorFailure, left: Operand, right: Operand) -> Finding:
    dim, a, b = _place(left.shape, right.shape)
    text = message(
        "broadcast.operands",
        left=left.described("the left operand"),
        right=right.described("the right operand"),
        operator=operator_text(failure.operation),
        a=a,
        b=b,
        dim=dim,
    )
    candidates = _candidates(analysis, failure, left, right)
    return Finding(failure.operation.site.span, text, trail(analysis, failure), candidates)


def _of_mask(analysis: Analysis, failure: OperatorFailure) -> Finding:
    """``logits[keep]``: the mask has to have the first dimensions of what it indexes."""
    table, mask = operands(failure.operation)[:2]
    lead = replace(table, spec=replace(table.spec, shape=table.shape[: len(mask.shape)]))
    dim = next((dim for dim, (a, b) in enumerate(zip(lead.shape, mask.shape)) if not same(a, b)), -1)
    a, b = (dims.text(used.shape[dim]) for used in (mask, lead))
    text = message(
        "broadcast.mask", mask=mask.described("the mask"), tensor=table.described("the tensor"), dim=dim, a=a, b=b
    )
    return Finding(failure.operation.site.span, text, trail(analysis, failure), _as_mask(analysis, lead, mask))


def _as_mask(analysis: Analysis, lead: Operand, mask: Operand) -> Iterator[Candidate]:
    fits = partial(same_shape, lead.shape)
    yield from fitted(
        analysis, mask, lambda shape: fits(shape) or same_shape(shape, lead.shape[: len(shape)]), squeezed
    )
    yield from fitted(analysis, mask, fits, transposed, safe=True)
    for used, other in ((mask, lead), (lead, mask)):
        yield from trimmed(used, other)
    yield from _born(mask, lead)


def _place(left: Shape, right: Shape) -> tuple[int, str, str]:
    """The last dimension, counted from the end, at which two shapes clash, and the sizes there."""
    for back in range(1, min(len(left), len(right)) + 1):
        a, b = left[-back], right[-back]
        if not same(a, b) and a != 1 and b != 1:
            return -back, dims.text(a), dims.text(b)
    return -1, "?", "?"


def _candidates(analysis: Analysis, failure: OperatorFailure, left: Operand, right: Operand) -> Iterator[Candidate]:
    node = failure.operation.site.node
    yield from cut_to_part(analysis, failure.operation)
    for used in (right, left):
        yield from reversed_alone(used)
    sides = ((right, left), (left, right)) if isinstance(node, ast.AugAssign) else _smaller_first(left, right)
    usable = [(used, other) for used, other in sides if used.node is not None and not _is_target(node, used.node)]
    for used, other in sides:
        if used.shape and other.shape and not same(used.shape[0], other.shape[0]):
            yield from batch_kept(analysis, used.tensor, other.shape[0])
    for used, other in usable:
        yield from sliced_otherwise(used, other)
    for used, other in sides:
        yield from kept_dimension(analysis, used, other)
        yield from reduced_otherwise(analysis, used, other)
    for used, other in usable:
        missing = len(other.shape) - len(used.shape)
        fits = missing > 0 and broadcast((*used.shape, *(1,) * missing), other.shape) is not None
        if fits and used.shape and (missing > 1 or used.shape[-1] == 1):
            yield from made_wider(used, missing)
        for suffix in widened(used.shape, other.shape):
            yield from suffixed(used, suffix)
            yield from assigned(used, suffix)
    for used, other in usable:
        yield from fitted(analysis, used, partial(_broadcasts, other.shape), squeezed, safe=False)
    yield from _projections(analysis, left, right)
    for used, other in usable:
        if len(used.shape) == len(other.shape):
            yield from fitted(analysis, used, partial(same_shape, other.shape), transposed, safe=True)
    yield from _regrouped(usable)
    yield from _sliced(usable)
    for used, other in usable:
        yield from trimmed(used, other)
    for used, other in ((left, right), (right, left)):
        yield from strided(analysis, used, other)
        yield from padded(analysis, used, other)
    for used, other in sorted(sides, key=lambda pair: pair[0].spec.requires_grad is False):
        yield from _layer(analysis, used, other)
    for used, other in sides:
        yield from _born(used, other)
    for used, other in usable:
        yield from resampled(used, other)
    for used, other in usable:
        yield from fitted(analysis, used, partial(_broadcasts, other.shape), rotated, transposed, safe=False)


def _broadcasts(other: Shape, shape: Shape) -> bool:
    return broadcast(shape, other) is not None


def _smaller_first(left: Operand, right: Operand) -> tuple[tuple[Operand, Operand], ...]:
    pair = ((right, left), (left, right))
    return pair if len(right.shape) <= len(left.shape) else pair[::-1]


def _is_target(node: ast.AST, part: ast.AST) -> bool:
    """Whether the expression is the target of the assignment, which cannot be rewritten."""
    return part is node or (isinstance(node, ast.AugAssign) and part is node.target)


def _regrouped(sides: list[tuple[Operand, Operand]]) -> Iterator[Candidate]:
    """As many elements in other dimensions: (5, 40) and (200,)."""
    for used, other in sides:
        if not same(dims.product(used.shape), dims.product(other.shape)) or len(used.shape) == len(other.shape):
            continue
        if len(other.shape) == 1 < len(used.shape):
            yield from suffixed(used, ".flatten()")
        elif is_reference(other.node):
            yield from suffixed(used, f".view_as({ast.unparse(other.node)})")


def _sliced(sides: list[tuple[Operand, Operand]]) -> Iterator[Candidate]:
    """A table that is longer than what is added to it, cut to its length: ``self.pos[:, :x.size(1)]``."""
    for used, other in sides:
        shift = len(other.shape) - len(used.shape)
        table = used.tensor.origin is None or not used.tensor.origin.sources or used.tensor.parameter
        if shift < 0 or not is_reference(used.node) or not table:
            continue
        longer = [index for index, size in enumerate(used.shape) if _is_longer(size, other.shape[index + shift])]
        for index in longer if len(longer) == 1 else ():
            before = ":, " * index
            wanted = other.shape[index + shift]
            texts = [f"{ast.unparse(other.node)}.size({index + shift})"] if isinstance(other.node, ast.Name) else []
            for text in (*texts, *list(size_texts(used.site.scene, wanted, used.node))[:1]):
                yield from suffixed(used, f"[{before}:{text}]")


def _is_longer(size: Size, wanted: Size) -> bool:
    return is_number(size) and is_number(wanted) and size > wanted > 1


def _layer(analysis: Analysis, used: Operand, other: Operand) -> Iterator[Candidate]:
    """The layer that an operand comes from, given the size of the other operand."""
    shapes = len(used.shape) == len(other.shape) >= 2
    if not shapes:
        return
    for layer in layers_behind(analysis, used.tensor, "Linear", "Conv", "Embedding"):
        convolution = layer.type_name.startswith("Conv")
        axis = (1 if len(used.shape) > 1 else 0) if convolution else -1
        wanted = other.shape[axis]
        if not same(used.shape[axis], wanted) and is_number(wanted):
            name = (
                "out_channels" if convolution else "embedding_dim" if layer.type_name == "Embedding" else "out_features"
            )
            ways = list(change_argument(analysis, layer, 1, name, wanted))
            if layer.type_name == "Linear":  # A number of outputs, where it was written, before a multiple of it.
                ways.sort(key=lambda made: any(sign in made.edits[0].new_text for sign in "*/"))
            for made in ways:
                yield made.unsafe()
        return


def _born(used: Operand, other: Operand) -> Iterator[Candidate]:
    shift = len(other.shape) - len(used.shape)
    born = birth(used.tensor)
    as_it_is = born is not None and same_shape(born.shape, used.shape)
    for index, size in enumerate(used.shape):
        wanted = other.shape[index + shift] if 0 <= index + shift else size
        if same(size, wanted) or size == 1:
            continue
        if as_it_is:
            yield from sized_otherwise(used.tensor, size, wanted)
            yield from resized(used.tensor, index, wanted)
        else:
            yield from resized_ancestors(used.tensor, size, wanted)


def _projections(analysis: Analysis, left: Operand, right: Operand) -> Iterator[Candidate]:
    """A shortcut that is the identity although its block changes the width: project it, also where it is chosen."""
    for used, other in ((left, right), (right, left)):
        layer = attribute_module(used.site, used.node)
        if layer is None or layer.site is None or not _is_identity(layer) or len(used.shape) != len(other.shape):
            continue
        axis = 1 if len(used.shape) > 2 else -1
        inside, outside = as_kind(used.shape[axis], int), as_kind(other.shape[axis], int)
        if inside is None or outside is None:
            continue
        frame = layer.site.scene
        names = [next(names_for(frame, size), str(size)) for size in (inside, outside)]
        yield from _condition(analysis, layer.site, names)
        source = layer.site.source
        call = layer.site.node
        if is_method_call(call):
            package = source.segment(call.func.value)
            kind = {4: "Conv2d", 3: "Conv1d", 5: "Conv3d"}.get(len(used.shape), "Linear")
            more = ", kernel_size=1" if kind != "Linear" else ""
            yield replaced(layer.site, call, f"{package}.{kind}({names[0]}, {names[1]}{more})", safe=False)


def _is_identity(layer: LibraryModule) -> bool:
    return layer.type_name == "Identity" or (layer.type_name == "Sequential" and not layer.children)


def _condition(analysis: Analysis, site: Site, names: list[str]) -> Iterator[Candidate]:
    """The test that decides between a projection and the identity: it forgot the width."""
    source, tree = site.source, analysis.tree(site.span.path)
    line = site.span.start.line
    inside, outside = names
    for node in ast.walk(tree):
        test: ast.expr | None = None
        negated = False
        match node:
            case ast.IfExp() if stands_on(node, line):
                test, negated = node.test, _holds(node.body, site)
            case ast.If() if _assigns_like(node, tree, site):
                test, negated = node.test, any(_holds(part, site) for part in node.body)
        if test is None:
            continue
        old = source.segment(test)
        text = f"({old})" if isinstance(test, ast.BoolOp) else old
        new = f"{text} and {inside} == {outside}" if negated else f"{text} or {inside} != {outside}"
        title = message("fix.replace", old=short(old), new=short(new))
        yield Candidate(title, (edits.replace(source, test, new),))


def _holds(node: ast.AST, site: Site) -> bool:
    at = (getattr(site.node, "lineno", 0), getattr(site.node, "col_offset", 0))
    start = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    end = (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))
    return start <= at < end


def _assigns_like(node: ast.If, tree: ast.AST, site: Site) -> bool:
    """Whether the statement assigns the attribute that the layer at `site` is first assigned to."""
    targets = {ast.unparse(part.targets[0]) for part in nodes_in(tree, ast.Assign) if _holds(part.value, site)}
    return any(
        isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) in targets
        for statement in (*node.body, *node.orelse)
        for part in ast.walk(statement)
    )


RULE = Rule(FAULTS[CODE], find)

"""reshape-size-mismatch: a view or reshape to sizes that do not hold the elements there are.

What it finds
    view, reshape, unflatten and the like whose sizes do not multiply to the number of elements.
Why it hurts
    PyTorch stops with "shape '[-1, 400]' is invalid for input of size 36864". The number was right for another image
    size or another batch size.
Example
    x = torch.randn(8, 16, 6, 6)
    x.view(8, 400)
Use instead
    x.flatten(1)
Fix safety
    Safe: the elements stay in their order, and the fix is offered only if all that follows still fits.
References
    torch.Tensor.view, torch.flatten
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from itertools import combinations

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import parts_of
from torchsleuth.interp.trace import Operation, OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import change_argument, passed_for
from torchsleuth.rules.evidence.describe import expression_text, operand_node, shape_text
from torchsleuth.rules.evidence.extents import reduced_further
from torchsleuth.rules.evidence.operands import layers_behind, lineage, replaced
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_display, is_reference
from torchsleuth.syntax.text import SourceText
from torchsleuth.synthesis.shapes import same
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import is_index, is_number
from torchsleuth.values import Instance, LibraryModule, Tensor
from torchsleuth.values.frames import Scene

CODE = "TS104"


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, finding in reported(analysis, CODE):
        known = bool(failure.operation.specs) and failure.operation.site.call is not None
        known = known and not failure.operation.target.startswith("einops.")
        yield _reshape(analysis, failure) if known else finding


def _reshape(analysis: Analysis, failure: OperatorFailure) -> Finding:
    operation = failure.operation
    node = operation.site.call
    assert node is not None
    spec = operation.specs[0]
    count = spec.numel()
    source = operation.site.source
    written = ", ".join(source.segment(argument) for argument in node.args)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    given, rank = len(_sizes(operation.target, node)[1]), len(spec.shape or ())
    text = message(
        "reshape.short" if name == "expand" and 0 < given < rank else "reshape.size",
        tensor=expression_text(operand_node(operation, 0), "the tensor"),
        shape=shape_text(spec),
        elements="?" if count is None else dims.text(count),
        call=f"{name}({written})",
        count=given,
        rank=rank,
    )
    return Finding(operation.site.span, text, trail(analysis, failure), _candidates(analysis, failure, node))


def _candidates(analysis: Analysis, failure: OperatorFailure, node: ast.Call) -> Iterator[Candidate]:
    operation = failure.operation
    source = operation.site.source
    if operation.name in ("unflatten", "Unflatten"):
        yield from _unflattened(analysis, operation)
        return
    receiver, sizes = _sizes(operation.target, node)
    if receiver is None or not sizes:
        return
    if operation.target.endswith("expand"):
        yield from _kept(source, sizes, _values(operation.args, len(sizes)), operation.specs[0].shape or ())
        return
    text = source.segment(receiver)
    if isinstance(receiver, ast.BinOp | ast.UnaryOp | ast.IfExp | ast.Lambda):
        text = f"({text})"
    values = _values(operation.args, len(sizes))
    total = operation.specs[0].numel()
    if operation.tensors and all_are(values, int):
        yield from reduced_further(analysis, operation.tensors[0], math.prod(of_kind(values, int)))
    if len(sizes) == 2 and len(operation.specs[0].shape or ()) > 1:
        yield from _flattened(analysis, operation, edits.replace(source, node, f"{text}.flatten(1)"), values[1])
    if is_reference(receiver):
        first = sizes[0]
        title = message("fix.size", old=source.segment(first), new=f"{text}.size(0)")
        yield Candidate(title, (edits.replace(source, first, f"{text}.size(0)"),))
    wide = list(_wide_enough(analysis, operation, values))
    if not all_are(sizes, ast.Constant, ast.UnaryOp):
        # Sizes with names are meant.
        yield from wide
    yield from _equal_sides(source, sizes, values, operation.specs[0].shape)
    yield from _shares(source, sizes, values, total)
    yield from _one_changed(failure, sizes, values)
    yield from wide
    for size, value in zip(sizes, values):
        yield from _where_written(failure, size, _divisors(value, operation.specs[0].shape))


def _flattened(analysis: Analysis, operation: Operation, flat: Edit, width: object) -> Iterator[Candidate]:
    """``x.flatten(1)``, and the layer behind it that takes what this gives."""
    yield Candidate(message("fix.flatten"), (flat,))
    features = as_kind(dims.product((operation.specs[0].shape or ())[1:]), int)
    if features is not None:
        for layer in _layers_for(operation, width):
            for made in change_argument(analysis, layer, 0, "in_features", features):
                yield Candidate(f"{message('fix.flatten')}; {made.title}", (flat, *made.edits))


def _one_changed(failure: OperatorFailure, sizes: list[ast.expr], values: list[object]) -> Iterator[Candidate]:
    """One of the sizes as the others leave it."""
    spec, source = failure.operation.specs[0], failure.operation.site.source
    uneven, total = any(_divisors(value, spec.shape) for value in values), as_kind(spec.numel(), int)
    for index, size in enumerate(sizes):
        rest = [value for other, value in enumerate(values) if other != index]
        if values[index] == -1 or total is None or not all_are(rest, int):
            continue
        product = math.prod(value for value in rest if value != -1)
        if product and total % product == 0 and -1 not in rest:
            if not isinstance(size, ast.Constant | ast.UnaryOp) and index > 0 and not uneven:
                title = message("fix.size", old=source.segment(size), new="-1")
                yield Candidate(title, (edits.replace(source, size, "-1"),))
            if index == 0 and not isinstance(size, ast.Constant) and values[:1] == [*(spec.shape or ())[:1]]:
                continue  # As many samples as there are, by their name.
            new = str(total // product)
            title = message("fix.size", old=source.segment(size), new=new)
            there = list(_where_written(failure, size, [new]))
            yield from there  # Rather than here, where the size has a name.
            yield Candidate(title, (edits.replace(source, size, new),), safe=not there)


def batch_kept(analysis: Analysis, tensor: Tensor, batch: dims.Size) -> Iterator[Candidate]:
    """The view on the way to a tensor that made more or fewer rows, for its -1, than there were samples: with sizes that
    hold what there is of each sample."""
    for made, operation in lineage(analysis, tensor):
        if operation.module is not None or operation.name not in ("view", "reshape"):
            continue
        node, before, after = operation.site.call, operation.specs[0].shape or (), made.spec.shape or ()
        if len(before) < 2 or not same(before[0], batch) or not after or same(after[0], batch):
            return
        sizes = _sizes(operation.target, node)[1] if node is not None else []
        values, features = _values(operation.args, len(sizes)), as_kind(dims.product(before[1:]), int)
        if not values or values[0] != -1 or features is None:
            return
        source = operation.site.source
        yield from _equal_sides(source, sizes, values, before)
        for index in range(1, len(sizes)):
            rest = as_kind(dims.product([value for place, value in enumerate(values) if place not in (0, index)]), int)  # type: ignore[misc]
            if rest is not None and rest > 0 and features % rest == 0 and features // rest != values[index]:
                yield replaced(operation.site, sizes[index], str(features // rest))
        return


def _kept(
    source: SourceText, sizes: list[ast.expr], values: list[object], shape: tuple[dims.Size, ...]
) -> Iterator[Candidate]:
    """``expand(batch, -1, -1)``: -1 for the dimensions that no size was given for."""
    ways = combinations(range(len(shape)), len(sizes))
    for places in sorted(ways, key=lambda way: sum(shape[place] != value for place, value in zip(way, values))):
        if not all(value == -1 or shape[place] in (1, value) for place, value in zip(places, values)):
            continue
        written = {place: source.segment(size) for place, size in zip(places, sizes)}
        texts = [written.get(place, "-1") for place in range(len(shape))]
        old = ", ".join(source.segment(size) for size in sizes)
        edit = Edit(source.path, source.start_of(sizes[0]), source.end_of(sizes[-1]), ", ".join(texts))
        yield Candidate(message("fix.replace", old=old, new=", ".join(texts)), (edit,))


def _unflattened(analysis: Analysis, operation: Operation) -> Iterator[Candidate]:
    """The layer before with as many features as the sizes take, or sizes that take what there is."""
    layer, shape = operation.module, operation.specs[0].shape
    given = layer if layer is not None else operation
    values = given.args if layer is not None else given.args[1:]
    keyword = "unflattened_size" if layer is not None else "sizes"
    names = dict(zip(("dim", keyword), values)) | given.kwargs
    dim, sizes = as_kind(names.get("dim"), int), as_kind(names.get(keyword), tuple)
    site = (layer.site if layer is not None else operation.site) or operation.site
    if not shape or dim is None or sizes is None or not is_index(dim, shape):
        return
    width, held = shape[dim], as_kind(dims.product(sizes), int)
    if held is not None and held > 0:
        for before in layers_behind(analysis, operation.tensors[0], "Linear"):
            yield from change_argument(analysis, before, 1, "out_features", held)
            break
    if site.call is None:
        return
    written = next(
        (part.value for part in site.call.keywords if part.arg == keyword),
        site.call.args[-1] if site.call.args else None,
    )
    if not is_display(written) or len(written.elts) != len(sizes):
        return
    source = site.source
    yield from _equal_sides(source, [written, *written.elts], [-1, *sizes], (1, width))
    for index, node in enumerate(written.elts):
        rest = as_kind(dims.product((*sizes[:index], *sizes[index + 1 :])), int)
        if is_number(width) and rest is not None and rest > 0 and width % rest == 0:
            yield replaced(site.scene.site(node), node, str(width // rest), safe=False)


def _wide_enough(analysis: Analysis, operation: Operation, values: list[object]) -> Iterator[Candidate]:
    """The linear layer in front of a view of each sample, built for as many features as the view wants."""
    shape = operation.specs[0].shape or ()
    if len(shape) == 4 and operation.tensors and same(dims.product(values[-2:]), dims.product(shape[2:])):  # type: ignore[arg-type]
        wanted = math.prod(of_kind(values[1:-2], int))
        for layer in layers_behind(analysis, operation.tensors[0], "Conv"):
            if wanted > 0 and all_are(values[1:-2], int):
                yield from change_argument(analysis, layer, 1, "out_channels", wanted)
            return
    if len(shape) != 2 or not operation.tensors or not all_are(values[1:], int):
        return
    wanted = math.prod(of_kind(values[1:], int))
    for layer in layers_behind(analysis, operation.tensors[0], "Linear"):
        made = as_kind(layer.given(1, "out_features"), int)
        if wanted > 0 and made is not None and same(shape[1], made):
            yield from change_argument(analysis, layer, 1, "out_features", wanted)
        return


def _shares(
    source: SourceText, sizes: list[ast.expr], values: list[object], total: dims.Size | None
) -> Iterator[Candidate]:
    """A size divided by another one of the same call, the last one first: ``c // heads`` for ``view(b, t, heads, c)``."""
    held = as_kind(dims.product(of_kind(values, int)), int)
    for index in range(len(sizes) - 1, -1, -1):
        for other, value in enumerate(values):
            named = all(is_reference(sizes[place]) for place in (index, other))
            own = as_kind(values[index], int)
            if not named or other == index or own is None or not is_number(value) or value < 2:
                continue
            if held is not None and is_number(total) and held == total * value and own % value == 0:
                old, new = source.segment(sizes[index]), source.segment(sizes[other])
                edit = edits.replace(source, sizes[index], f"{old} // {new}")
                yield Candidate(message("fix.size", old=old, new=f"{old} // {new}"), (edit,))


def _layers_for(operation: Operation, width: object) -> Iterator[LibraryModule]:
    """The linear layers of the module around an operation that were made for the width it reshapes to."""
    owner = as_kind(operation.site.scene.receiver, Instance)
    for held in owner.slots.values() if owner is not None and is_number(width) else ():
        for part in of_kind(parts_of(held), LibraryModule):
            if part.type_name == "Linear":
                if part.given(0, "in_features") == width:
                    yield part


def _where_written(failure: OperatorFailure, size: ast.expr, options: list[str]) -> Iterator[Candidate]:
    """Another number where a size was written that came to the call by name: a default, a field of a configuration."""
    place: tuple[ast.expr, Scene] | None = (size, failure.operation.site.scene)
    for _ in range(4):
        place = passed_for(*place) if place is not None else None
        if place is not None and isinstance(place[0], ast.Constant):
            node, frame = place
            for new in options:
                yield replaced(frame.site(node), node, new, safe=False)
            return


def _divisors(value: object, shape: tuple[dims.Size, ...] | None) -> list[str]:
    """The divisors of a dimension that a size does not divide, the nearest first: patches of 10 for 16 in 40 pixels."""
    if not is_number(value) or value < 2:
        return []
    uneven = {size for size in of_kind((shape or ())[1:], int) if value < size <= 4096 and size % value}
    found = {part for size in uneven for part in range(2, size) if size % part == 0}
    return [str(part) for part in sorted(found, key=lambda part: (abs(part - value), part))[:3]]


def _equal_sides(
    source: SourceText, sizes: list[ast.expr], values: list[object], shape: tuple[dims.Size, ...] | None
) -> Iterator[Candidate]:
    """Height and width, written as the same number, that hold what there is of each sample: ``(-1, 32, 7, 7)``."""
    sides = [index for index, value in enumerate(values) if is_number(value) and value > 1]
    if len(sides) < 2 or values[sides[-1]] != values[sides[-2]] or not shape or 0 in sides:
        return
    features, held = as_kind(dims.product(shape[1:]), int), 1
    for index in range(1, len(values)):
        value = values[index]
        held *= value if is_number(value) and index not in sides[-2:] else 1
    if features is None or held < 1 or features % held:
        return
    side = math.isqrt(features // held)
    if side * side == features // held:
        old, new = ", ".join(source.segment(sizes[index]) for index in sides[-2:]), f"{side}, {side}"
        changes = tuple(edits.replace(source, sizes[index], str(side)) for index in sides[-2:])
        yield Candidate(message("fix.size", old=old, new=new), changes)


def _sizes(target: str, node: ast.Call) -> tuple[ast.expr | None, list[ast.expr]]:
    """The tensor expression and the size expressions of a reshaping call."""
    if target.startswith("Tensor.") and isinstance(node.func, ast.Attribute):
        receiver, rest = node.func.value, list(node.args)
    else:
        receiver, rest = (node.args[0], list(node.args[1:])) if node.args else (None, [])  # type: ignore[assignment]
    if len(rest) == 1 and is_display(rest[0]):
        rest = list(rest[0].elts)
    return receiver, rest


def _values(args: tuple[object, ...], count: int) -> list[object]:
    rest = list(args[1:])
    if len(rest) == 1 and isinstance(rest[0], tuple):
        rest = list(rest[0])
    return rest if len(rest) == count else [None] * count


RULE = Rule(FAULTS[CODE], find)

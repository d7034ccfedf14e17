"""Repairs of heights and widths: padding for a convolution or pooling, resampling of one operand to another's size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import argument_node, kept_in_init, names_for
from torchsleuth.rules.evidence.describe import layer_text
from torchsleuth.rules.evidence.operands import (
    Operand,
    layers_behind,
    lineage,
    package_name,
    replaced,
    written,
)
from torchsleuth.rules.rule import Analysis, Candidate, added_argument
from torchsleuth.schema import Edit
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_display, is_reference
from torchsleuth.synthesis.shapes import same
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import LibraryModule, Site, Tensor

_PADDING = {"Conv": 4, "MaxPool": 2, "AvgPool": 2}
"""Layer name prefix → position of `padding` in its constructor."""


def padded(analysis: Analysis, used: Operand, other: Operand) -> Iterator[Candidate]:
    """The convolutions behind an operand that is smaller than the other one, padded so that they keep the size."""
    if len(used.shape) != len(other.shape) or len(used.shape) < 3 or _spatial_equal(used, other):
        return
    if all(is_number(a) and is_number(b) and a > b for a, b in zip(used.shape[2:], other.shape[2:])):
        return
    yield from _causal(analysis, used.tensor)
    for layer in layers_behind(analysis, used.tensor, "Conv", "MaxPool", "AvgPool"):
        if layer.type_name.startswith(("MaxPool", "AvgPool")):
            if (layer.kwargs.get("stride") or next(iter(layer.args[1:]), None)) == 1:
                yield from padding(layer)
        elif layer.type_name.startswith("ConvTranspose"):
            yield from _output_padding(layer, used, other)
        else:
            yield from padding(layer)
    yield from _padded_together(analysis, used.tensor)
    yield from _doubled(analysis, used)


def _causal(analysis: Analysis, tensor: Tensor) -> Iterator[Candidate]:
    """A convolution that sees only the past, with as many steps in front of its input as its kernel reaches back:
    ``(kernel_size - 1) * dilation``."""
    after: Operation | None = None
    for _, operation in lineage(analysis, tensor):
        layer = after.module if after is not None else None
        if layer is not None and after is not None and operation.target.endswith("functional.pad"):
            call, amounts = operation.site.call, as_kind(operation.args[1], tuple) if len(operation.args) > 1 else None
            given = call.args[1] if call is not None and len(call.args) > 1 else None
            front = amounts is not None and len(amounts) == 2 and amounts[1] == 0
            if front and is_display(given) and len(given.elts) == 2:
                yield from _reach(operation.site, given.elts[0], after.site, layer)
        after = operation if operation.module is not None and operation.module.type_name == "Conv1d" else None


def _reach(site: Site, amount: ast.expr, called: Site, layer: LibraryModule) -> Iterator[Candidate]:
    """The padding in front of a causal convolution, where the steps in front are counted: in ``__init__``, by what the layer is built
    with there, else by what the layer says of itself."""
    nodes = [argument_node(layer, place, name) for place, name in ((2, "kernel_size"), (5, "dilation"))]
    kept = kept_in_init(amount, site.scene) if isinstance(amount, ast.Attribute) else None
    built = kept is not None and layer.site is not None and layer.site.node in ast.walk(kept[0])
    if kept is not None and built and all(nodes):
        source = site.source
        kernel, dilation = (source.segment(node) for node in nodes if node is not None)
        yield replaced(site, kept[1], f"({kernel} - 1) * {dilation}")
    elif called.call is not None and is_reference(called.call.func):
        name = ast.unparse(called.call.func)
        yield replaced(site, amount, f"({name}.kernel_size[0] - 1) * {name}.dilation[0]")


def _doubled(analysis: Analysis, used: Operand) -> Iterator[Candidate]:
    """The transposed convolutions of stride 2 behind an operand, each with ``output_padding=1``: twice the size exactly."""
    changes: dict[Edit, LibraryModule] = {}
    for layer in layers_behind(analysis, used.tensor, "ConvTranspose"):
        given = "output_padding" in layer.kwargs or len(layer.args) > 5
        stride = layer.given(3, "stride", 1)
        if layer.site is not None and layer.site.call is not None and stride == 2 and not given:
            source = layer.site.source
            changes.setdefault(edits.add_argument(source, layer.site.call, "output_padding=1"), layer)
    if 0 < len(changes) <= 6:
        yield Candidate(message("fix.add_argument", argument="output_padding=1"), tuple(changes))


def _padded_together(analysis: Analysis, tensor: Tensor) -> Iterator[Candidate]:
    """The convolutions on all ways to an operand, such as that of a value and that of its gate, padded at once."""
    found: dict[int, LibraryModule] = {}
    pending, seen = [tensor], 0
    while pending and seen < 40:
        origin, seen = pending.pop(0).origin, seen + 1
        operation = analysis.operation_of(origin)
        layer = operation.module if operation is not None else None
        if layer is not None and layer.type_name.startswith("Conv") and "Transpose" not in layer.type_name:
            found.setdefault(id(layer), layer)
        pending += origin.sources if origin is not None else ()
    made = [next(padding(layer), None) for layer in found.values()]
    changes = tuple(dict.fromkeys(edit for one in made if one is not None for edit in one.edits))
    titles = list(dict.fromkeys(one.title for one in made if one is not None))
    if 1 < len(changes) <= 4:
        yield Candidate("; ".join(titles), changes)


def padded_steps(site: Site) -> Iterator[Candidate]:
    """Padding along the last dimension, written for the first one of two: ``F.pad(x, (0, 0, 0, n))``. `site`: where what
    the function has padded is joined."""
    source = site.source
    for part in ast.walk(site.scene.scope):
        named = isinstance(part, ast.Call) and ast.unparse(part.func).rpartition(".")[2] == "pad"
        amounts = part.args[1] if isinstance(part, ast.Call) and named and len(part.args) > 1 else None
        if is_display(amounts) and len(amounts.elts) == 2:
            old = ", ".join(source.segment(element) for element in amounts.elts)
            edit = edits.insert(source, source.start_of(amounts.elts[0]), "0, 0, ")
            yield Candidate(message("fix.replace", old=old, new=f"0, 0, {old}"), (edit,))


def strided(analysis: Analysis, used: Operand, other: Operand) -> Iterator[Candidate]:
    """The convolution behind an operand that is a whole number of times as large as the other one, with that stride."""
    factors = {-(-a // b) for a, b in zip(used.shape[2:], other.shape[2:]) if is_number(a) and is_number(b) and b}
    if len(used.shape) != len(other.shape) or len(factors) != 1 or (factor := factors.pop()) < 2:
        return
    for layer in layers_behind(analysis, used.tensor, "Conv", "MaxPool", "AvgPool"):
        site = layer.site
        given = "stride" in layer.kwargs or len(layer.args) > 3
        if site is None or site.call is None or given:
            continue
        for amount in (*names_for(site.scene, factor), str(factor)):
            text = f"stride={amount}"
            yield added_argument(site.source, site.call, text)


def _output_padding(layer: LibraryModule, used: Operand, other: Operand) -> Iterator[Candidate]:
    """A transposed convolution with the row and column that its stride leaves open."""
    short = {b - a for a, b in zip(used.shape[2:], other.shape[2:]) if is_number(a) and is_number(b)}
    site = layer.site
    given = "output_padding" in layer.kwargs or len(layer.args) > 5
    stride = as_kind(layer.given(3, "stride", 1), int)
    if (
        len(short) == 1
        and stride is not None
        and 0 < (missing := short.pop()) < stride
        and not given
        and site is not None
    ):
        if site.call is not None:
            text = f"output_padding={missing}"
            yield added_argument(site.source, site.call, text)


def _spatial_equal(used: Operand, other: Operand) -> bool:
    return all(same(a, b) for a, b in zip(used.shape[2:], other.shape[2:]))


def padding(layer: LibraryModule, amount: int | None = None) -> Iterator[Candidate]:
    """The layer with padding; half of its kernel, if no amount is given."""
    site = layer.site
    if site is None or site.call is None:
        return
    prefix = next((prefix for prefix in _PADDING if layer.type_name.startswith(prefix)), None)
    kernel = layer.kwargs.get("kernel_size", layer.args[2 if prefix == "Conv" else 0 :][:1])
    kernel = kernel[0] if isinstance(kernel, tuple) and kernel else kernel
    if prefix is None or not is_number(kernel):
        return
    source = site.source
    wanted = _half(layer, kernel // 2) if amount is None else str(amount)
    node = argument_node(layer, _PADDING[prefix], "padding")
    if node is not None:
        if source.segment(node) != wanted:
            yield replaced(site, node, wanted)
    elif wanted != "0":
        text = f"padding={wanted}"
        title = message("fix.add_argument_to", argument=text, layer=layer_text(layer))
        yield Candidate(title, (edits.add_argument(source, site.call, text),))


def _half(layer: LibraryModule, half: int) -> str:
    """The padding that keeps the size, for a layer whose kernel reaches so far to each side; more where it is dilated."""
    given = argument_node(layer, 5 if layer.type_name.startswith("Conv") else 3, "dilation")
    if given is None or half == 0 or layer.site is None:
        return str(half)
    if isinstance(given, ast.Constant) and isinstance(given.value, int):
        return str(half * given.value)
    text = layer.site.source.segment(given)
    if half == 1:
        return text
    return f"{half} * {text}" if is_reference(given) else f"{half} * ({text})"


def resampled_at_birth(used: Operand, other: Operand) -> Iterator[Candidate]:
    """The same where a feature map is computed, for one in a list: its call, with the size of the other by its name."""
    origin, frame = used.tensor.origin, used.site.scene
    functional = package_name(used.site, "torch.nn.functional")
    if used.node is not None or origin is None or functional is None or len(used.shape) != 4 != len(other.shape):
        return
    name = next((name for name, value in frame.names.items() if value is other.tensor and isinstance(name, str)), None)
    call = origin.site.call
    if name is not None and call is not None and origin.site.scene.function is frame.function:
        text = f"{functional}.interpolate({origin.site.source.segment(call)}, size={name}.shape[2:])"
        yield replaced(origin.site, call, text, safe=False)


def resampled(used: Operand, other: Operand) -> Iterator[Candidate]:
    """One feature map brought to the height and width of another: ``F.interpolate(x, size=skip.shape[2:])``."""
    if used.node is None or other.node is None or len(used.shape) != len(other.shape) or len(used.shape) < 3:
        return
    if _spatial_equal(used, other) or isinstance(used.site.node, ast.AugAssign):
        return
    functional = package_name(used.site, "torch.nn.functional")
    if functional is None:
        return
    source = used.site.source
    text = f"{functional}.interpolate({source.segment(used.node)}, size={written(source, other.node)}.shape[2:])"
    yield replaced(used.site, used.node, text, safe=False)

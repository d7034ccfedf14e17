"""norm-features-mismatch: a normalisation layer built for another number of features.

What it finds
    BatchNorm, LayerNorm, GroupNorm and InstanceNorm whose `num_features`, `normalized_shape` or `num_groups` does not fit
    the input.
Why it hurts
    PyTorch stops with "running_mean should contain 24 elements not 48".
Example
    nn.BatchNorm2d(48)(torch.randn(4, 24, 8, 8))
Use instead
    nn.BatchNorm2d(24)
Fix safety
    Safe: the layer is given the size that its input has. Where the features are in another dimension of the input, the
    input is transposed for the layer and back.
References
    torch.nn.BatchNorm2d, torch.nn.LayerNorm
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import (
    argument_node,
    change_argument,
    names_for,
    resized_texts,
)
from torchsleuth.rules.evidence.describe import expression_text, layer_text, shape_text
from torchsleuth.rules.evidence.operands import (
    Operand,
    append,
    layers_behind,
    operands,
    replaced,
    short,
    suffixed_at_birth,
)
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.evidence.orders import permuted_before
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_display
from torchsleuth.synthesis.shapes import Shape, same
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import LibraryModule, items_of, opened

CODE = "TS109"
_ARGUMENT = {
    "BatchNorm": ("num_features", 0, 1),
    "InstanceNorm": ("num_features", 0, 1),
    "LayerNorm": ("normalized_shape", 0, -1),
    "RMSNorm": ("normalized_shape", 0, -1),
    "GroupNorm": ("num_channels", 1, 1),
}
"""Layer name prefix → the argument at fault, its position, and the dimension of the input that it must equal."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        module, given = failure.operation.module, operands(failure.operation)
        found = _argument(module)
        if module is None or found is None:
            yield plain
        elif not given:
            yield _groups(analysis, failure, module, plain)
        elif given[0].spec.shape is None:
            yield plain
        else:
            yield _finding(analysis, failure, module, given[0], found)


def _argument(module: LibraryModule | None) -> tuple[str, int, int] | None:
    if module is None:
        return None
    return next((found for prefix, found in _ARGUMENT.items() if module.type_name.startswith(prefix)), None)


def _finding(
    analysis: Analysis, failure: OperatorFailure, module: LibraryModule, used: Operand, argument: tuple[str, int, int]
) -> Finding:
    name, position, axis = argument
    shape = used.shape
    features = shape[axis] if axis < len(shape) else "?"
    built = module.given(position, name)
    text = message(
        "norm.features",
        tensor=expression_text(used.node, "the input"),
        shape=shape_text(used.spec),
        features=features if isinstance(features, str) else dims.text(features),
        dim=axis,
        layer=layer_text(module),
        argument=name,
        built=_sizes(built),
    )
    candidates = _candidates(analysis, failure, module, used, argument)
    places = trail(analysis, failure, name, _sizes(built))
    return Finding(failure.operation.site.span, text, places, candidates)


def _sizes(built: object) -> object:
    """The sizes that a layer was built for, as they are shown."""
    items = opened(built)
    whole = isinstance(items, tuple) and all_are(items, int)
    return items if whole or is_number(items) else "another size"


def _candidates(
    analysis: Analysis, failure: OperatorFailure, module: LibraryModule, used: Operand, argument: tuple[str, int, int]
) -> Iterator[Candidate]:
    name, position, axis = argument
    features = as_kind(used.shape[axis], int) if axis < len(used.shape) else None
    built = as_kind(module.given(position, name), int)
    if len(used.shape) == 3 and built is not None and same(used.shape[1 if axis == -1 else 2], built):
        yield from permuted_before(analysis, used, (0, 2, 1))
        if axis == -1:
            yield from suffixed_at_birth(used, ".transpose(1, 2)")
        yield from _turned(failure, used)
    rank = len(used.shape)
    elsewhere = rank > 2 and built is not None and same(used.shape[1 if axis == -1 else -1], built)
    if rank > 3 and elsewhere:
        last, first = (0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1))
        yield from permuted_before(analysis, used, last if axis == -1 else first)
        yield from _turned(failure, used, *((last, first) if axis == -1 else (first, last)))
    node = argument_node(module, position, name)
    if features is not None:
        written = module.site.source.segment(node) if node is not None and module.site else ""
        if is_display(node) and module.site is not None:
            yield from _each_size(module, node, used.shape)
        if written.startswith(("(", "[")) and node is not None and module.site is not None:
            sizes = used.shape[-len(getattr(node, "elts", [0])) :]
            yield replaced(module.site, node, f"[{', '.join(dims.text(size) for size in sizes)}]")
        for made in change_argument(analysis, module, position, name, features):
            yield Candidate(made.title, made.edits, safe=not elsewhere)
    for layer in layers_behind(analysis, used.tensor, "Conv", "Linear"):
        other = "out_features" if layer.type_name == "Linear" else "out_channels"
        if built is not None:
            for made in change_argument(analysis, layer, 1, other, built):
                yield made.unsafe()
        break


def _each_size(module: LibraryModule, node: ast.List | ast.Tuple, shape: Shape) -> Iterator[Candidate]:
    """The sizes of a normalized shape by which it differs, each out of what is written there: ``side // stride``."""
    built = module.given(0, "normalized_shape")
    items = items_of(built)
    if items is None or len(items) != len(node.elts) or len(items) > len(shape) or module.site is None:
        return
    frame, changes = module.site.scene, {}
    for part, old, new in zip(node.elts, items, shape[-len(items) :]):
        if is_number(new) and not same(new, old):
            text = next(iter((*names_for(frame, new, part), *resized_texts(old, part, frame, new))), None)
            if text is None:
                return
            changes[part] = edits.replace(module.site.source, part, text)
    source = module.site.source
    old_text = source.segment(node)
    new_text = ", ".join(changes[part].new_text if part in changes else source.segment(part) for part in node.elts)
    yield Candidate(message("fix.replace", old=old_text, new=f"[{new_text}]"), tuple(changes.values()))


def _turned(
    failure: OperatorFailure,
    used: Operand,
    there: tuple[int, ...] | None = None,
    back: tuple[int, ...] | None = None,
) -> Iterator[Candidate]:
    """(batch, length, features) turned for a layer that wants (batch, features, length), and back; or in these orders."""
    if used.node is None:
        return
    source = failure.operation.site.source
    node = failure.operation.site.node
    first, second = (".transpose(1, 2)" if order is None else f".permute{order}" for order in (there, back))
    changes = (append(source, used.node, first), edits.insert_after_node(source, node, second))
    yield Candidate(message("fix.turned", tensor=short(source.segment(used.node))), changes)


def _groups(analysis: Analysis, failure: OperatorFailure, module: LibraryModule, plain: Finding) -> Finding:
    """num_groups that does not divide num_channels."""
    groups, channels = (
        as_kind(module.given(0, "num_groups"), int),
        as_kind(module.given(1, "num_channels"), int),
    )
    if groups is None or channels is None or channels < 1:
        return plain
    divisors = sorted((n for n in range(1, channels + 1) if channels % n == 0), key=lambda n: abs(n - groups))
    if not isinstance(argument_node(module, 0, "num_groups"), ast.Constant):
        divisors.insert(0, math.gcd(groups, channels))  # Layers of other sizes have the same number.

    def ways(near: int) -> list[Candidate]:
        """A number, where it was written, before what is computed of another."""
        return sorted(
            change_argument(analysis, module, 0, "num_groups", near),
            key=lambda made: not made.edits[0].new_text.isdigit(),
        )

    candidates = (made for near in divisors[:3] for made in ways(near)[:1])
    text = message("norm.groups", layer=layer_text(module), groups=groups, channels=channels)
    return Finding(failure.operation.site.span, text, plain.related, candidates)


RULE = Rule(FAULTS[CODE], find)

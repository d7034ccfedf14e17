"""conv-channel-mismatch: a convolution whose input has another number of channels.

What it finds
    Conv1d, Conv2d, Conv3d and their transposed forms applied to an input whose channel dimension is not
    `in_channels`.
Why it hurts
    PyTorch stops in forward with "expected input to have 3 channels, but got 1", while the mistake is in the
    constructor, in the layer before, or in the layout of the image.
Example
    conv = nn.Conv2d(3, 16, 3)
    conv(torch.randn(8, 1, 28, 28))
Use instead
    conv = nn.Conv2d(1, 16, 3)
Fix safety
    Changing `in_channels` is safe. Channels-last input is permuted instead, when its last size is the expected one.
    Another number of groups is another layer, and offered as unsafe.
References
    torch.nn.Conv2d
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import change_argument
from torchsleuth.rules.evidence.describe import expression_text, layer_text, operand_node, shape_text
from torchsleuth.rules.evidence.operands import layers_behind
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import LibraryModule

CODE = "TS102"
_CHANNELS = ((0, "in_channels"), (1, "out_channels"), (6, "groups"))


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, finding in reported(analysis, CODE):
        module = failure.operation.module
        if module is None or not module.type_name.startswith("Conv"):
            yield finding
        elif failure.operation.specs:
            yield _conv(analysis, failure, module)
        else:
            yield _undivided(analysis, module, finding)


def _conv(analysis: Analysis, failure: OperatorFailure, layer: LibraryModule) -> Finding:
    operation = failure.operation
    spec = operation.specs[0]
    spatial = int(layer.type_name[-2])
    shape = spec.shape or ()
    batched = len(shape) == spatial + 2
    got = shape[1] if batched else shape[0] if shape else "?"
    wanted = layer.given(0, "in_channels", "?")
    node = operand_node(operation, 0)
    name = expression_text(node, "the input")
    text = message(
        "conv.channels" if batched else "conv.unbatched",
        tensor=name,
        shape=shape_text(spec),
        got=got,
        layer=layer_text(layer),
        wanted=wanted,
    )
    candidates = _candidates(analysis, failure, layer, wanted)
    return Finding(operation.site.span, text, trail(analysis, failure, "in_channels", wanted), candidates)


def _candidates(
    analysis: Analysis, failure: OperatorFailure, layer: LibraryModule, wanted: object
) -> Iterator[Candidate]:
    operation = failure.operation
    shape, spatial, node = operation.specs[0].shape or (), int(layer.type_name[-2]), operand_node(operation, 0)
    batched = len(shape) == spatial + 2
    got = shape[1] if batched else shape[0] if shape else "?"
    name = expression_text(node, "the input")
    source = operation.site.source
    turned: list[Candidate] = []
    if node is not None and batched and shape[-1] == wanted and got != wanted:
        order = ", ".join(str(axis) for axis in (0, spatial + 1, *range(1, spatial + 1)))
        edit = edits.insert_after_node(source, node, f".permute({order})")
        turned.append(Candidate(message("fix.permute", tensor=name), (edit,)))
    previous = next(layers_behind(analysis, failure.operation.tensors[0], "Conv"), None)
    if previous is None:
        yield from turned
        turned = []
    for axis in range(2, spatial + 1) if node is not None and batched and got != wanted else ():
        if node is not None and shape[axis] == wanted:
            edit = edits.insert_after_node(source, node, f".transpose(1, {axis})")
            title = message("fix.append", expression=name.strip("`"), suffix=f".transpose(1, {axis})")
            yield Candidate(title, (edit,))
    if node is not None and len(shape) == spatial + 1 and wanted == 1:
        edit = edits.insert_after_node(source, node, ".unsqueeze(1)")
        yield Candidate(message("fix.unsqueeze", tensor=name), (edit,))
    if node is not None and batched and got == 1 and layer.built is not None:
        edit = edits.insert_after_node(source, node, f".expand(-1, {wanted}{', -1' * spatial})")
        yield Candidate(message("fix.repeat_channel", tensor=name, count=wanted), (edit,))
    if is_number(got) and batched:
        yield from _depthwise(analysis, layer, got)
        yield from change_argument(analysis, layer, 0, "in_channels", got)
        if previous is not None and is_number(wanted):
            made = change_argument(analysis, previous, 1, "out_channels", wanted)
            yield from (item.unsafe() for item in made)
    yield from turned


def _depthwise(analysis: Analysis, layer: LibraryModule, channels: int) -> Iterator[Candidate]:
    """Another number of channels for a convolution that has a group, and an output, for each."""
    sizes = [layer.given(position, name) for position, name in _CHANNELS]
    if not is_number(sizes[0]) or sizes.count(sizes[0]) != len(sizes):
        return
    made = [change_argument(analysis, layer, position, name, channels) for position, name in _CHANNELS]
    for parts in zip(*made):
        yield Candidate(parts[0].title, tuple(dict.fromkeys(edit for part in parts for edit in part.edits)))


def _undivided(analysis: Analysis, layer: LibraryModule, plain: Finding) -> Finding:
    """Groups that do not divide the channels: the nearest number that does, or the nearest multiple."""
    sizes = [layer.given(position, name) for position, name in _CHANNELS]
    inner, outer, groups = (size if is_number(size) and size > 0 else 0 for size in sizes)
    if not inner or not outer or not groups or inner % groups == outer % groups == 0:
        return plain
    name, channels = ("in_channels", inner) if inner % groups else ("out_channels", outer)
    text = message("conv.groups", layer=layer_text(layer), groups=groups, argument=name, channels=channels)
    return Finding(plain.at, text, plain.related, _dividing(analysis, layer, inner, outer, groups))


def _dividing(analysis: Analysis, layer: LibraryModule, inner: int, outer: int, groups: int) -> Iterator[Candidate]:
    common = math.gcd(inner, outer)
    fitting = [number for number in range(2, common + 1) if common % number == 0] or [1]
    near = sorted(fitting, key=lambda number: (abs(number - groups), number))[:2]
    wanted = [(_CHANNELS[2], number) for number in near]
    if inner % groups == 0:
        wanted.append((_CHANNELS[1], groups * max(1, round(outer / groups))))
    for argument, number in wanted:
        for made in islice(change_argument(analysis, layer, *argument, number), 1):
            yield made.unsafe()


RULE = Rule(FAULTS[CODE], find)

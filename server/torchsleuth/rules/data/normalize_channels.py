"""normalize-channels: statistics for another number of channels than the image has.

What it finds
    transforms.Normalize whose mean and std are for three channels on a grey image, or for any other number than the image
    has. Known without torchvision being installed. Statistics of one channel fit any image, and transforms.v2 repeats
    a grey image for three. Warnings: a mean of values from 0 to 255 behind ToTensor, which gives those from 0 to 1, and what
    such transforms give, divided by 255. The same of values that the program itself has divided before, also in place, through another
    name for the same memory.
Why it hurts
    Normalize raises "output with shape [1, 28, 28] doesn't match the broadcast shape [3, 28, 28]" with the first sample.
Example
    transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))        # on MNIST
Use instead
    transforms.Normalize((0.1307,), (0.3081,))
Fix safety
    Offered as unsafe: for a grey image, either the statistics become those of one channel, by their mean, or the image
    gets three channels by Grayscale(num_output_channels=3), as a pretrained model wants it.
References
    torchvision.transforms.Normalize, torchvision.transforms.Grayscale
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchsleuth.faults import FAULTS
from torchsleuth.interp.marks import KEPT_BY
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import made_by
from torchsleuth.rules.evidence.transforms import composed, is_given
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Span
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, called, given_to, is_display, is_place, literal, nodes_in
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import SHARES, LibraryObject, Tensor, Value, items_of, shape_of

CODE = "TS608"
_COMPUTING = frozenset({"Lambda", "ToDtype", "ConvertImageDtype"})
"""Transforms that may give other values than from 0 to 1."""
_HALVES = ((255,), (127.5,))
"""The numbers that bytes are divided by."""
_DIVISIONS = frozenset({"div", "truediv", "div_", "__itruediv__", "itruediv"})


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        transform = as_kind(fault.values[0], LibraryObject) if fault.kind == "channels" else None
        if transform is None or transform.site is None:
            continue
        channels = _channels(fault.values[1])
        text = message("data.channels", channels=channels, wanted=fault.values[2])
        used = fault.at.span.related(message("data.transform.used"))
        yield Finding(transform.site.span, text, (used,), _repairs(analysis, fault, transform, channels))
    yield from _of_bytes(analysis)
    yield from _divided_again(analysis)
    yield from _shares_divided(analysis)
    yield from _divided_before(analysis)


def _divided_before(analysis: Analysis) -> Iterator[Finding]:
    """``train_x / 255`` behind ``pixels /= 255``, of which `train_x` is a part, or behind another ``/ 255``."""
    divisions = [one for one in analysis.trace.operations if one.name in _DIVISIONS and one.args[1:] in _HALVES]
    seen: set[Span] = set()
    for place, division in enumerate(divisions):
        given = division.operands[0] if division.operands else None
        if given is None or division.site.span in seen or division.site.node is None:
            continue
        made = made_by(analysis, given, _DIVISIONS, KEPT_BY)
        before = made if made is not None and made.args[1:] in _HALVES else None
        before = before or next((one for one in divisions[:place] if _in_place_of(analysis, one, given)), None)
        if before is not None and before.certain and before.site.span != division.site.span:
            seen.add(division.site.span)
            source, node = division.site.source, division.site.node
            left = (
                node.left if isinstance(node, ast.BinOp) else node.target if isinstance(node, ast.AugAssign) else None
            )
            text = source.on_one_line(left) if left is not None else "this"
            fixes = []
            if isinstance(node, ast.BinOp):
                change = edits.replace(source, node, source.segment(node.left))
                fixes = [Candidate(message("fix.divided_once"), (change,))]
            places = (before.site.span.related(message("data.scaled")),)
            yield Finding(division.site.span, message("data.divided.twice", text=text), places, fixes, "warning")


def _in_place_of(analysis: Analysis, division: Operation, given: Tensor) -> bool:
    """Whether a division has written into the memory of a tensor, and nothing else has."""
    written = [
        one
        for one in analysis.trace.operations
        if one.operands and one.operands[0].storage is given.storage and _writes(one)
    ]
    return written == [division]


def _writes(operation: Operation) -> bool:
    """``x.div_(2)``, ``x /= 2`` and ``x[i] = 2``"""
    name = operation.name
    return name.startswith("__i") or "setitem" in name or name.endswith("_") and not name.endswith("__")


def _divided_again(analysis: Analysis) -> Iterator[Finding]:
    """``self.transform(image) / 255`` behind ToTensor, which has divided already."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    scaling = [call for call in composed(analysis) if [*map(called, _parts(call))][-1:] == ["ToTensor"]]
    for owner in index.of_type(ast.ClassDef) if scaling else ():
        for division in nodes_in(owner, ast.BinOp):
            applied = division.left
            if isinstance(division.op, ast.Div) and literal(division.right) == 255 and isinstance(applied, ast.Call):
                made = next((call for call in scaling if is_given(analysis, owner, applied.func, call)), None)
                if made is not None:
                    fix = Candidate(
                        message("fix.divided_once"), (edits.replace(source, division, source.segment(applied)),)
                    )
                    place = source.span(_parts(made)[-1]).related(message("data.scaled"))
                    text = message("data.divided", text=source.segment(applied))
                    yield Finding(source.span(division), text, (place,), (fix,), severity="warning")


def _shares_divided(analysis: Analysis) -> Iterator[Finding]:
    """``x / 255`` of a batch of images behind ToTensor."""
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        given = operation.operands[0] if operation.name in ("div", "truediv") and operation.operands else None
        node = as_kind(operation.site.node, ast.BinOp)
        if given is None or node is None or SHARES not in given.tags or operation.args[1:] not in _HALVES:
            continue
        if operation.site.span not in seen:
            seen.add(operation.site.span)
            source = operation.site.source
            text = source.segment(node.left)
            fix = Candidate(message("fix.divided_once"), (edits.replace(source, node, text),))
            places = tuple(call_trail(operation.site.scene, limit=1))
            told = message("data.divided", text=" ".join(text.split()))
            yield Finding(operation.site.span, told, places, (fix,), severity="warning")


def _parts(call: ast.Call) -> list[ast.expr]:
    """The transforms that one is composed of."""
    given = call.args[0] if call.args else None
    return given.elts if is_display(given) else []


def _of_bytes(analysis: Analysis) -> Iterator[Finding]:
    """Statistics of values from 0 to 255, behind ToTensor, which gives those from 0 to 1."""
    for call in analysis.calls_at_places("transforms.Compose"):
        for one in _behind_scaling(items_of(call.given(0, "transforms")) or ()):
            means = items_of(one.given(0, "mean")) if one.type_name == "Normalize" else None
            node = one.site.call if one.site is not None else None
            large = means and all(isinstance(mean, int | float) and mean > 2 for mean in means)
            if one.site is not None and node is not None and means and large:
                source = one.site.source
                written = [_written(node, place, name) for place, name in enumerate(("mean", "std"))]
                parts = of_kind(written, ast.Tuple, ast.List)
                changes = tuple(
                    edits.replace(source, value, f"{source.segment(value)} / 255")
                    for part in parts
                    for value in part.elts
                )
                fix = [Candidate(message("fix.of_one"), changes)] if len(parts) == 2 else []
                yield Finding(one.site.span, message("data.of_bytes", mean=means[0]), (), fix, severity="warning")


def _behind_scaling(transforms: Sequence[Value]) -> Iterator[LibraryObject]:
    """The transforms behind ToTensor, as far as all before them leave the values between 0 and 1."""
    scaled = False
    for one in transforms:
        made = as_kind(one, LibraryObject)
        if scaled and (made is None or made.type_name in _COMPUTING):
            return
        if scaled and made is not None:
            yield made
            if made.type_name == "Normalize":
                return
        scaled = scaled or (made is not None and made.type_name == "ToTensor")


def _channels(value: Value) -> int:
    shape = shape_of(value)
    return shape[-3] if shape and is_number(shape[-3]) else 0


def _repairs(analysis: Analysis, fault: DataFault, transform: LibraryObject, channels: int) -> Iterator[Candidate]:
    assert transform.site is not None
    node, path = transform.site.call, transform.site.span.path
    if channels != 1 or node is None:
        return
    source = analysis.source_of(path)
    yield from _cut(source, node)
    means = [_mean(transform.given(position, name)) for position, name in enumerate(("mean", "std"))]
    written = [_written(node, position, name) for position, name in enumerate(("mean", "std"))]
    changes = tuple(
        edits.replace(source, part, f"({value},)") for part, value in zip(written, means) if part is not None and value
    )
    if len(changes) == 2:
        yield Candidate(message("fix.one_channel"), changes, safe=False)
    if isinstance(node.func, ast.Attribute):
        text = f"{source.segment(node.func.value)}.Grayscale(num_output_channels={fault.values[2]})"
        edit = edits.insert(source, source.start_of(node), f"{text}, ")
        yield Candidate(message("fix.insert", text=text), (edit,), safe=False)


def _cut(source: SourceText, call: ast.Call) -> Iterator[Candidate]:
    """The first of the statistics, where they are given by name: ``Normalize(MEAN[:1], STD[:1])``."""
    given = given_to(call)
    changes: list[Edit] = []
    for part in given:
        if any(keyword.arg is None and keyword.value is part for keyword in call.keywords):
            text = source.segment(part)
            before = source.position(source.offset(source.start_of(part)) - 2)
            changes.append(
                Edit(source.path, before, source.end_of(part), f'mean={text}["mean"][:1], std={text}["std"][:1]')
            )
        elif is_place(part):
            changes.append(edits.insert_after_node(source, part, "[:1]"))
    if changes and len(changes) == len(given):
        yield Candidate(message("fix.one_channel"), tuple(changes), safe=False)


def _written(call: ast.Call, position: int, name: str) -> ast.expr | None:
    given = argument_of(call, None, name)
    if given is None and position < len(call.args):
        given = call.args[position]
    return as_kind(given, ast.Tuple, ast.List, ast.BinOp)


def _mean(value: Value) -> str:
    """The mean of some statistics, as text; empty where they are not all known."""
    items = items_of(value)
    if not items or not all_are(items, int, float):
        return ""
    return f"{round(sum(items) / len(items), 4):g}"


RULE = Rule(FAULTS[CODE], find)

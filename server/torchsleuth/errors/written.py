"""Numbers in the text that gave an operand a size which does not fit, to be changed to the one that does.

An error of PyTorch's names both sizes. Where one of them was written down as a number, on the way that the operand came
(`origin.py`) or, where that way is lost, once in the files that were running, it can be the one that is wrong: data that
are made up, a batch of another length, a layer built for another window.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from torchsleuth.errors.case import Case, node_span
from torchsleuth.errors.constructor import build_sites
from torchsleuth.errors.origin import followed_operands
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Json
from torchsleuth.sifting import as_kind, first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_binary, is_constant, is_display, last_word, nodes_in
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText

MAX_WRITTEN = 3
"""Numbers that are proposed to be changed."""
MAX_ALONE = 2
"""Times that a number may stand in the files, where the way of the operand is lost."""
MAX_PLACES = 12
_PARTS = frozenset({"split", "chunk", "tensor_split", "unbind", "unsafe_chunk", "unflatten"})
"""Methods that give the parts of a tensor."""
Change = tuple[int, int]
"""A size as it is, and as it would fit."""


@dataclass(frozen=True)
class _Sizes:
    """A message that names two sizes, or two shapes, and how it is read."""

    expression: str
    read: Callable[[re.Match[str]], list[Change]]
    ones: bool = False
    """Whether 1 does not fit either, where nothing is broadcast."""


def _shape(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def _shapes(found: int, wanted: int, both: bool = False) -> Callable[[re.Match[str]], list[Change]]:
    """Two groups with shapes, or single sizes, compared from their ends."""

    def read(match: re.Match[str]) -> list[Change]:
        one, other = _shape(match[found])[::-1], _shape(match[wanted])[::-1]
        changes = [(a, b) for a, b in zip(one, other) if a != b]
        return [*changes, *((b, a) for a, b in changes)] if both else changes

    return read


_MESSAGES = (
    _Sizes(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", _shapes(1, 2, both=True)),
    _Sizes(r"must have same reduction dim, but got \[[\d, ]*?(\d+)\] X \[(\d+)[\d, ]*\]", _shapes(1, 2, both=True)),
    _Sizes(r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", _shapes(1, 2, both=True)),
    _Sizes(r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)", _shapes(2, 1, both=True)),
    _Sizes(r"to have (\d+) channels, but got (\d+) channels", _shapes(2, 1), ones=True),
    _Sizes(r"running_\w+ should contain (\d+) elements not (\d+)", _shapes(1, 2)),
    _Sizes(r"normalized_shape=\[([\d, ]+)\], .* input of size ?(?:torch\.Size\()?\[([\d, ]+)\]", _shapes(2, 1)),
    _Sizes(r"must be equal to input_size\. Expected (\d+), got (\d+)", _shapes(2, 1)),
    _Sizes(r"Expected hidden(?:\[\d\])? size \(([\d, ]+)\), got \[([\d, ]+)\]", _shapes(2, 1)),
    _Sizes(r"Input batch size (\d+) doesn't match hidden\d batch size (\d+)", _shapes(2, 1)),
    _Sizes(r"embedding dimension of (\d+), but got (\d+)", _shapes(2, 1)),
    _Sizes(r"key_padd\w+_mask\.shape\[\d\] to be (\d+), but got (\d+)", _shapes(2, 1)),
    _Sizes(r"attn_mask is torch\.Size\(\[([\d, ]+)\]\), but should be \(([\d, ]+)\)", _shapes(1, 2)),
    _Sizes(r"input batch_size \((\d+)\) to match target batch_size \((\d+)\)", _shapes(2, 1, both=True)),
    _Sizes(r"Expected target size \[([\d, ]+)\], got \[([\d, ]+)\]", _shapes(2, 1)),
    _Sizes(r"size mismatch \(got input: \[(\d+)\] ?, target: \[(\d+)\]\)", _shapes(2, 1, both=True)),
    _Sizes(
        r"arget size \(torch\.Size\(\[([\d, ]+)\]\)\) .* input size \(torch\.Size\(\[([\d, ]+)\]\)\)", _shapes(1, 2)
    ),
    _Sizes(r"all (\d+) classes or no classes but got weight tensor of shape: \[(\d+)\]", _shapes(2, 1)),
    _Sizes(r"Expected size (\d+) but got size (\d+) for tensor number", _shapes(2, 1, both=True)),
    _Sizes(r"got \[([\d, ]+)\] at entry \d+ and \[([\d, ]+)\] at entry \d+", _shapes(2, 1, both=True)),
    _Sizes(r"param with shape torch\.Size\(\[([\d, ]+)\]\) .* is torch\.Size\(\[([\d, ]+)\]\)", _shapes(1, 2)),
    _Sizes(r"size does not match weight size: got (\d+) but expected (\d+)", _shapes(1, 2)),
    _Sizes(r"output with shape \D*([\d, ]+)\D+? doesn't match the broadcast shape [\[(]([\d, ]+)[\])]", _shapes(2, 1)),
    _Sizes(r"had torch\.Size\(\[([\d, ]+)\]\); but .* broadcastable to \[([\d, ]+)\]", _shapes(1, 2, both=True)),
    _Sizes(r"invalid tensor size at index \d+ \(expected \(([\d, ]+)\), got \(([\d, ]+)\)\)", _shapes(2, 1)),
    _Sizes(r"tensor \[(\d+)\] and src \[(\d+)\]", _shapes(2, 1, both=True)),
)


def written_sizes(case: Case) -> Iterator[Fix]:
    """A number that gave an operand its size, changed to the size that fits."""
    changes = conflicting(case)
    sites = build_sites(case)[:1] if case.module is not None else []
    built = {node_span(call) for site in sites if (call := site.call(None)) is not None}
    yield from islice(_distinct(case, changes, built), MAX_WRITTEN)


def conflicting(case: Case) -> list[Change]:
    """The sizes that the error is about, as they are and as they would fit. 1 fits where it does not, and is left."""
    for sizes in _MESSAGES:
        found = re.search(sizes.expression, case.crash["message"], re.DOTALL)
        if found is not None:
            return [change for change in dict.fromkeys(sizes.read(found)) if change[0] > 1 or sizes.ones]
    unpacked = re.search(r"not enough values to unpack \(expected (\d+), got (\d+)\)", case.crash["message"])
    value = as_kind(getattr(case.frame.statement, "value", None), ast.Call)
    if unpacked is not None and value is not None and is_attribute(value.func, *_PARTS):
        return [(int(unpacked[2]), int(unpacked[1]))]
    rows = (case.module or {}).get("attributes", {}).get("num_embeddings")
    found_indices = case.input or {}
    reached = found_indices.get("whole_range") or found_indices.get("range")
    if "index out of range in self" in case.crash["message"] and isinstance(rows, int) and reached:
        return [(rows, int(reached[1]) + 1)] if reached[1] >= rows else []
    if "Class values must be smaller than num_classes" in case.crash["message"]:
        classes = as_kind((case.frame.value(case.frame.argument(1, "num_classes")) or {}).get("value"), int)
        labels = case.frame.tensor(case.frame.argument(0, "tensor")) or {}
        bounds = labels.get("whole_range") or labels.get("range")
        if classes is not None and bounds:
            return [(classes, int(bounds[1]) + 1)]
    return []


def _distinct(case: Case, changes: list[Change], built: set[tuple[int, int, int, int]]) -> Iterator[Fix]:
    seen: set[tuple[str, int, int, int, int]] = set()
    places = list(islice(followed_operands(case), MAX_PLACES)) if changes else []
    places.sort(key=lambda place: not _is_named(case, place[0]))
    for old, new in changes:
        for operand, source, node in places:
            shape = (case.frame.tensor(operand) or {}).get("shape")
            if shape is not None and old not in shape:
                continue
            found = _unseen(source, _numbers(node, old, built), seen)
            if len(found) > 1:
                yield _changed(source, found, node, new)
            yield from (_changed(source, [number], node, new) for number in found)
            yield from _sums(source, node, new)
            yield from _lists(source, node, old, new)
    for source, tree in {frame.path: (frame.source, frame.tree) for frame in case.frames}.values():
        for old, new in changes:
            numbers = list(_numbers(tree, old, built))
            for number in _unseen(source, numbers, seen) if len(numbers) <= MAX_ALONE else []:
                around = first_of(edits.path_to(tree, number), ast.expr) or number
                yield _changed(source, [number], around, new)


def made_for_another_batch(case: Case) -> Iterator[Fix]:
    """``h = torch.zeros(self.batch, n)`` → ``torch.zeros(x.size(0), n)``: states of the size of the batch that is there."""
    frame, function = case.frame, case.frame.enclosing
    for old, new in conflicting(case):
        size = next((text for node, found in frame.tensor_operands() if (text := _size_of(node, found, new))), None)
        changes: dict[tuple[int, int, int, int], Edit] = {}
        for operand, source, place in islice(followed_operands(case), MAX_PLACES) if size is not None else ():
            shape = (frame.tensor(operand) or {}).get("shape") or []
            inside = source is frame.source and any(part is place for part in ast.walk(function))
            for call in ast.walk(place) if inside and shape[:1] == [old] else ():
                first = call.args[0] if isinstance(call, ast.Call) and call.args else None
                first = first.elts[0] if is_display(first) and first.elts else first
                if is_attribute(getattr(call, "func", None), *_CREATING) and size and isinstance(first, _NAMED):
                    changes[node_span(first)] = edits.replace(source, first, size)
        if changes and size:
            yield Fix(message("fix.size_of_batch", size=size), tuple(changes.values()), safe=False)


_NAMED = (ast.Name, ast.Attribute, ast.Subscript)
_CREATING = frozenset({"zeros", "ones", "empty", "randn", "rand", "full"})


def _size_of(node: ast.expr, found: Json, size: int) -> str | None:
    """``x.size(0)``, where that is the size: of a variable, or of one of which all samples are taken."""
    if found["shape"][:1] != [size]:
        return None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and isinstance(node.value, ast.Name):
        first = as_kind(node.slice.elts[0], ast.Slice)
        whole = first is not None and first.lower is first.upper is first.step is None
        return f"{node.value.id}.size(0)" if whole else None
    return f"{node.id}.size(0)" if isinstance(node, ast.Name) else None


def divisible(case: Case) -> Iterator[Fix]:
    """``heads=4`` → ``heads=2`` for a width of 10, or a width of 12: the nearest numbers that divide, where they were written."""
    values = {node: (case.frame.value(node) or {}).get("value") for node in case.frame.operands()}
    whole = [(node, value) for node, value in values.items() if type(value) is int and value > 1]
    pairs = [(a, b) for a in whole for b in whole if a[1] > b[1] and a[1] % b[1]]
    for (wide, width), (narrow, count) in pairs[:1]:
        fewer = next(number for number in range(count, 0, -1) if width % number == 0)
        more = -(-width // count) * count
        for operand, source, place in islice(followed_operands(case), MAX_PLACES):
            for node, old, new in ((narrow, count, fewer), (wide, width, more)):
                found = list(_numbers(place, old, set())) if operand is node else []
                if len(found) == 1 and new > 1:
                    yield _changed(source, found, place, new)


def _is_named(case: Case, operand: ast.expr) -> bool:
    """Whether the message tells the whole shape of an operand."""
    shape = (case.frame.tensor(operand) or {}).get("shape") or []
    return len(shape) > 1 and ", ".join(map(str, shape)) in case.crash["message"]


def _unseen(
    source: SourceText, numbers: Iterable[ast.Constant], seen: set[tuple[str, int, int, int, int]]
) -> list[ast.Constant]:
    found = [number for number in numbers if (source.path, *node_span(number)) not in seen]
    seen.update((source.path, *node_span(number)) for number in found)
    return found


def _exponent(node: ast.AST) -> tuple[ast.AST, ...]:
    """``2`` in ``x ** 2`` and in ``x.pow(2)``: never a size."""
    if is_binary(node, ast.Pow):
        return (node.right,)
    return tuple(node.args[-1:]) if isinstance(node, ast.Call) and last_word(node.func) == "pow" else ()


def _numbers(place: ast.AST, size: int, built: set[tuple[int, int, int, int]]) -> Iterator[ast.Constant]:
    """The places where a size is written as a number: not indices, exponents, comparisons, options, or what built the layer."""
    waiting: list[ast.AST] = [place]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value == size:
            yield node
        if isinstance(node, ast.Call) and node_span(node) in built:
            continue
        hidden: tuple[ast.AST, ...] = (node.slice,) if isinstance(node, ast.Subscript) else _exponent(node)
        waiting += [
            part
            for part in ast.iter_child_nodes(node)
            if part not in hidden
            and not isinstance(part, ast.Compare | ast.FormattedValue)
            and not (isinstance(part, ast.keyword) and part.arg in _OPTIONS)
        ]


def _sums(source: SourceText, place: ast.AST, size: int) -> Iterator[Fix]:
    """``6 + rank`` → ``6``, where that is the size that fits."""
    for node in nodes_in(place, ast.BinOp):
        if isinstance(node.op, ast.Add | ast.Sub):
            for side in of_kind((node.left, node.right), ast.Constant):
                if type(side.value) is int and side.value == size:
                    title = message("fix.replace", old=source.segment(node), new=size)
                    yield Fix(title, (edits.replace(source, node, str(size)),), safe=False)


def _lists(source: SourceText, place: ast.AST, old: int, new: int) -> Iterator[Fix]:
    """``Normalize([0.5, 0.4, 0.4], [0.2, 0.2, 0.2])`` → ``Normalize([0.5], [0.2])``: lists of numbers of that length."""
    trail = edits.path_to(parse(source), place) if is_display(place) else []
    call = first_of(reversed(trail), ast.Call)
    found = [
        node
        for node in nodes_in(call or place, ast.List, ast.Tuple)
        if len(node.elts) == old > new > 0 and all(is_constant(item, int, float) for item in node.elts)
    ]
    if found:
        changes = tuple(
            Edit(source.path, source.end_of(node.elts[new - 1]), source.end_of(node.elts[-1]), _end_of(node, new))
            for node in found
        )
        text = source.on_one_line(call or place)[:60]
        yield Fix(message("fix.shorten", count=new, place=text), changes, safe=False)


def _end_of(node: ast.List | ast.Tuple, count: int) -> str:
    return "," if count == 1 and isinstance(node, ast.Tuple) else ""


_OPTIONS = frozenset({"dim", "axis", "batch_size", "num_workers", "seed", "nprocs", "world_size", "epochs", "lr"})


def _changed(source: SourceText, numbers: list[ast.Constant], around: ast.AST, new: int) -> Fix:
    text = source.on_one_line(around)
    place = text if len(text) <= 60 and not text.isdigit() else " ".join(source.line(numbers[0].lineno).split())[:60]
    title = message("fix.written_size", old=numbers[0].value, new=new, place=place)
    return Fix(title, tuple(edits.replace(source, number, str(new)) for number in numbers), safe=False)

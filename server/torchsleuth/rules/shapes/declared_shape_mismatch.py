"""declared-shape-mismatch: a shape that is written down, and that the value does not have.

What it finds
    Comments such as `# (B, 10)` beside an assignment, a return or a parameter, annotations of jaxtyping or torchtyping, and
    docstrings, that say another number of dimensions or other sizes than every execution gives. A function of which shapes
    are written is also run with these: its names stand for any sizes then, different names for different ones. A body that
    needs two of them to be equal, or returns another shape, tuple or dtype, contradicts them, whatever its callers have. At a
    call, the argument that breaks an annotation is accused.
Why it hurts
    Whoever reads the code next builds on the wrong shape; jaxtyping and torchtyping raise when they check it.
Example
    logits = self.head(features)  # (B, 10)          head = nn.Linear(512, 100)
Use instead
    logits = self.head(features)  # (B, 100)
Fix safety
    Unsafe: which of the two is wrong, the comment or the code, only its author knows.
References
    jaxtyping, torchtyping
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import DeclaredSighting, Unpacking
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import short
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Related, Span
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax.forms import by_position, is_display, is_spread
from torchsleuth.syntax.shapes import Declared, Dimension, counted
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_number
from torchsleuth.tensors.generality import always_apart
from torchsleuth.values import is_int

CODE = "TS116"

_BATCH = frozenset("b n bs bsz batch batch_size batchsize nb".split())
"""Names that a list of sizes begins with, as no list of anything else does."""
MIN_KNOWN = 2
"""Names of sizes that a list without brackets has to have to be a shape."""
MIN_WORD = 2
"""Letters of a name that stands for one size only; a single letter may as well stand for an axis."""


def find(analysis: Analysis) -> Iterator[Finding]:
    by_place: dict[tuple[str, int], list[DeclaredSighting]] = {}
    passed: list[DeclaredSighting] = []
    for sighting in analysis.trace.declared.values():
        if sighting.call is not None and sighting.declared.kind == "annotation":
            passed.append(sighting)
        else:
            by_place.setdefault((sighting.site.span.path, sighting.declared.start), []).append(sighting)
    accused: set[tuple[str, int]] = set()
    # What a function returns after it needed more than is written follows from that.
    needing = {meeting.function.node for meeting in analysis.trace.sizes_meet}
    unpacking = {one.site.frame.function.node for one in analysis.trace.unpacked_otherwise if one.site.frame.function}
    for place, sightings in by_place.items():
        of_every_size = [one for one in sightings if one.general and _function(one) not in needing]
        wrong = [(sighting, found) for sighting in of_every_size if (found := _wrong(sighting)) is not None]
        if not wrong:
            here = [one for one in sightings if not one.general and not {_function(one), one.site.node} & unpacking]
            mine = (sighting for sighting in here if not _is_passed_from_elsewhere(sighting))
            wrong = [(sighting, found) for sighting in mine if (found := _wrong_axes(sighting)) is not None]
            wrong = wrong if len(wrong) == len(here) else []
        if wrong:
            accused.add(place)
            yield _finding(*wrong[0])
    for sighting in passed:
        axes = _wrong(sighting)
        if axes is not None and (sighting.site.span.path, sighting.declared.start) not in accused:
            yield _at_call(sighting, axes)
    yield from _of_bodies(analysis)


def _is_passed_from_elsewhere(sighting: DeclaredSighting) -> bool:
    """Whether a call in another file, perhaps a test, passes what a comment or a docstring says otherwise of."""
    return sighting.call is not None and sighting.call.span.path != sighting.site.span.path


def _function(sighting: DeclaredSighting) -> ast.AST | None:
    function = sighting.site.frame.function
    return None if function is None else function.node


def _of_bodies(analysis: Analysis) -> Iterator[Finding]:
    """Bodies that need more than is written, or return something else."""
    for meeting in analysis.trace.sizes_meet:
        source = meeting.site.source
        text = message(
            "declared.meet",
            code=f"`{short(source.segment(meeting.site.node))}`",
            left=meeting.names[0],
            right=meeting.names[1],
            name=f"`{meeting.function.name}`",
        )
        yield Finding(meeting.site.span, text)
    yield from map(_unpacked, analysis.trace.unpacked_otherwise)
    for parts in analysis.trace.parts_differ:
        node = as_kind(parts.site.node, ast.Return)
        value = node.value if node is not None else None
        at = parts.site.frame.source.span(value) if value is not None else parts.site.span
        if isinstance(parts.declared, Declared):
            yield Finding(at, message("declared.tuple", count=parts.count or 0))
        elif parts.count is None:
            yield Finding(at, message("declared.one", wanted=len(parts.declared.parts)))
        else:
            yield Finding(at, message("declared.parts", count=parts.count, wanted=len(parts.declared.parts)))


def _unpacked(found: Unpacking) -> Finding:
    """Names for more or fewer parts than the written shapes leave."""
    source, target = found.site.source, found.site.node
    sizes = [size for size in found.items or () if is_int(size)]
    text = message(
        "declared.unpacked",
        names=short(source.segment(target).strip("()[]")),
        wanted=len(target.elts) if is_display(target) else 1,
        count=found.count,
        parts=f": {dims.shape_text(sizes)}" if sizes and len(sizes) == found.count else "",
    )
    return Finding(found.site.span, text)


def _wrong(sighting: DeclaredSighting) -> list[int] | None:
    """As `_wrong_axes`, where each of the sizes that are expected is known; the dtype may be wrong, too."""
    declared, shape, expected = sighting.declared, sighting.shape, sighting.expected
    if shape is None or not declared.exact or shape == (0,):
        return None
    if declared.kind != "annotation" and (declared.dims or declared.spread is not None):
        names = _wrong_names(sighting)
        returned = isinstance(sighting.site.node, ast.Return)
        return [] if names is None and returned and _wrong_dtype(sighting) else names
    if expected is None:
        return []
    wrong = [
        axis
        for axis, (wanted, size) in enumerate(zip(expected, shape))
        if wanted is not None and not _may_be_one(declared, axis, shape) and _differ(sighting, wanted, size)
    ]
    return wrong if wrong or _wrong_dtype(sighting) else None


def _differ(sighting: DeclaredSighting, wanted: Size, size: Size) -> bool:
    """Of sizes that stand for any numbers, those that do not differ are left out of what is expected."""
    return sighting.general or dims.equal(wanted, size) is False


def _may_be_one(declared: Declared, axis: int, shape: tuple[Size, ...]) -> bool:
    aligned = declared.aligned(len(shape))
    part = aligned[axis] if aligned is not None else None
    return part is not None and part.may_be_one and shape[axis] == 1


def _is_synonym(part: Dimension, size: Size) -> bool:
    """Whether the name that is written and that of the size are of the number of the same things."""
    name = dims.symbol(size)
    return isinstance(part.size, str) and name is not None and counted(part.size) == counted(name.name)


def _wrong_names(sighting: DeclaredSighting) -> list[int] | None:
    """The dimensions of which a comment or a docstring says another name or number than they have."""
    declared, shape, expected = sighting.declared, sighting.shape or (), sighting.expected
    aligned = declared.aligned(len(shape))
    if declared.kind == "comment" and not _is_shape(sighting, aligned):
        return None
    if aligned is None or expected is None:
        return []
    known = dict(sighting.sizes)
    wrong: list[int] = []
    for axis, (part, wanted, size) in enumerate(zip(aligned, expected, shape)):
        if part is None or wanted is None or _is_synonym(part, size):
            continue
        if is_number(wanted) and dims.symbol(size) is None and dims.equal(wanted, size) is None:
            continue  # The number that a computed size has for the inputs that are meant.
        # A letter names the axis as often as the size: what has the size of another one is wrong.
        others = [other for name, other in known.items() if name != part.size and not is_number(other)]
        sure = declared.strict and (dims.equal(wanted, size) is False or always_apart(wanted, size, degenerate=False))
        if not isinstance(part.size, str) or len(part.size) >= MIN_WORD or size in others or sure:
            wrong.append(axis)
    return wrong or None


_KINDS = {
    "Float": "float bfloat",
    "Inexact": "float bfloat complex",
    "Complex": "complex",
    "Int": "int",
    "UInt": "uint",
    "Integer": "int uint",
    "Real": "float bfloat int uint",
    "Num": "float bfloat int uint complex",
    "Bool": "bool",
}


def _wrong_dtype(sighting: DeclaredSighting) -> bool:
    declared, dtype = sighting.declared.dtype, sighting.dtype
    if not declared or dtype is None:
        return False
    if declared in _KINDS:
        return dtype.rstrip("0123456789") not in _KINDS[declared].split()
    exact = declared.lower()
    return exact[-1:].isdigit() and dtype != exact and exact.rstrip("0123456789") in _NUMBERS


_NUMBERS = frozenset("float int uint complex bfloat".split())


def _at_call(sighting: DeclaredSighting, wrong: list[int]) -> Finding:
    """An argument that is not as the parameter is annotated."""
    assert sighting.call is not None
    source = sighting.call.source
    parameter = sighting.site.node
    assert isinstance(parameter, ast.arg)
    argument = _passed_as(sighting, parameter)
    at = source.span(argument) if argument is not None else sighting.call.span
    value = f"`{short(source.segment(argument))}`" if argument is not None else f"`{parameter.arg}`"
    own = sighting.site.source
    place = own.span(parameter)
    related = place.related(message("declared.parameter", name=f"`{parameter.arg}`"))
    return Finding(at, _text(own, sighting, wrong, value), (related,))


def _passed_as(sighting: DeclaredSighting, parameter: ast.arg) -> ast.expr | None:
    """The argument that a call gives a parameter."""
    call, function = as_kind(sighting.call and sighting.call.node, ast.Call), sighting.site.frame.function
    if call is None or function is None:
        return None
    for keyword in call.keywords:
        if keyword.arg == parameter.arg:
            return keyword.value
    if is_spread(call.args):
        return None
    spec = function.node.args
    positional = by_position(spec)
    bound = sighting.site.frame.receiver is not None and function.kind == "function"
    position = positional.index(parameter) - bound if parameter in positional else -1
    return call.args[position] if 0 <= position < len(call.args) else None


def _wrong_axes(sighting: DeclaredSighting) -> list[int] | None:
    """The dimensions that are not as declared, an empty list where their number is not; None where nothing is disproved."""
    declared, shape = sighting.declared, sighting.shape
    if shape is None or not declared.exact or (not declared.dims and declared.spread is None):
        return None
    if shape == (0,):
        # Nothing yet: `torch.tensor([])` holds the place of what is declared.
        return None
    aligned = declared.aligned(len(shape))
    if declared.kind == "comment" and not _is_shape(sighting, aligned):
        return None
    if aligned is None:
        return []
    known = dict(sighting.sizes)
    wrong: list[int] = []
    loose: list[int] = []
    for axis, (part, size) in enumerate(zip(aligned, shape)):
        if part is None or part.size is None or (part.may_be_one and size == 1):
            continue
        expected = known.get(part.size) if isinstance(part.size, str) else part.size
        if expected is None or dims.equal(size, expected) is not False:
            continue
        strict = isinstance(part.size, int) or declared.kind == "annotation" or len(part.size) >= MIN_WORD
        (wrong if strict else loose).append(axis)
    # Single letters name the axes as often as the sizes: they are wrong where their sizes have changed places.
    names = [part.size for axis in loose if (part := aligned[axis]) is not None]
    if sorted(str(known[str(name)]) for name in names) == sorted(str(shape[axis]) for axis in loose):
        wrong += loose
    return sorted(wrong) or None


def _is_shape(sighting: DeclaredSighting, aligned: tuple[Dimension | None, ...] | None) -> bool:
    """Whether what stands in a comment is certainly a shape, and no range, box or list of values."""
    declared, shape, known = sighting.declared, sighting.shape or (), dict(sighting.sizes)
    if declared.named:
        return True
    if declared.bare and sum(part.size in known for part in declared.dims) < MIN_KNOWN:
        return False
    sizes = [part.size for part in declared.dims]
    if 0 in sizes or not sizes:
        return False
    if len(sizes) > 1 and shape == (len(sizes),) and all_are(sizes, str):
        return False  # The names of the elements: ``torch.tensor([w, h])  # [width, height]``
    first = as_kind(sizes[0], str)
    if first is not None and (first.lower() in _BATCH or first in known):
        return True
    if aligned is None:
        return all_are(sizes, int) and dims.product(of_kind(sizes, int)) == dims.product(shape)
    for part, size in zip(aligned, shape):
        expected: Size | None = None
        if part is not None:
            expected = known.get(part.size) if isinstance(part.size, str) else part.size
        if expected is not None and expected != 1 and dims.equal(size, expected):
            return True
    return False


def _finding(sighting: DeclaredSighting, wrong: list[int]) -> Finding:
    source = sighting.site.source
    declared, node = sighting.declared, sighting.site.node
    text = _text(source, sighting, wrong, _value_text(source, node))
    start, end = source.position(declared.start), source.position(max(declared.end, declared.start + 1))
    related: tuple[Related, ...] = ()
    if sighting.general and isinstance(node, ast.Return):
        span = source.span(node)
        related = (span.related(message("declared.returned")),)
    return Finding(Span(source.path, start, end), text, related, _corrected(source, sighting, wrong))


def _text(source: SourceText, sighting: DeclaredSighting, wrong: list[int], value: str) -> str:
    """The contradiction between a value and the shape that is written beside it."""
    declared, shape = sighting.declared, sighting.shape or ()
    texts = {
        "kind": message(f"declared.{declared.kind}"),
        "declared": " ".join(source.text[declared.start : declared.end].strip(" ,").split()),
        "value": value,
        "shape": dims.shape_text(shape),
    }
    aligned, expected = declared.aligned(len(shape)), sighting.expected
    if not wrong and expected is not None and _wrong_dtype(sighting):
        return message("declared.dtype", **texts, wanted=declared.dtype, dtype=str(sighting.dtype))
    if not wrong or aligned is None:
        return message("declared.rank", **texts, count=len(declared.dims), rank=len(shape))
    axis = wrong[0]
    part = aligned[axis]
    size = part.size if part is not None else None
    known = dict(sighting.sizes)
    wanted = str(size)
    if isinstance(size, str) and size in known:
        wanted = f"{size} = {dims.text(known[size])}" if dims.text(known[size]) != size else size
    elif size is None and expected is not None and (other := expected[axis]) is not None:
        wanted = dims.text(other)
    return message("declared.size", **texts, axis=axis, size=dims.text(shape[axis]), wanted=wanted)


def _value_text(source: SourceText, node: ast.AST) -> str:
    match node:
        case ast.arg():
            return f"`{node.arg}`"
        case ast.Return() if node.value is not None:
            return f"`{short(source.segment(node.value))}`"
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return message("declared.result", name=f"`{node.name}`")
    shown = as_kind(
        node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", getattr(node, "value", None)),
        ast.AST,
    )
    return f"`{short(source.segment(shown))}`" if shown is not None else message("declared.value")


def _corrected(source: SourceText, sighting: DeclaredSighting, wrong: list[int]) -> Iterator[Candidate]:
    """The sizes that are wrong, replaced by what they are; the whole list where their number is wrong."""
    declared, shape = sighting.declared, sighting.shape or ()
    aligned = declared.aligned(len(shape))
    names = {value: name for name, value in sighting.sizes if not is_number(value) or declared.kind == "comment"}
    texts = [names[size] if size in names and len(names[size]) < MIN_WORD else dims.text(size) for size in shape]
    if any("?" in text for text in texts):
        return
    if wrong and aligned is not None:
        parts = [(part, texts[axis]) for axis in wrong if (part := aligned[axis]) is not None]
        changes = [_edit(source, part.start, part.end, text) for part, text in parts]
    elif source.text[declared.start : declared.start + 1] in "\"'":
        return  # torchtyping has more between its brackets than sizes
    else:
        first = as_kind(declared.dims[0].size, str) if declared.dims else None
        if first is not None and first not in dict(sighting.sizes) and texts:
            texts[0] = first
        comma = "," if len(texts) == 1 and declared.kind == "comment" else ""
        changes = [_edit(source, declared.start, declared.end, declared.separator.join(texts) + comma)]
    yield Candidate(message("fix.declared", kind=message(f"declared.{declared.kind}")), tuple(changes), safe=False)


def _edit(source: SourceText, start: int, end: int, text: str) -> Edit:
    return Edit(source.path, source.position(start), source.position(end), text)


RULE = Rule(FAULTS[CODE], find)

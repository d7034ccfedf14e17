"""declared-shape-mismatch: a shape that is written down, and that the value does not have.

What it finds
    Comments such as `# (B, 10)` beside an assignment, a return or a parameter, and annotations of jaxtyping or torchtyping,
    that say another number of dimensions or other sizes than every execution gives. Sizes are compared where they are
    numbers, or names of variables whose value is known: names alone are taken for names.
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
from torchsleuth.interp.trace import DeclaredSighting
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import short, source_at
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Span
from torchsleuth.syntax.shapes import Dimension
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size

CODE = "TS116"

_BATCH = frozenset("b n bs bsz batch batch_size batchsize nb".split())
"""Names that a list of sizes begins with, as no list of anything else does."""
MIN_WORD = 2
"""Letters of a name that stands for one size only; a single letter may as well stand for an axis."""


def find(analysis: Analysis) -> Iterator[Finding]:
    by_place: dict[tuple[str, int], list[DeclaredSighting]] = {}
    for sighting in analysis.trace.declared.values():
        by_place.setdefault((sighting.site.span.path, sighting.declared.start), []).append(sighting)
    for sightings in by_place.values():
        wrong = [_wrong_axes(sighting) for sighting in sightings]
        if all(axes is not None for axes in wrong):
            yield _finding(analysis, sightings[0], wrong[0] or [])


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
    sizes = [part.size for part in declared.dims]
    if 0 in sizes or not sizes:
        return False
    first = sizes[0]
    if isinstance(first, str) and (first.lower() in _BATCH or first in known):
        return True
    if aligned is None:
        return all(isinstance(size, int) for size in sizes) and dims.product(
            [size for size in sizes if isinstance(size, int)]
        ) == dims.product(shape)
    for part, size in zip(aligned, shape):
        expected: Size | None = None
        if part is not None:
            expected = known.get(part.size) if isinstance(part.size, str) else part.size
        if expected is not None and expected != 1 and dims.equal(size, expected):
            return True
    return False


def _finding(analysis: Analysis, sighting: DeclaredSighting, wrong: list[int]) -> Finding:
    source = source_at(analysis, sighting.site)
    declared, shape = sighting.declared, sighting.shape or ()
    node = sighting.site.node
    texts = {
        "kind": message(f"declared.{declared.kind}"),
        "declared": " ".join(source.text[declared.start : declared.end].strip(" ,").split()),
        "value": _value_text(source, node),
        "shape": _listed(shape),
    }
    aligned = declared.aligned(len(shape))
    if wrong and aligned is not None:
        part = aligned[wrong[0]]
        assert part is not None
        name = part.size
        wanted = f"{name} = {dims.text(dict(sighting.sizes)[name])}" if isinstance(name, str) else str(name)
        text = message("declared.size", **texts, axis=wrong[0], size=dims.text(shape[wrong[0]]), wanted=wanted)
    else:
        text = message("declared.rank", **texts, count=len(declared.dims), rank=len(shape))
    start, end = source.position(declared.start), source.position(declared.end)
    return Finding(Span(source.path, start, end), text, (), _corrected(source, sighting, wrong))


def _value_text(source: SourceText, node: ast.AST) -> str:
    if isinstance(node, ast.arg):
        return f"`{node.arg}`"
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return message("declared.result", name=f"`{node.name}`")
    shown = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", getattr(node, "value", None))
    return f"`{short(source.segment(shown))}`" if isinstance(shown, ast.AST) else message("declared.value")


def _listed(shape: tuple[Size, ...]) -> str:
    inner = ", ".join(dims.text(size) for size in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def _corrected(source: SourceText, sighting: DeclaredSighting, wrong: list[int]) -> Iterator[Candidate]:
    """The sizes that are wrong, replaced by what they are; the whole list where their number is wrong."""
    declared, shape = sighting.declared, sighting.shape or ()
    aligned = declared.aligned(len(shape))
    names = {value: name for name, value in sighting.sizes if not isinstance(value, int) or declared.kind == "comment"}
    texts = [names[size] if size in names and len(names[size]) < MIN_WORD else dims.text(size) for size in shape]
    if any("?" in text for text in texts):
        return
    if wrong and aligned is not None:
        parts = [(part, texts[axis]) for axis in wrong if (part := aligned[axis]) is not None]
        changes = [_edit(source, part.start, part.end, text) for part, text in parts]
    elif source.text[declared.start : declared.start + 1] in "\"'":
        return  # torchtyping has more between its brackets than sizes
    else:
        first = declared.dims[0].size if declared.dims else None
        if isinstance(first, str) and first not in dict(sighting.sizes) and texts:
            texts[0] = first
        comma = "," if len(texts) == 1 and declared.kind == "comment" else ""
        changes = [_edit(source, declared.start, declared.end, declared.separator.join(texts) + comma)]
    yield Candidate(message("fix.declared", kind=message(f"declared.{declared.kind}")), tuple(changes), safe=False)


def _edit(source: SourceText, start: int, end: int, text: str) -> Edit:
    return Edit(source.path, source.position(start), source.position(end), text)


RULE = Rule(FAULTS[CODE], find)

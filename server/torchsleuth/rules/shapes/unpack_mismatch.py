"""unpack-mismatch: more or fewer names than the value has parts.

What it finds
    Assignments and loops whose targets are not as many as the parts of the value: `b, c, h, w = x.shape` of a tensor with
    three dimensions, `out, h, c = lstm(x)`, `for i, x, y in enumerate(loader)`, a loader whose samples have three parts.
Why it hurts
    Python stops with "not enough values to unpack (expected 4, got 3)".
Example
    out, h, c = lstm(x)
Use instead
    out, (h, c) = lstm(x)
Fix safety
    Safe where the names only have to be grouped. Leaving out a name that nothing uses, or ignoring a part, is offered as
    unsafe.
References
    torch.nn.LSTM, torch.Tensor.shape
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Unpacking
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail, origin_trail, shape_text
from torchsleuth.rules.evidence.operands import appended, batched_by_callers, replaced, short
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Position, Related
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_display, is_name, is_primary, loads
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import DictValue, Record, Tensor, Value, is_int, items_of, shape_of

CODE = "TS115"


def find(analysis: Analysis) -> Iterator[Finding]:
    for found in analysis.trace.unpackings:
        target = found.site.node
        if is_display(target):
            yield _finding(analysis, found, target)


def _finding(analysis: Analysis, found: Unpacking, target: ast.Tuple | ast.List) -> Finding:
    source = found.site.source
    value = _written_value(analysis, found, target)
    if isinstance(found.value, DictValue) and found.count == len(target.elts):
        return _of_keys(analysis, found, target)
    text = message(
        "unpack.count",
        names=short(source.segment(target).strip("()[]")),
        wanted=len(target.elts),
        value=f"`{short(source.segment(value))}`" if value is not None else "the value",
        count=found.count,
        parts=_parts(found),
    )
    places: list[Related] = list(call_trail(found.site.scene, limit=1))
    if isinstance(found.value, Tensor):
        places = origin_trail(found.value, "the tensor") + places
    return Finding(found.site.span, text, tuple(places), _candidates(analysis, found, target, value))


def _of_keys(analysis: Analysis, found: Unpacking, target: ast.Tuple | ast.List) -> Finding:
    """As many names as a batch has entries: they get its keys."""
    key = "unpack.fields" if isinstance(found.value, Record) else "unpack.keys"
    text = message(key, names=short(found.site.source.segment(target)), keys=_parts(found))
    return Finding(
        found.site.span, text, tuple(call_trail(found.site.scene, limit=1)), _entries(analysis, found, target)
    )


def _entries(analysis: Analysis, found: Unpacking, target: ast.Tuple | ast.List) -> Iterator[Candidate]:
    """``for batch in loader: x, y = batch["x"], batch["y"]``; a name that is a key gets its entry."""
    source, statement = found.site.source, _statement(analysis, found, target)
    keys = list((found.value.items or {}) if isinstance(found.value, DictValue) else ())
    names = [source.segment(part) for part in target.elts]
    chosen = names if set(names) == set(keys) else keys
    match statement:
        case ast.Assign():
            made = edits.insert_after_node(source, statement.value, ".values()")
            yield Candidate(
                message("fix.append", expression=short(source.segment(statement.value)), suffix=".values()"), (made,)
            )
        case ast.For() if statement.target is not None:
            line = f"{', '.join(names)} = {', '.join(f'batch[{key!r}]' for key in chosen)}".replace("'", '"')
            first, indent = statement.body[0], edits.indentation(source, statement.body[0].lineno)
            at = Position(first.lineno, 1)
            if statement.body[0].lineno > statement.lineno:
                changes = (
                    edits.replace(source, target, "batch"),
                    edits.insert(source, at, f"{indent}{line}{edits.line_ending(source)}"),
                )
                yield Candidate(message("fix.entries", line=line), changes)


def _parts(found: Unpacking) -> str:
    """The kinds of the parts, in brackets."""
    match found.value:
        case Tensor():
            return shape_text(found.value.spec)
        case DictValue():
            return f"({', '.join(repr(key) for key in found.value.items or ())})"
    words = [_word(item) for item in found.items or ()]
    return f"({', '.join(words[:6])}{', …' if len(words) > 6 else ''})"


def _word(item: Value) -> str:
    if isinstance(item, Tensor):
        return f"a tensor {shape_text(item.spec)}" if item.spec.shape is not None else "a tensor"
    if is_int(item):
        return dims.text(item)
    items = items_of(item)
    if items is not None:
        return f"a group of {len(items)}"
    return repr(item) if isinstance(item, str | float | bool) else "a value"


def _statement(analysis: Analysis, found: Unpacking, target: ast.AST) -> ast.AST | None:
    """The assignment, loop or comprehension whose targets these are."""
    at = (getattr(target, "lineno", 0), getattr(target, "col_offset", 0))
    for node in analysis.index(found.site.span.path).nodes:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.For | ast.comprehension):
            targets = [node.target]
        for part in targets:
            if any((getattr(p, "lineno", 0), getattr(p, "col_offset", -1)) == at for p in ast.walk(part)):
                return node
    return None


def _written_value(analysis: Analysis, found: Unpacking, target: ast.AST) -> ast.expr | None:
    statement = _statement(analysis, found, target)
    if isinstance(statement, ast.Assign):
        whole = statement.targets[0]
        nested = (whole.lineno, whole.col_offset, whole.end_col_offset) != (
            getattr(target, "lineno", 0),
            getattr(target, "col_offset", 0),
            getattr(target, "end_col_offset", 0),
        )
        return None if nested else statement.value
    if not isinstance(statement, ast.For | ast.comprehension):
        return None
    place = getattr(target, "lineno", 0), getattr(target, "col_offset", 0)
    return statement.iter if (statement.target.lineno, statement.target.col_offset) == place else None


def _candidates(
    analysis: Analysis, found: Unpacking, target: ast.Tuple | ast.List, value: ast.expr | None
) -> Iterator[Candidate]:
    source = found.site.source
    names = [source.segment(part) for part in target.elts]
    wrapped = source.segment(target).startswith("(")

    def write(parts: list[str], safe: bool) -> Candidate:
        inner = ", ".join(parts)
        return replaced(found.site, target, f"({inner})" if wrapped and len(parts) > 1 else inner, safe)

    count, wanted = found.count, len(names)
    yield from _enumerated(analysis, found, target)
    if isinstance(found.value, DictValue) and value is not None:
        made = edits.insert_after_node(source, value, ".values()")
        yield Candidate(message("fix.append", expression=short(source.segment(value)), suffix=".values()"), (made,))
        return
    for index, item in enumerate(found.items or ()):
        inner = items_of(item)
        if inner is not None and count - 1 + len(inner) == wanted:
            group = f"({', '.join(names[index : index + len(inner)])})"
            yield write([*names[:index], group, *names[index + len(inner) :]], True)
    if isinstance(found.value, Tensor):
        yield from _along(found, value, wanted)
        yield from _chunked(found, value, wanted)
        yield write(names[:1], False)
    if count + 1 == wanted and isinstance(value, ast.Attribute | ast.Call):
        yield from _batched(found, value)
    if count > wanted and not isinstance(found.value, Tensor):
        yield write([*names, *("_" for _ in range(count - wanted))], False)
    elif count < wanted:
        unused = [index for index, name in enumerate(names) if not _is_read(found, name)]
        if len(unused) >= wanted - count > 0:
            dropped = set(unused[-(wanted - count) :])
            yield write([name for index, name in enumerate(names) if index not in dropped], False)


def _enumerated(analysis: Analysis, found: Unpacking, target: ast.Tuple | ast.List) -> Iterator[Candidate]:
    """``for i, (x, y) in enumerate(loader)`` where only the names for it are there, grouped or not."""
    loop = as_kind(_statement(analysis, found, target), ast.For)
    if loop is None or not isinstance(loop.target, ast.Tuple) or isinstance(loop.iter, ast.Constant):
        return
    source, names = (
        found.site.source,
        [found.site.source.segment(part) for part in target.elts],
    )
    counted = edits.replace(source, loop.iter, f"enumerate({source.segment(loop.iter)})")
    title = message("fix.replace", old=short(source.segment(loop.iter)), new=short(counted.new_text))
    if len(loop.target.elts) == 2 and source.span(loop.target.elts[1]) == source.span(target):
        yield Candidate(title, (counted,))
    elif source.span(loop.target) == source.span(target) and found.count + 1 == len(names) > 2:
        group = edits.replace(source, target, f"{names[0]}, ({', '.join(names[1:])})")
        yield Candidate(title, (group, counted), safe=False)


def _along(found: Unpacking, value: ast.expr | None, wanted: int) -> Iterator[Candidate]:
    """The parts along another dimension, which has as many: the columns of a table of pairs."""
    shape = shape_of(found.value) or ()
    places = [place for place, size in enumerate(shape) if place and is_number(size) and size == wanted]
    if value is not None and len(places) == 1:
        yield appended(found.site, value, ".T" if len(shape) == 2 else f".unbind({places[0]})")


def _chunked(found: Unpacking, value: ast.expr | None, wanted: int) -> Iterator[Candidate]:
    """Features that hold several things side by side, such as means and variances, taken apart."""
    shape = shape_of(found.value)
    if value is None or not shape or len(shape) < 2 or not is_number(shape[-1]):
        return
    if is_primary(value) and shape[-1] % wanted == 0:
        yield appended(found.site, value, f".chunk({wanted}, dim=-1)")


def _batched(found: Unpacking, value: ast.expr) -> Iterator[Candidate]:
    """A batch of one where a function that unpacks the sizes of a batch is called with one sample."""
    shape = value.func if isinstance(value, ast.Call) else value
    owner = shape.value if is_attribute(shape, "shape", "size") else None
    yield from batched_by_callers(owner, found.site.scene)


def _is_read(found: Unpacking, name: str) -> bool:
    """Whether the function, or the script, uses a name after all."""
    return any(is_name(part, name) and loads(part) for part in ast.walk(found.site.scene.scope))


RULE = Rule(FAULTS[CODE], find)

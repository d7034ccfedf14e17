"""loader-of-whole: a loader that goes through the data of another one.

What it finds
    `DataLoader(val.dataset)` where `val` is a part that `random_split()` or `Subset` made, and the other part has a loader, too:
    `.dataset` is the data set that was split. Two loaders of one data set, next to another one of the same class that
    nothing uses. Two `Subset`s of one data set whose indices overlap, of which one is shuffled.
Why it hurts
    The model is trained on what it is then evaluated on. Validation scores are those of the training data, and nothing fails.
Example
    train, val = random_split(data, [80, 20])
    loaders = DataLoader(train, 8, shuffle=True), DataLoader(val.dataset, 8)
Use instead
    train, val = random_split(data, [80, 20])
    loaders = DataLoader(train, 8, shuffle=True), DataLoader(val, 8)
Fix safety
    Safe: the loader goes through the part, or through the data set that was made for it.
References
    torch.utils.data.Subset
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import all_are, as_kind, first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, is_attribute, is_dotted, loads, nodes_in
from torchsleuth.values import LibraryObject, Value, items_of

CODE = "TS623"
_LOADER = "torch.utils.data.DataLoader"


def _of_splits(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    loaders = analysis.calls.get(_LOADER, ())
    for call in loaders:
        written = _written(call)
        part = _part(call, written) if written is not None else None
        if written is None or part is None or call.site.span in reported:
            continue
        whole = _dataset(part)
        others = [other for other in loaders if other.site.span != call.site.span and _is_of(other, part, whole)]
        if others:
            reported.add(call.site.span)
            source = call.site.source
            name = source.segment(written.value)
            fix = replacement(source, written, name)
            yield Finding(source.span(written), message("loader.whole", name=f"`{name}`"), (), (fix,))


def _unused(analysis: Analysis) -> Iterator[Finding]:
    """Two loaders of one data set where another one was made and never used."""
    reported: set[Span] = set()
    loaders = [call for call in analysis.calls.get(_LOADER, ()) if isinstance(_named(call), ast.Name)]
    for first, second in combinations(loaders, 2):
        one, other, path = _named(first), _named(second), first.site.span.path
        same = first.given(0, "dataset") is second.given(0, "dataset") and path == second.site.span.path
        if not same or one is None or other is None or first.site.span == second.site.span:
            continue
        scope = _scope(analysis, path, other)
        if one.id != other.id or scope is None or _scope(analysis, path, one) is not scope:
            continue
        for left in _never_read(scope, other.id):
            call, given = _meant(analysis, path, ((first, one), (second, other)), left.id)
            if call.site.span not in reported:
                reported.add(call.site.span)
                source = analysis.source_of(path)
                title = message("fix.replace", old=given.id, new=left.id)
                fix = Candidate(title, (edits.replace(source, given, left.id),))
                text = message("loader.unused", name=f"`{given.id}`", unused=f"`{left.id}`")
                places = (source.span(left).related(message("loader.unused.made", name=f"`{left.id}`")),)
                yield Finding(source.span(given), text, places, (fix,))


def _given(call: LibraryCall) -> ast.expr | None:
    """The expression of the data set of a loader."""
    node = call.site.call
    if node is None:
        return None
    return node.args[0] if node.args else argument_of(node, None, "dataset")


def _named(call: LibraryCall) -> ast.Name | None:
    """The data set of a loader, where that is a name."""
    given = _given(call)
    return as_kind(given, ast.Name)


def _scope(analysis: Analysis, path: str, node: ast.Name) -> ast.AST | None:
    """The function around a name; the file of a script, which nothing imports from."""
    index = analysis.index(path)
    same = index.same(node)
    trail = index.trail(same) if same is not None else []
    functions = of_kind(trail, ast.FunctionDef, ast.AsyncFunctionDef)
    if functions:
        return functions[-1]
    trains = any(is_attribute(part.func, "backward") for part in index.of_type(ast.Call))
    return trail[0] if trail and trains else None


def _never_read(scope: ast.AST, used: str) -> Iterator[ast.Name]:
    """Names that are given an object of the same class as `used`, and never read."""
    made = [
        (node.targets[0], ast.unparse(node.value.func))
        for node in nodes_in(scope, ast.Assign)
        if isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name)
    ]
    kinds = {kind for name, kind in made if name.id == used}
    read = {part.id for part in nodes_in(scope, ast.Name) if loads(part)}
    yield from (name for name, kind in made if len(kinds) == 1 and kind in kinds and name.id not in read)


def _meant(
    analysis: Analysis, path: str, loaders: Sequence[tuple[LibraryCall, ast.Name]], name: str
) -> tuple[LibraryCall, ast.Name]:
    """Of the loaders the one whose name is most like that of the data set that is not used; the last of them alike."""
    source = analysis.source_of(path)

    def likeness(item: tuple[LibraryCall, ast.Name]) -> int:
        statement = first_of(reversed(analysis.index(path).trail(item[1])), ast.Assign)
        words = set(source.segment(statement.targets[0]).lower().split("_")) if statement is not None else set()
        return len(words & set(name.lower().split("_")))

    return max(reversed(loaders), key=likeness)


def _written(call: LibraryCall) -> ast.Attribute | None:
    """``part.dataset``, where that is what a loader is given."""
    given = _given(call)
    return given if is_attribute(given, "dataset") else None


def _part(call: LibraryCall, written: ast.Attribute) -> LibraryObject | None:
    """The part whose whole a loader is given."""
    scene = call.site.scene
    value: Value = None
    if isinstance(written.value, ast.Name):
        value = scene.names.get(written.value.id, scene.globals.get(written.value.id))
    elif is_dotted(written.value):
        owner = scene.instance()
        value = owner.slots.get(written.value.attr) if owner is not None else None
    is_part = isinstance(value, LibraryObject) and value.path.endswith(".Subset")
    return (
        value if is_part and isinstance(value, LibraryObject) and _dataset(value) is call.given(0, "dataset") else None
    )


def _dataset(part: LibraryObject) -> Value:
    return part.slots.get("dataset", part.given(0, "dataset"))


def _is_of(loader: LibraryCall, part: LibraryObject, whole: Value) -> bool:
    """Whether a loader goes through another part of the same data set, or through the whole by way of another part."""
    given = loader.given(0, "dataset")
    if isinstance(given, LibraryObject) and given.path.endswith(".Subset"):
        return given is not part and _dataset(given) is whole
    written = _written(loader)
    other = _part(loader, written) if written is not None else None
    return other is not None and other is not part and given is whole


def _overlapping(analysis: Analysis) -> Iterator[Finding]:
    """A part that is measured on, and shares some of its samples with another one, which is shuffled to be trained on."""
    parts = [
        (call, part)
        for call in analysis.calls_at_places(_LOADER)
        for part in of_kind([call.given(0, "dataset")], LibraryObject)
        if part.path.endswith(".Subset") and part.site is not None
    ]
    for (trained, one), (measured, other) in permutations(parts, 2):
        shuffles = [call.given(2, "shuffle", False) is True for call in (trained, measured)]
        if (
            shuffles == [True, False]
            and _dataset(one) is _dataset(other)
            and one.site is not None
            and other.site is not None
        ):
            mine, others = _indices(one), _indices(other)
            if mine & others and mine - others and others - mine:
                place = one.site.span.related(message("subsets.other"))
                yield Finding(other.site.span, message("subsets.overlap", count=len(mine & others)), (place,))


def _indices(part: LibraryObject) -> frozenset[int]:
    """The samples of a part, none where they are not all known."""
    items = as_kind(items_of(part.given(1, "indices")), tuple)
    return frozenset(items) if items is not None and all_are(items, int) else frozenset()


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _of_splits(analysis)
    yield from _unused(analysis)
    yield from _overlapping(analysis)


RULE = Rule(FAULTS[CODE], find)

"""loader-of-whole: a loader of a part of a data set that is given the whole.

What it finds
    `DataLoader(val.dataset)` where `val` is a part that `random_split()` or `Subset` made, and the other part has a loader, too:
    `.dataset` is the data set that was split.
Why it hurts
    The model is trained on what it is then evaluated on. Validation scores are those of the training data, and nothing fails.
Example
    train, val = random_split(data, [80, 20])
    loaders = DataLoader(train, 8, shuffle=True), DataLoader(val.dataset, 8)
Use instead
    train, val = random_split(data, [80, 20])
    loaders = DataLoader(train, 8, shuffle=True), DataLoader(val, 8)
Fix safety
    Safe: the loader goes through the part.
References
    torch.utils.data.Subset
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryObject, Value

CODE = "TS623"
_LOADER = "torch.utils.data.DataLoader"


def find(analysis: Analysis) -> Iterator[Finding]:
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
            source = analysis.source_of(call.site.span.path)
            name = source.segment(written.value)
            title = message("fix.replace", old=source.segment(written), new=name)
            fix = Candidate(title, (edits.replace(source, written, name),))
            yield Finding(source.span(written), message("loader.whole", name=f"`{name}`"), (), (fix,))


def _written(call: LibraryCall) -> ast.Attribute | None:
    """``part.dataset``, where that is what a loader is given."""
    node = call.site.node
    if not isinstance(node, ast.Call):
        return None
    given = node.args[0] if node.args else next((word.value for word in node.keywords if word.arg == "dataset"), None)
    return given if isinstance(given, ast.Attribute) and given.attr == "dataset" else None


def _part(call: LibraryCall, written: ast.Attribute) -> LibraryObject | None:
    """The part whose whole a loader is given."""
    scene = call.site.scene
    value: Value = None
    if isinstance(written.value, ast.Name):
        value = scene.names.get(written.value.id, scene.globals.get(written.value.id))
    elif isinstance(written.value, ast.Attribute) and isinstance(written.value.value, ast.Name):
        owner = scene.instance()
        value = owner.slots.get(written.value.attr) if owner is not None else None
    is_part = isinstance(value, LibraryObject) and value.path.endswith(".Subset")
    return value if is_part and isinstance(value, LibraryObject) and _dataset(value) is call.get(0, "dataset") else None


def _dataset(part: LibraryObject) -> Value:
    return part.slots.get("dataset", part.argument(0, "dataset"))


def _is_of(loader: LibraryCall, part: LibraryObject, whole: Value) -> bool:
    """Whether a loader goes through another part of the same data set, or through the whole by way of another part."""
    given = loader.get(0, "dataset")
    if isinstance(given, LibraryObject) and given.path.endswith(".Subset"):
        return given is not part and _dataset(given) is whole
    written = _written(loader)
    other = _part(loader, written) if written is not None else None
    return other is not None and other is not part and given is whole


RULE = Rule(FAULTS[CODE], find)

"""transform-of-subset: a transform that is set on a part of a data set, where it reaches nothing, or more than that part.

What it finds
    `subset.transform = …` on what `random_split()` or `Subset` made: it is the data set below that applies transforms. And
    `subset.dataset.transform = …` where another part shares that data set.
Why it hurts
    The validation data go on being augmented, or the training data are not any more. Nothing fails, and the scores are those
    of another task.
Example
    train, val = random_split(dataset, [80, 20])
    val.dataset.transform = plain
Use instead
    train, val = random_split(dataset, [80, 20])
    val.dataset = copy.copy(val.dataset)
    val.dataset.transform = plain
Fix safety
    Safe: the part gets a data set of its own, which shares the samples.
References
    torch.utils.data.Subset, torch.utils.data.random_split
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import SubsetSet
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_simple, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_name, loads
from torchsleuth.values import Instance, LibraryObject, Value

CODE = "TS622"
_TRANSFORMS = frozenset({"transform", "transforms", "target_transform"})
"""The transforms that the data sets of torchvision apply."""
_OF_SUBSETS = frozenset({"dataset", "indices"})


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    known = analysis.trace.subsets_set
    for one in known:
        if one.site.span in reported or one.target.attr in _OF_SUBSETS:
            continue
        name = f"`{ast.unparse(one.target.value)}`"
        text: str | None = None
        if not one.through:
            if _applies(one.dataset, one.target.attr) and not _is_read(analysis, one):
                text = message("subset.transform", name=name, attribute=one.target.attr)
        elif _is_shared(analysis, one) and (one.before is not None or any(_differs(one, other) for other in known)):
            text = message("subset.shared", name=name, attribute=one.target.attr)
        if text is not None:
            reported.add(one.site.span)
            yield Finding(one.site.span, text, (), _own(analysis, one))


def _applies(dataset: Value, name: str) -> bool:
    """Whether a data set has an attribute of this name that it goes by."""
    if isinstance(dataset, Instance):
        return name in dataset.slots
    return isinstance(dataset, LibraryObject) and "torchvision" in dataset.path and name in _TRANSFORMS


def _is_read(analysis: Analysis, one: SubsetSet) -> bool:
    """Whether the files read an attribute of this name of anything but ``self``."""
    paths = {analysis.source.path, one.site.span.path, *(source.path for source in analysis.workspace.read)}
    for path in paths:
        for node in analysis.index(path).of_type(ast.Attribute):
            if node.attr == one.target.attr and loads(node):
                if not is_name(node.value, "self"):
                    return True
    return False


def _is_shared(analysis: Analysis, one: SubsetSet) -> bool:
    """Whether another part of the same data set is handed to a loader."""
    loaders = analysis.calls.get("torch.utils.data.DataLoader", ())
    given = [call.given(0, "dataset") for call in loaders]
    others = [part for part in of_kind(given, LibraryObject) if part is not one.subset]
    return any(
        part.path.endswith(".Subset") and part.slots.get("dataset", part.given(0, "dataset")) is one.dataset
        for part in others
    )


def _differs(one: SubsetSet, other: SubsetSet) -> bool:
    """Whether two parts want something else of one data set."""
    same = other.through and other.dataset is one.dataset and other.target.attr == one.target.attr
    return same and other.subset is not one.subset and other.value is not one.value


def _own(analysis: Analysis, one: SubsetSet) -> Iterator[Candidate]:
    """A data set of its own for the part."""
    path = one.site.span.path
    source, statement = analysis.source_of(path), statement_of(analysis, one.site)
    inner = one.target.value.value if one.through and isinstance(one.target.value, ast.Attribute) else one.target.value
    if statement is None or not is_simple(statement, analysis, path):
        return
    name = source.segment(inner)
    changes = [edits.insert_line_before(source, statement, f"{name}.dataset = copy.copy({name}.dataset)")]
    if not one.through:
        changes.append(edits.replace(source, inner, f"{name}.dataset"))
    imports = edits.add_import(source, analysis.tree(path), "import copy")
    yield Candidate(message("fix.own_dataset", name=name), (*imports, *changes))


RULE = Rule(FAULTS[CODE], find)

"""Shared by the rules about data: loaders by their construction, how a collate function is added to one, names as written."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchsleuth.interp.library.data import LOADER
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis
from torchsleuth.schema import Edit, Position, Related, Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import first_line
from torchsleuth.syntax.names import Names
from torchsleuth.values import Instance, LibraryObject, Value, is_object_named


def constructions(analysis: Analysis) -> Iterator[tuple[LibraryCall, LibraryObject, ast.Call]]:
    """Every construction of a DataLoader, once for each place."""
    seen: set[Span] = set()
    for call in analysis.calls.get(LOADER, ()):
        made, node = as_kind(call.result, LibraryObject), call.site.call
        if made is not None and node is not None:
            if call.site.span not in seen:
                seen.add(call.site.span)
                yield call, made, node


def below_subsets(dataset: Value) -> tuple[Value, int]:
    """The dataset below any Subset, and how many there are above it."""
    above = 0
    while is_object_named(dataset, "Subset"):
        dataset, above = dataset.given(0, "dataset"), above + 1
    return dataset, above


def construction_of(loader: LibraryObject | None) -> ast.Call | None:
    """The call that made a loader, as it is written."""
    node = loader.site.node if loader is not None and loader.site is not None else None
    return as_kind(node, ast.Call)


def head(analysis: Analysis, path: str, call: ast.Call) -> Span:
    """The name that is called: the place of a call that spans many lines."""
    return analysis.source_of(path).span(call.func)


def dataset_text(dataset: Value) -> str:
    """A dataset, as a message names it."""
    if isinstance(dataset, Instance):
        return dataset.cls.name
    return dataset.type_name if isinstance(dataset, LibraryObject) else "the dataset"


def made_here(analysis: Analysis, loader: LibraryObject | None) -> tuple[Related, ...]:
    """The place where a loader is constructed."""
    call = construction_of(loader)
    if call is None or loader is None or loader.site is None:
        return ()
    span = head(analysis, loader.site.span.path, call)
    return (span.related(message("data.loader")),)


def affected(analysis: Analysis, fault: DataFault) -> list[LibraryObject]:
    """The loaders that meet the same fault: those over the same class of dataset, one for each place."""
    found: dict[Span, LibraryObject] = {}
    for other in analysis.trace.data:
        if other.kind == fault.kind and other.getitem is fault.getitem and other.loader is not None:
            same = other.dataset is fault.dataset or fault.getitem is not None
            if same and other.loader.site is not None and construction_of(other.loader) is not None:
                found.setdefault(other.loader.site.span, other.loader)
    return list(found.values())


def spelled(analysis: Analysis, path: str, name: str) -> tuple[str, tuple[Edit, ...]]:
    """How to write a library name in a file, and the import it needs if none serves."""
    tree = analysis.tree(path)
    names = Names(tree)
    short = names.bound_to(name)
    if short is not None:
        return short, ()
    package, _, rest = name.rpartition(".")
    while package:
        bound = names.bound_to(package)
        if bound is not None:
            return f"{bound}.{rest}", ()
        package, _, last = package.rpartition(".")
        rest = f"{last}.{rest}"
    return name, edits.add_import(analysis.source_of(path), tree, f"import {name.partition('.')[0]}")


def free_name(analysis: Analysis, path: str, wanted: str) -> str:
    names = Names(analysis.tree(path))
    return next(name for name in (wanted, *(f"{wanted}_{n}" for n in range(2, 100))) if names.is_free(name))


def with_collate(
    analysis: Analysis, loaders: Iterable[LibraryObject], name: str, body: list[str], imports: tuple[Edit, ...]
) -> tuple[Edit, ...]:
    """A collate function, given to these loaders."""
    return with_function(analysis, loaders, name, "batch", body, imports, "collate_fn")


def with_function(
    analysis: Analysis,
    loaders: Iterable[LibraryObject],
    name: str,
    argument: str,
    body: list[str],
    imports: tuple[Edit, ...],
    option: str,
) -> tuple[Edit, ...]:
    """A function, defined above the first of these loaders' statements, and given to each of them as an option. Empty
    where the loaders are made in different files."""
    calls = [(loader.site.span.path, call) for loader in loaders if loader.site and (call := construction_of(loader))]
    paths = {path for path, _ in calls}
    if len(paths) != 1:
        return ()
    path = paths.pop()
    source, tree = analysis.source_of(path), analysis.tree(path)
    first = min((call for _, call in calls), key=lambda call: call.lineno)
    above = next((part for part in tree.body if first_line(part) <= first.lineno <= (part.end_lineno or 0)), None)
    if above is None:
        return ()
    end = edits.line_ending(source)
    text = end.join([f"def {name}({argument}):", *(f"    {line}" for line in body), "", "", ""])
    changes = [edits.set_keyword(source, call, option, name) for _, call in calls]
    return (*imports, edits.insert(source, Position(first_line(above), 1), text), *changes)

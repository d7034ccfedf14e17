"""loader-options: options that a DataLoader refuses.

What it finds
    prefetch_factor or persistent_workers without worker processes; batch_size=None with drop_last; a batch size below 1; a
    random order of a dataset that is known to be empty. A sampler of the user's that gives lists of indices, as `sampler`, to a
    dataset that looks each index up in a list.
Why it hurts
    The constructor raises ValueError; a list is no index of a list.
Example
    DataLoader(dataset, batch_size=32, persistent_workers=True)
Use instead
    DataLoader(dataset, batch_size=32, num_workers=2, persistent_workers=True)
Fix safety
    Removing the option is safe: without workers it has nothing to act on, and whole batches are those of a `batch_sampler`. Adding
    workers is offered as unsafe.
References
    torch.utils.data.DataLoader
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import option
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import constructions, dataset_text, head
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_function_call, is_method_call, is_name, keyword_of, names_in, nodes_in
from torchsleuth.values import Instance, LibraryObject, is_object_named

CODE = "TS613"


def find(analysis: Analysis) -> Iterator[Finding]:
    for call, loader, node in constructions(analysis):
        names, text = _refused(loader)
        if names and not call.guarded:
            path = call.site.span.path
            yield Finding(head(analysis, path, node), text, (), _repairs(analysis, path, node, names))
        elif not call.guarded:
            yield from _sampled_by_lists(analysis, call.site.span.path, loader, node)
    for fault in analysis.trace.data:
        made = fault.at.call
        if fault.kind == "empty" and made is not None:
            text = message("data.empty", dataset=dataset_text(fault.dataset))
            yield Finding(head(analysis, fault.at.span.path, made), text)


def _sampled_by_lists(analysis: Analysis, path: str, loader: LibraryObject, node: ast.Call) -> Iterator[Finding]:
    """A sampler that gives lists, where the dataset looks a single index up in a list of its own."""
    sampler, dataset = option(loader, "sampler"), option(loader, "dataset")
    written = keyword_of(node, "sampler")
    if not isinstance(dataset, Instance) or written is None:
        return
    given: ast.expr | None = written.value
    if is_object_named(sampler, "BatchSampler"):
        name, at = "BatchSampler", analysis.source_of(path)
    elif isinstance(sampler, Instance):
        name, given, at = sampler.cls.name, _lists_of(sampler.cls.node), analysis.source_of(sampler.cls.path)
    else:
        return
    if option(loader, "batch_size") is None or option(loader, "batch_sampler") is not None:
        return
    read = _looked_up(dataset.cls.node)
    if given is None or read is None:
        return
    places = (
        at.span(given).related(message("data.sampler.list")),
        analysis.source_of(dataset.cls.path).span(read).related(message("data.sampler.looked_up")),
    )
    source = analysis.source_of(path)
    parts = [part for name in ("batch_size", "shuffle", "drop_last") if (part := keyword_of(node, name)) is not None]
    start = source.start_of(written)
    changes = (*(edits.remove_keyword(source, node, part) for part in parts), Edit(path, start, start, "batch_"))
    fixes = (
        (Candidate(message("fix.replace", old="sampler=", new="batch_sampler="), changes),)
        if len(node.args) < 2
        else ()
    )
    yield Finding(source.span(written), message("data.sampler.lists", sampler=name), places, fixes)


def _method(kind: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((part for part in of_kind(kind.body, ast.FunctionDef) if part.name == name), None)


def _lists_of(kind: ast.ClassDef) -> ast.expr | None:
    """A list that a sampler gives, where all that it gives are lists."""
    method = _method(kind, "__iter__")
    given = [part.value for part in nodes_in(method, ast.Yield)] if method is not None else []
    if method is None or not given or not all(part is not None and _is_list(method, part) for part in given):
        return None
    return given[0]


def _is_list(function: ast.FunctionDef, node: ast.expr) -> bool:
    """Whether an expression is a list wherever the function binds its name."""
    if isinstance(node, ast.Name):
        bound = [
            part.value for part in nodes_in(function, ast.Assign) if any(is_name(to, node.id) for to in part.targets)
        ]
        loops = [part for part in nodes_in(function, ast.For, ast.comprehension) if node.id in names_in(part.target)]
        return bool(bound) and not loops and all(_is_list(function, part) for part in bound if part is not node)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and _is_list(function, node.value)
    return (
        isinstance(node, ast.List | ast.ListComp)
        or is_function_call(node, "list", "sorted")
        or is_method_call(node, "tolist")
    )


def _looked_up(kind: ast.ClassDef) -> ast.Subscript | None:
    """Where a dataset looks the index that it is given up in an attribute that is a list, before anything else is done with it."""
    method, made = _method(kind, "__getitem__"), _method(kind, "__init__")
    names = [part.arg for part in method.args.args] if method is not None else []
    if method is None or made is None or len(names) != 2:
        return None
    others = [part for part in nodes_in(method, ast.Name) if part.id == names[1]]
    lists = {
        target.attr
        for part in nodes_in(made, ast.Assign)
        for target in of_kind(part.targets, ast.Attribute)
        if _holds_list(part.value)
    }
    set_again = [part.attr for part in nodes_in(kind, ast.Attribute) if isinstance(part.ctx, ast.Store)]
    reads = [
        part
        for part in nodes_in(method, ast.Subscript)
        if is_name(part.slice, names[1]) and isinstance(part.value, ast.Attribute) and part.value.attr in lists
    ]
    alone = [part for part in reads if isinstance(part.value, ast.Attribute) and set_again.count(part.value.attr) == 1]
    first = min(others, key=lambda part: (part.lineno, part.col_offset), default=None)
    tried = any(True for _ in nodes_in(method, ast.Try, ast.If))
    return next((part for part in alone if part.slice is first), None) if not tried else None


def _holds_list(node: ast.expr) -> bool:
    """Whether an expression is a list, or a part of what a JSON file holds, of which nothing takes a list for an index."""
    while isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        node = node.value
        if not is_method_call(node, "load", "loads"):
            return False
    if is_method_call(node, "load", "loads"):
        return is_name(node.func.value, "json")
    return isinstance(node, ast.List | ast.ListComp) or is_function_call(node, "list", "sorted")


def _refused(loader: LibraryObject) -> tuple[list[str], str]:
    """The options that the constructor refuses, with what is said of them."""
    batch, workers = option(loader, "batch_size"), option(loader, "num_workers")
    if workers == 0 and isinstance(workers, int):
        idle = [name for name in ("prefetch_factor", "persistent_workers") if option(loader, name) not in (None, False)]
        idle = [name for name in idle if isinstance(option(loader, name), int)]
        if idle:
            return idle, message("data.no_workers", option=" and ".join(idle))
    if isinstance(workers, int) and workers < 0:
        return ["num_workers"], message("data.workers", count=workers)
    if batch is None and option(loader, "drop_last") is True:
        return ["drop_last"], message("data.no_batches")
    if isinstance(batch, int) and batch < 1:
        return ["batch_size"], message("data.batch_size", size=batch)
    return [], ""


def _repairs(analysis: Analysis, path: str, node: ast.Call, names: list[str]) -> Iterator[Candidate]:
    source = analysis.source_of(path)
    parts = [part for part in (keyword_of(node, name) for name in names) if part is not None]
    if len(parts) == len(names):
        title = message("fix.remove", text=", ".join(source.segment(part) for part in parts))
        yield Candidate(title, tuple(edits.remove_keyword(source, node, part) for part in parts))
    if names[0] in ("prefetch_factor", "persistent_workers"):
        given = keyword_of(node, "num_workers")
        text = "num_workers=2"
        edit = edits.add_argument(source, node, text) if given is None else edits.replace(source, given.value, "2")
        yield Candidate(message("fix.add_argument", argument=text), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)

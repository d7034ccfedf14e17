"""Indices that a data set is asked for and cannot give: a sampler that gives lists of them, a worker that keeps a part of the data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import remove_keyword
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import Filled, bound, note
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_display,
    keyword_of,
    last_word,
    nodes_in,
    targets_of,
)

_OF_A_BATCH = ("sampler", "batch_size", "shuffle", "drop_last")
"""Options of a loader that one with a ``batch_sampler`` does not take."""


def _in_dataset(case: Case) -> bool:
    return any(frame.function == "__getitem__" for frame in case.frames)


def _samplers_of_lists(case: Case) -> list[tuple[CrashFrame, ast.Call, Filled]]:
    """The loaders whose ``sampler`` gives lists of indices, with what it gives."""
    found = []
    for file in case.files if _in_dataset(case) else ():
        for call in file.all(ast.Call):
            given = keyword_of(call, "sampler") if called(call) == "DataLoader" else None
            if given is None or keyword_of(call, "batch_sampler") is not None:
                continue
            made = list(made_from(case, file, given.value))
            kinds = {called(part) for _, part in made}
            lists = [(place, part) for place, part in made if called(part) == "BatchSampler"]
            lists += [item for item in _yielded(case, kinds) if _is_list(*item)]
            if lists:
                found.append((file, call, lists[0]))
    return found


def _yielded(case: Case, kinds: set[str]) -> Iterator[Filled]:
    """The values that samplers of these classes give."""
    for file in case.files:
        for kind in file.all(ast.ClassDef):
            for method in kind.body if kind.name in kinds else ():
                if isinstance(method, ast.FunctionDef) and method.name == "__iter__":
                    yield from ((file, part.value) for part in nodes_in(method, ast.Yield) if part.value is not None)


def _is_list(file: CrashFrame, node: ast.expr) -> bool:
    made = bound(file, node)
    if isinstance(made, ast.List | ast.ListComp) or called(made) in ("list", "tolist", "sorted"):
        return True
    cut = isinstance(made, ast.Subscript) and isinstance(made.slice, ast.Slice)
    return cut or is_display(made)


def _lists_here(case: Case) -> Iterator[Related]:
    for file, call, (place, given) in _samplers_of_lists(case)[:1]:
        sampler = keyword_of(call, "sampler")
        yield note(file.source, sampler or call, "error.sampler_of_lists.here")
        yield note(place.source, given, "error.sampler_of_lists.given")


def _as_batches(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``DataLoader(data, sampler=pairs)`` → ``DataLoader(data, batch_sampler=pairs)``"""
    for file, call, _ in _samplers_of_lists(case)[:1]:
        sampler = keyword_of(call, "sampler")
        if sampler is None or len(call.args) > 1:
            continue
        changes = [
            edit for name in _OF_A_BATCH[1:] for fix in remove_keyword(file.source, call, name) for edit in fix.edits
        ]
        start = file.source.start_of(sampler)
        changes.append(Edit(file.path, start, start, "batch_"))
        title = message("fix.replace", old="sampler=", new="batch_sampler=")
        yield Fix(title, edits.joined(changes))


# workers


def _parted(case: Case) -> list[tuple[CrashFrame, ast.Assign, CrashFrame, ast.Call]]:
    """Where a ``worker_init_fn`` leaves the data set of a worker a part of what it holds, which the failing line reads, and its loader."""
    read = {part.attr for part in nodes_in(case.frame.node, ast.Attribute)} if case.frame.node is not None else set()
    found = []
    for file in case.files if _in_dataset(case) else ():
        for call in file.all(ast.Call):
            given = keyword_of(call, "worker_init_fn")
            name = last_word(given.value) if given is not None else ""
            for place in case.files if name else ():
                for function in place.all(ast.FunctionDef):
                    for node in nodes_in(function, ast.Assign) if function.name == name else ():
                        targets = of_kind(targets_of(node), ast.Attribute)
                        if any(part.attr in read and place.text(part) in place.text(node.value) for part in targets):
                            found.append((place, node, file, call))
    return found


def _parted_here(case: Case) -> Iterator[Related]:
    for file, node, _, _ in _parted(case)[:1]:
        yield note(file.source, node, "error.parted_here")


def _not_parted(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``DataLoader(data, worker_init_fn=part)`` → without it: the loader gives each worker its share of the indices."""
    for _, _, file, call in _parted(case)[:1]:
        yield from remove_keyword(file.source, call, "worker_init_fn")


_LIST = r"indices must be integers or slices, not list|unhashable type: 'list'"
_TOO_FAR = r"index out of range|out of bounds|KeyError|is out of range"

ENTRIES = (
    entry("TS613", _LIST, "error.sampler_of_lists", applies=lambda case: bool(_samplers_of_lists(case))),
    entry("TS611", _TOO_FAR, "error.parted", applies=lambda case: bool(_parted(case))),
)
BUILDERS: tuple[tuple[str, Builder], ...] = ((_LIST, _as_batches), (_TOO_FAR, _not_parted))
PLACES = ((_LIST, _lists_here), (_TOO_FAR, _parted_here))

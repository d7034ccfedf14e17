"""Samplers that draw from all of a data set, where the loader has only a part of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import Filled, bound, note
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    given_to,
    is_method_call,
    is_reference,
    keyword_of,
    last_word,
    nodes_in,
    plain_name,
)

_PARTS = ("random_split", "Subset")
_OF_INDICES = ("SubsetRandomSampler",)


def _drawn(case: Case) -> list[tuple[CrashFrame, ast.Call, ast.expr, ast.expr, CrashFrame, ast.Call]]:
    """The loaders of a part of a data set with a sampler: the loader, the part as it is written there, the sampler, and the call that
    made the part."""
    if case.crash["type"] != "IndexError":
        return []
    found: list[tuple[CrashFrame, ast.Call, ast.expr, ast.expr, CrashFrame, ast.Call]] = []
    for file in case.files:
        for call in file.all(ast.Call):
            sampler = keyword_of(call, "sampler") or keyword_of(call, "batch_sampler")
            part = argument_of(call, 0, "dataset")
            if called(call) != "DataLoader" or sampler is None or part is None or not is_reference(part):
                continue
            made = [(place, node) for place, node in made_from(case, file, part) if isinstance(node, ast.Call)]
            parts = [(place, node) for place, node in made if called(node) in _PARTS and node.args]
            if parts and not any(called(node) in _OF_INDICES for _, node in made_from(case, file, sampler.value)[:4]):
                found.append((file, call, part, sampler.value, *parts[0]))
    return found


def _wholes(case: Case) -> Iterator[tuple[CrashFrame, ast.expr, Filled]]:
    """For each of them the part, and what its sampler is made from that has an entry for each sample of the whole: ``full.targets``, or
    the labels that the whole was made of."""
    for file, _, part, sampler, place, split in _drawn(case):
        whole = split.args[0]
        known = {place.text(whole)}
        made = bound(place, whole)
        known |= {place.text(given) for given in given_to(made) if isinstance(given, ast.Name)}
        for where, node in made_from(case, file, sampler):
            if _indexed(where, node, file.text(part)):
                continue
            text = where.text(node)
            of_whole = (
                isinstance(node, ast.Attribute)
                and node.attr != "indices"
                and (where.text(node.value) in known or last_word(node.value) == last_word(whole) != "")
            )
            labels = isinstance(node, ast.Name) and text in known and text != where.text(whole)
            if of_whole or labels:
                yield file, part, (where, node)
                break


def _indexed(file: CrashFrame, node: ast.expr, part: str) -> bool:
    return f"{part}.indices" in file.text(node)


def _sampler_made(case: Case) -> Iterator[Filled]:
    """Where the sampler was made: the call, or that of the user's function that makes it."""
    for file, _, _, sampler, _, _ in _drawn(case):
        yield file, bound(file, sampler)


def _drawn_here(case: Case) -> Iterator[Related]:
    for file, node in _sampler_made(case):
        yield note(file.source, node, "error.drawn_from_whole")
    for _, _, (file, node) in _wholes(case):
        yield note(file.source, node, "error.of_the_whole")


def _of_the_part(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``full.targets`` → ``full.targets[train.indices]``, or, of a list, ``[full.targets[i] for i in train.indices]``"""
    for file, part, (where, node) in _wholes(case):
        name = file.text(part)
        if where is not file or _bound_later(file, part, node):
            continue
        text = where.text(node)
        forms = [f"{text}[{name}.indices]", f"[{text}[i] for i in {name}.indices]"]
        if _is_list(case, where, node):
            forms.reverse()
        for new in forms:
            title = message("fix.replace", old=text[:60], new=new[:60])
            statement = edits.enclosing_statement(where.tree, node)
            same = (
                [other for other in nodes_in(statement, type(node)) if where.text(other) == text]
                if statement is not None
                else [node]
            )
            if isinstance(node, ast.Name):
                same = [
                    other
                    for other in same
                    if isinstance(other, ast.expr) and isinstance(getattr(other, "ctx", None), ast.Load)
                ]
            yield Fix(title, tuple(edits.replace(where.source, other, new) for other in same), safe=False)


def _bound_later(file: CrashFrame, part: ast.expr, node: ast.expr) -> bool:
    """Whether the part has no name yet where the sampler's values are read."""
    name = plain_name(part)
    stores = [place.lineno for place in file.all(ast.Name) if place.id == name and isinstance(place.ctx, ast.Store)]
    return bool(name and stores and min(stores) > node.lineno)


def _is_list(case: Case, file: CrashFrame, node: ast.expr) -> bool:
    for _, made in made_from(case, file, node)[1:]:
        if isinstance(made, ast.List | ast.ListComp) or is_method_call(made, "tolist") or called(made) == "list":
            return True
        if isinstance(made, ast.Call):
            return False
    return False


_TOO_FAR = r"index out of range|out of bounds"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_TOO_FAR, _of_the_part),)
PLACES = ((_TOO_FAR, _drawn_here),)

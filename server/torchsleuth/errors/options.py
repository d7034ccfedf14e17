"""Options of a configuration that a class or function of the user's does not take: a name that is written wrongly, far from the call."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.reached import note
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import every_parameter, is_text, nodes_in

_UNEXPECTED = r"(?:^|[\s.:])(\w+?)(?:\.__init__)?\(\) got an unexpected keyword argument '(\w+)'"


def _taken(case: Case, name: str) -> list[str]:
    """The parameters of the user's class or function of that name."""
    for file in case.files:
        for node in nodes_in(file.tree, ast.ClassDef, ast.FunctionDef):
            if node.name != name:
                continue
            if isinstance(node, ast.FunctionDef):
                return [part.arg for part in every_parameter(node.args)]
            made = next(
                (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None
            )
            if made is not None:
                return [part.arg for part in every_parameter(made.args)][1:]
            return [
                part.target.id
                for part in node.body
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
            ]
    return []


def _misspelt(case: Case) -> tuple[str, str, list[tuple[CrashFrame, ast.Constant]]] | None:
    """The option that is not taken, the one that is meant, and the texts of the script that it stands in."""
    found = re.search(_UNEXPECTED, case.crash["message"])
    if found is None or any(part.arg == found[2] for part in getattr(case.frame.node, "keywords", ())):
        return None
    like = difflib.get_close_matches(found[2], _taken(case, found[1]), n=1, cutoff=0.6)
    places: list[tuple[CrashFrame, ast.Constant]] = [
        (file, node)
        for file in case.files
        for node in file.all(ast.Constant)
        if is_text(node)
        and (
            node.value == found[2]
            or re.search(rf"(?m)[\"']{found[2]}[\"']\s*:|^\s*(?:--)?{found[2]}\s*[:=]", node.value)
        )
    ]
    return (found[2], like[0] if like else "", places) if places else None


def _misspelt_here(case: Case) -> Iterator[Related]:
    told = _misspelt(case)
    for file, node in told[2][:2] if told is not None else ():
        assert told is not None
        yield note(file.source, node, "error.option_not_taken", name=told[0])


def _as_taken(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``{"depths": 3}`` → ``{"depth": 3}``, also in a text that is read."""
    told = _misspelt(case)
    if told is None or not told[1]:
        return
    old, new, places = told
    changes: list[Edit] = []
    for file, node in places:
        text = file.text(node)
        changed = re.sub(rf"(?<!\w){old}(?!\w)", new, text)
        if changed != text:
            changes.append(edits.replace(file.source, node, changed))
    if changes:
        yield Fix(message("fix.key", old=old, new=new), tuple(changes), safe=False)


BUILDERS: tuple[tuple[str, Builder], ...] = ((_UNEXPECTED, _as_taken),)
PLACES = ((_UNEXPECTED, _misspelt_here),)

"""not-bound-yet: a variable that is read before anything binds it, or after it was deleted.

What it finds
    A name that the program binds only in a later line, or in a later cell of a notebook; one that a function reads after
    `del` took it away; a local variable of a function that nothing has bound where it is read.
Why it hurts
    NameError, or UnboundLocalError. In a notebook it seems to work, as long as the cells were executed in another order before.
Example
    model = nn.Embedding(len(vocab), 8)
    vocab = {word: place for place, word in enumerate(words)}
Use instead
    vocab = {word: place for place, word in enumerate(words)}
    model = nn.Embedding(len(vocab), 8)
Fix safety
    Safe where the line that binds it can go in front, unsafe where less is deleted.
References
    The Python Language Reference, "Naming and binding"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_alone, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_definition, is_name, loads, nodes_in, stored_in

CODE = "TS837"


def find(analysis: Analysis) -> Iterator[Finding]:
    told: set[str] = set()
    for misuse in analysis.misuses(misuses.UNBOUND):
        if misuse.value not in told:
            told.add(misuse.value)
            yield _finding(analysis, misuse)


def _finding(analysis: Analysis, misuse: Misuse[str]) -> Finding:
    name, site, path = misuse.value, misuse.site, misuse.site.span.path
    function = site.scene.function
    scope = function.node if function is not None and name in stored_in(function.node) else analysis.tree(path)
    deleted = [part for part in nodes_in(scope, ast.Delete) if any(is_name(target, name) for target in part.targets)]
    if deleted:
        place = site.source.span(deleted[0]).related(message("unbound.del"))
        fixes = list(_kept(analysis, path, deleted[0], name))
        return Finding(site.span, message("unbound.deleted", name=name), (place,), fixes)
    bound = first_of((part for part in nodes_in(scope, ast.Name) if part.id == name and not loads(part)), ast.Name)
    places = (site.source.span(bound).related(message("unbound.bound")),) if bound is not None else ()
    return Finding(site.span, message("unbound.later", name=name), places, list(_moved(analysis, misuse, bound)))


def _kept(analysis: Analysis, path: str, deleted: ast.Delete, name: str) -> Iterator[Candidate]:
    """The statement that deletes names, without this one."""
    source = analysis.source_of(path)
    place = next(number for number, target in enumerate(deleted.targets) if is_name(target, name))
    text = f"del {name}"
    if len(deleted.targets) > 1:
        edit = edits.remove_element(source, deleted.targets, place)
    elif is_alone(deleted, analysis, path):
        edit = edits.remove_line(source, deleted.lineno)
    else:
        return
    yield Candidate(message("fix.replace", old=source.segment(deleted), new=f"not {text}"), (edit,), safe=False)


def _moved(analysis: Analysis, misuse: Misuse[str], bound: ast.Name | None) -> Iterator[Candidate]:
    """The line that binds the name in front of the one that reads it."""
    path, reads = misuse.site.span.path, statement_of(analysis, misuse.site)
    binds = analysis.trail(path, bound) if bound is not None else []
    statement = of_kind(binds, ast.stmt)[-1] if of_kind(binds, ast.stmt) else None
    if reads is None or not isinstance(statement, ast.Assign) or statement.lineno != statement.end_lineno:
        return
    same = [part for part in binds if is_definition(part)] or reads.col_offset == statement.col_offset
    if same is True and reads.lineno < statement.lineno and is_alone(statement, analysis, path):
        source = analysis.source_of(path)
        text = source.segment(statement)
        changes = (edits.remove_line(source, statement.lineno), edits.insert_line_before(source, reads, text))
        yield Candidate(message("fix.move_before", text=text, line=reads.lineno), changes)


RULE = Rule(FAULTS[CODE], find)

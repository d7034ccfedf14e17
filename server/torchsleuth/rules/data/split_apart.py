"""split-apart: two random splits whose parts do not belong together.

What it finds
    Two calls of random_split or train_test_split without a common seed: one for the inputs and one for their labels; or one of
    which the training part is used and one of which the other part is used, of the same data.
Why it hurts
    Each call draws its own order. Inputs meet the labels of others, so that there is nothing to learn; or four fifths of the
    samples that the model is judged by are among those that it was trained on. Nothing is raised.
Example
    train, _ = random_split(data, [800, 200])
    _, test = random_split(data, [800, 200])
Use instead
    train, _ = random_split(data, [800, 200], generator=torch.Generator().manual_seed(0))
    _, test = random_split(data, [800, 200], generator=torch.Generator().manual_seed(0))
Fix safety
    Safe: both then draw the same order.
References
    torch.utils.data.random_split, sklearn.model_selection.train_test_split
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence import splits
from torchsleuth.rules.evidence.labels import is_of_labels
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax.forms import called, is_assignment, loads, nodes_in, plain_name, stored_in, written_index

CODE = "TS629"
_UNUSED = "_"


class _Split(NamedTuple):
    """A statement that splits data at random. `parts`: the names of the parts, or `_`. `seed`: the keyword that it lacks."""

    statement: ast.Assign
    call: ast.Call
    data: ast.expr
    parts: list[str]
    seed: str


def find(analysis: Analysis) -> Iterator[Finding]:
    calls = splits.unseeded(analysis)
    for scope in analysis.scopes if len(calls) > 1 else ():
        found = [split for statement in scope.body if (split := _split(statement, calls)) is not None]
        for first, second in pairwise(found):
            if first.seed == second.seed and not _drawn_again(scope.body, first, second):
                yield from _apart(analysis, scope, first, second)


def _split(statement: ast.stmt, calls: dict[int, str]) -> _Split | None:
    """``train, test = random_split(data, …)`` and ``train = random_split(data, …)[0]``, without a seed."""
    if not is_assignment(statement):
        return None
    target, given = statement.targets[0], statement.value
    place = written_index(given.slice) if isinstance(given, ast.Subscript) else None
    value = given.value if isinstance(given, ast.Subscript) else given
    seed = calls.get(id(value))
    if not isinstance(value, ast.Call) or seed is None or not value.args:
        return None
    if place is not None and place >= 0:
        parts = [_UNUSED] * place + [plain_name(target) or ""]
    else:
        parts = [plain_name(part) or "" for part in target.elts] if isinstance(target, ast.Tuple) else []
    one = len(value.args) == 1 or seed == "generator"
    return _Split(statement, value, value.args[0], parts, seed) if parts and one else None


def _drawn_again(block: list[ast.stmt], first: _Split, second: _Split) -> bool:
    """Whether the random numbers are set back, or the data is another, in between."""
    names = {node.id for node in nodes_in(second.data, ast.Name)}
    between = [part for part in block if first.statement.lineno < part.lineno < second.statement.lineno]
    again = any("seed" in called(call) for part in between for call in nodes_in(part, ast.Call))
    return again or bool(names & stored_in(first.statement, *between))


def _apart(analysis: Analysis, scope: ast.Module | ast.FunctionDef, first: _Split, second: _Split) -> Iterator[Finding]:
    source = analysis.source
    read = {node.id for node in nodes_in(scope, ast.Name) if loads(node)} - {_UNUSED}
    between = {
        node.id
        for node in nodes_in(scope, ast.Name)
        if loads(node) and first.call.lineno < node.lineno < second.statement.lineno
    } - {_UNUSED}
    kept = [name if name not in second.parts or name in between else _UNUSED for name in first.parts]
    used = [{place for place, name in enumerate(parts) if name in read} for parts in (kept, second.parts)]
    names = {"one": source.segment(first.data), "other": source.segment(second.data)}
    place = (source.span(first.call).related(message("split.first")),)
    whole = ast.unparse(first.call.args[-1]) == ast.unparse(second.call.args[-1])
    if ast.dump(first.data) == ast.dump(second.data) and used[0] and used[1] and not used[0] & used[1]:
        text = message("split.overlaps", other=names["other"])
    elif (
        is_of_labels(second.data)
        and not is_of_labels(first.data)
        and used[0] & used[1]
        and (whole or first.seed == "random_state")
    ):
        text = message("split.apart", **names)
    else:
        return
    fix = Candidate(message("fix.one_order"), splits.seeded(analysis, (first.call, second.call), first.seed))
    yield Finding(source.span(second.call), text, place, (fix,))


RULE = Rule(FAULTS[CODE], find)

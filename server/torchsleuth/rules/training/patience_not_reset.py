"""patience-not-reset: a count of epochs without improvement that an improvement does not set back.

What it finds
    A counter that grows where a value is no better than the best one, and stops the training when it is large enough, but gets
    no other value where the value is better. Of variables of a loop, and of attributes of a class.
Why it hurts
    Patience is meant for epochs in a row. Without the reset, it counts all of them: a training that goes on improving with a
    few poor epochs in between is stopped too early. Nothing is raised.
Example
    if loss < best:
        best = loss
    else:
        bad += 1
        if bad >= 5:
            break
Use instead
    if loss < best:
        best = loss
        bad = 0
    else:
        bad += 1
        if bad >= 5:
            break
Fix safety
    Safe: the count begins anew with each improvement.
References
    torch.optim.lr_scheduler.ReduceLROnPlateau, "patience"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import assigned_pairs, is_literal, is_reference, nodes_in, stores

CODE = "TS562"
_ENOUGH = (ast.Gt, ast.GtE, ast.Eq)


def find(analysis: Analysis) -> Iterator[Finding]:
    index = analysis.index(analysis.source.path)
    for choice in index.of_type(ast.If):
        for better, worse in ((choice.body, choice.orelse), (choice.orelse, choice.body)):
            best = _kept(choice.test, better)
            counted = _counted(worse) if best is not None else None
            scope = _scope(index.trail(choice), counted) if counted is not None else None
            if best is not None and counted is not None and scope is not None and not _is_reset(scope, counted):
                enough = next((test for test in nodes_in(scope, ast.If) if _is_enough(test, counted)), None)
                if enough is not None:
                    yield _finding(analysis, counted, best, enough)


def _kept(test: ast.expr, block: list[ast.stmt]) -> ast.Assign | None:
    """``best = loss``, where one of the two is compared with the other."""
    compared = {ast.unparse(side) for part in nodes_in(test, ast.Compare) for side in (part.left, *part.comparators)}
    for statement in of_kind(block, ast.Assign):
        if any(ast.unparse(part) in compared for part in statement.targets):
            return statement
    return None


def _counted(block: list[ast.stmt]) -> ast.AugAssign | None:
    """``bad += 1``"""
    found = of_kind(block, ast.AugAssign)
    return next((one for one in found if isinstance(one.op, ast.Add) and is_literal(one.value, 1)), None)


def _scope(trail: list[ast.AST], counted: ast.AugAssign) -> ast.AST | None:
    """Where a reset would stand: the outermost loop around the choice for a variable, the class for an attribute of self."""
    if isinstance(counted.target, ast.Name):
        inner = next((place for place, node in reversed([*enumerate(trail)]) if isinstance(node, ast.FunctionDef)), 0)
        return first_of(trail[inner:], ast.For, ast.While)
    return first_of(trail, ast.ClassDef)


def _is_reset(scope: ast.AST, counted: ast.AugAssign) -> bool:
    """Whether something else gives the counter a value: not where an object is made."""
    name = ast.unparse(counted.target)
    begun = {
        id(part)
        for method in nodes_in(scope, ast.FunctionDef)
        if method.name == "__init__"
        for part in ast.walk(method)
    }
    targets = (node for node in ast.walk(scope) if is_reference(node) and stores(node) and id(node) not in begun)
    changed = any(node is not counted.target and ast.unparse(node) == name for node in targets)
    return changed or any(nodes_in(scope, ast.Global, ast.Nonlocal))


def _is_enough(node: ast.If, counted: ast.AugAssign) -> bool:
    """``if bad >= patience:``, which stops, or tells that it is to be stopped."""
    test = node.test
    alone = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], _ENOUGH)
    if not alone or not isinstance(test, ast.Compare) or ast.unparse(test.left) != ast.unparse(counted.target):
        return False
    flags = (value for statement in of_kind(node.body, ast.Assign) for _, value in assigned_pairs(statement))
    return any(of_kind(node.body, ast.Break, ast.Return)) or any(is_literal(value, True) for value in flags)


def _finding(analysis: Analysis, counted: ast.AugAssign, best: ast.Assign, enough: ast.If) -> Finding:
    source, name = analysis.source, analysis.source.segment(counted.target)
    line = f"{name} = 0"
    fix = Candidate(message("fix.insert", text=line), (edits.insert_line_after(source, best, line),))
    places = (
        source.span(best).related(message("patience.better")),
        source.span(enough.test).related(message("patience.enough")),
    )
    return Finding(source.span(counted), message("patience.not_reset", name=name), places, (fix,))


RULE = Rule(FAULTS[CODE], find)

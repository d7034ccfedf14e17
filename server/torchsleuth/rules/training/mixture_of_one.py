"""mixture-of-one: both terms of a weighted mean are the same.

What it finds
    `lam * a + (1 - lam) * a`, where `a` is one and the same expression.
Why it hurts
    The weights cancel out: this is `a`. Of mixed samples, only the labels of one half are learnt. Nothing is raised.
Example
    loss = lam * criterion(out, y_a) + (1 - lam) * criterion(out, y_a)
Use instead
    loss = lam * criterion(out, y_a) + (1 - lam) * criterion(out, y_b)
Fix safety
    Unsafe: the name that was meant is taken from those that nothing else reads.
References
    "mixup: Beyond Empirical Risk Minimization" (Zhang et al.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax.forms import is_binary, is_literal, loads, names_in, nodes_in, stored_in

CODE = "TS566"


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    for total in analysis.index(source.path).of_type(ast.BinOp):
        terms = [_weighted(side) for side in (total.left, total.right)] if isinstance(total.op, ast.Add) else []
        for weight, value in terms[0] if terms else ():
            for rest, other in terms[1]:
                if _is_rest(weight, rest) and isinstance(value, ast.Call) and ast.dump(value) == ast.dump(other):
                    text = message("mixture.of_one", term=source.on_one_line(other))
                    yield Finding(source.span(other), text, (), tuple(_unread(analysis, other)))


def _weighted(term: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """A weight and what it weighs, in both orders."""
    if not is_binary(term, ast.Mult):
        return []
    return [(term.left, term.right), (term.right, term.left)]


def _is_rest(weight: ast.expr, rest: ast.expr) -> bool:
    """``1 - lam`` beside ``lam``, on either side."""
    return any(
        is_binary(one, ast.Sub)
        and (is_literal(one.left, 1) or is_literal(one.left, 1.0))
        and ast.dump(one.right) == ast.dump(other)
        for one, other in ((weight, rest), (rest, weight))
    )


def _unread(analysis: Analysis, other: ast.expr) -> Iterator[Candidate]:
    """A name that was bound together with one of the term's, and that nothing reads."""
    source = analysis.source
    tree = analysis.tree(source.path)
    read = {node.id for node in nodes_in(tree, ast.Name) if loads(node)}
    used = names_in(other)
    for binding in analysis.index(source.path).of_type(ast.Assign):
        names = stored_in(binding)
        for unread in sorted(names - read):
            for node in nodes_in(other, ast.Name):
                if node.id in names & used:
                    yield replacement(source, node, unread, safe=False)


RULE = Rule(FAULTS[CODE], find)

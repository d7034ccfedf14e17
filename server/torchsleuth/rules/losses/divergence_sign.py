"""divergence-sign: a divergence of a variational autoencoder that is added with the wrong sign.

What it finds
    `0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())`, which is minus the divergence from the standard normal distribution,
    added to a loss of the reconstruction.
Why it hurts
    What is minimised rewards codes that are far from the normal distribution: the loss falls below zero without bound, and samples
    from the prior are noise. Nothing is raised.
Example
    kld = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    loss = F.mse_loss(out, x, reduction="sum") + kld
Use instead
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
Fix safety
    Safe: a divergence is never negative.
References
    Kingma and Welling, "Auto-Encoding Variational Bayes", appendix B
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind, only
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    bindings_of,
    called,
    is_binary,
    is_binding,
    is_name,
    is_reference,
    is_unary,
    literal,
    nodes_in,
)
from torchsleuth.syntax.trees import Index

CODE = "TS330"
MAX_TERMS = 32
Terms = list[tuple[int, ast.expr]]
"""The terms of a sum, each with its sign."""


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    for node in index.of_type(ast.BinOp):
        form = 0 if is_binary(index.parents.get(node), ast.Add, ast.Sub) else _form(_terms(node))
        if form:
            sign, whole = _outwards(index, node, form)
            total = _added(index, whole) if whole is not None else None
            if total is not None and total * sign < 0 and whole is not None:
                fix = Candidate(message("fix.negate"), (edits.insert(source, source.start_of(whole), "-"),))
                yield Finding(source.span(whole), message("divergence.sign"), (), (fix,))


def _terms(node: ast.AST | None) -> Terms:
    """The terms of a sum; none of what is no sum, or one of very many."""
    found: Terms = []
    waiting: Terms = [(1, node)] if is_binary(node, ast.Add, ast.Sub) else []
    while waiting and len(found) + len(waiting) <= MAX_TERMS:
        sign, part = waiting.pop()
        if is_binary(part, ast.Add, ast.Sub):
            waiting += [(sign if isinstance(part.op, ast.Add) else -sign, part.right), (sign, part.left)]
        else:
            found.append((sign, part))
    return [] if waiting else found


def _form(terms: Terms) -> int:
    """-1 for ``1 + logvar - mu**2 - exp(logvar)``, twice the divergence with the wrong sign, 1 for its opposite; 0 for others."""
    signs: dict[str, int] = {}
    plain = {ast.unparse(term) for _, term in terms if is_reference(term)}
    for sign, term in terms:
        if literal(term) == 1:
            signs["one"] = sign
        elif is_reference(term):
            signs["logarithm"] = sign
        elif called(term) == "exp" and any(ast.unparse(part) in plain for part in ast.walk(term)):
            signs["variance"] = -sign
        elif _is_square(term):
            signs["mean"] = -sign
    one = len(terms) == len(signs) == 4 and len(set(signs.values())) == 1
    return -signs["one"] if one else 0


def _is_square(term: ast.expr) -> bool:
    """``mu**2``, ``mu.pow(2)``, ``torch.square(mu)``, ``mu * mu``"""
    if is_binary(term, ast.Mult):
        return ast.dump(term.left) == ast.dump(term.right)
    power = is_binary(term, ast.Pow) and getattr(term.right, "value", 0) == 2
    given = [getattr(part, "value", None) for part in term.args] if isinstance(term, ast.Call) else []
    return power or called(term) == "square" or (called(term) == "pow" and 2 in given)


def _outwards(index: Index, node: ast.expr, sign: int) -> tuple[int, ast.expr | None]:
    """The sign of the divergence in what is made of it by sums, means and numbers, and that expression; None where more is done."""
    while True:
        outer = index.parents.get(node)
        if is_unary(outer, ast.USub):
            sign = -sign
        elif is_binary(outer, ast.Mult, ast.Div):
            factor = outer.left if outer.right is node else outer.right
            sign = -sign if is_unary(factor, ast.USub) else sign
        elif isinstance(outer, ast.Attribute) or called(outer) in ("sum", "mean"):
            pass
        else:
            return sign, node
        if not isinstance(outer, ast.expr):
            return sign, None
        node = outer


def _added(index: Index, part: ast.expr) -> int | None:
    """The sign with which a part is added to the loss of a reconstruction, where it stands or by the name that it is given."""
    outer = index.parents.get(part)
    functions = of_kind(index.trail(part), ast.FunctionDef)
    scope = functions[-1] if functions else index.nodes[0]
    if is_binding(outer):
        name = outer.targets[0].id
        once = len(bindings_of(name, scope)) == 1
        sums = [terms for node in nodes_in(scope, ast.BinOp) if (terms := _terms(node)) and once]
        found = {sign for terms in sums for sign, term in terms if _mentions(term, name) and _has_loss(scope, terms)}
    else:
        top: ast.AST = part
        while is_binary(over := index.parents.get(top), ast.Add, ast.Sub):
            top = over
        terms = _terms(top)
        found = {sign for sign, term in terms if term is part and _has_loss(scope, terms)}
    return only(found)


def _mentions(term: ast.expr, name: str) -> bool:
    """Whether a term is a name, or a product with it."""
    if is_binary(term, ast.Mult, ast.Div):
        return _mentions(term.left, name) or _mentions(term.right, name)
    return is_name(term, name)


def _has_loss(scope: ast.AST, terms: Terms) -> bool:
    """Whether a loss of the library's is added among the terms, also by its name."""
    return any(sign > 0 and _is_loss(scope, term) for sign, term in terms)


def _is_loss(scope: ast.AST, term: ast.expr) -> bool:
    if isinstance(term, ast.Name):
        given = [
            part.value for part in nodes_in(scope, ast.Assign) if any(is_name(one, term.id) for one in part.targets)
        ]
        return len(given) == 1 and isinstance(given[0], ast.Call) and _is_loss(scope, given[0])
    name = called(term) if isinstance(term, ast.Call) else ""
    return name.endswith("_loss") or "cross_entropy" in name


RULE = Rule(FAULTS[CODE], find)

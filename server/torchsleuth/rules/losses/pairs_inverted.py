"""pairs-inverted: a loss of pairs that lifts the scores of the negatives above those of the positives.

What it finds
    `-logsigmoid(score(u, neg) - score(u, pos))`, `softplus(pos - neg)` and `relu(1 + pos - neg)` with the signs exchanged, for scores
    that are products of vectors, where the two sides are named as positives and negatives. Nothing is said of distances.
Why it hurts
    The loss falls as it should, and the ranking is the opposite of what is wanted: what users like comes last. Nothing is raised.
Example
    loss = -F.logsigmoid(model(user, neg) - model(user, pos)).mean()
Use instead
    loss = -F.logsigmoid(model(user, pos) - model(user, neg)).mean()
Fix safety
    Safe: the two sides are exchanged.
References
    Rendle et al., "BPR: Bayesian Personalized Ranking from Implicit Feedback" (2009)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import called, is_binary, is_method_call, is_unary, nodes_in, plain_name

CODE = "TS355"
_POSITIVE, _NEGATIVE = frozenset({"pos", "positive", "positives"}), frozenset({"neg", "negative", "negatives"})
_LIFTING, _LOWERING = frozenset({"logsigmoid", "LogSigmoid"}), frozenset({"softplus", "relu"})
"""Functions whose negative falls when their argument grows, and those that fall when it shrinks."""
_DISTANCES = re.compile(r"dist|norm\(|energy")


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    if not any(f"{name}(" in source.text for name in _LIFTING | _LOWERING):
        return
    if _DISTANCES.search(source.text) or not any(map(_multiplies, index.of_type(ast.FunctionDef))):
        return
    for function in index.of_type(ast.FunctionDef):
        bound = {plain_name(one.targets[0]): one.value for one in nodes_in(function, ast.Assign)}
        for call in nodes_in(function, ast.Call):
            name = called(call)
            given = call.args[0] if call.args else None
            if name not in _LIFTING | _LOWERING or given is None:
                continue
            if name in _LIFTING and not any(is_unary(part, ast.USub) for part in index.trail(call)[-8:]):
                continue
            sides = _sides(given, bound)
            if sides is not None and (sides[0] == "neg") == (name in _LIFTING):
                one, other = sides[1], sides[2]
                trail = [part for part in index.trail(one) if part in index.trail(other)]
                difference = next(part for part in reversed(trail) if isinstance(part, ast.expr | ast.stmt))
                text = message("pairs.inverted", difference=source.on_one_line(difference))
                fix: tuple[Candidate, ...] = ()
                if is_binary(difference, ast.Sub) and {id(one), id(other)} == {
                    id(difference.left),
                    id(difference.right),
                }:
                    new = f"{source.segment(difference.right)} - {source.segment(difference.left)}"
                    fix = (replacement(source, difference, new),)
                place = () if difference in ast.walk(given) else (source.span(call).related(message("pairs.loss")),)
                yield Finding(source.span(difference), text, place, fix)


def _multiplies(function: ast.FunctionDef) -> bool:
    """Whether a function gives products of vectors: ``(a * b).sum(-1)``, ``a @ b``, ``einsum``."""
    for part in (one for value in of_kind(ast.walk(function), ast.Return) for one in ast.walk(value)):
        if is_binary(part, ast.MatMult) or isinstance(part, ast.Call) and called(part) in ("einsum", "bmm", "dot"):
            return True
        if is_method_call(part, "sum") and any(is_binary(inner, ast.Mult) for inner in ast.walk(part.func.value)):
            return True
    return False


def _sides(node: ast.expr, bound: Mapping[str | None, ast.expr]) -> tuple[str, ast.expr, ast.expr] | None:
    """Of a sum with a positive and a negative, which one is added, that one, and the one that is subtracted."""
    signs: dict[str, tuple[int, ast.expr]] = {}
    for sign, term in _terms(node, 1, bound):
        words = {word for part in nodes_in(term, ast.Name) for word in part.id.lower().split("_")}
        words |= {word for part in nodes_in(term, ast.Attribute) for word in part.attr.lower().split("_")}
        kinds = [kind for kind, known in (("pos", _POSITIVE), ("neg", _NEGATIVE)) if words & known]
        if len(kinds) > 1 or kinds and kinds[0] in signs:
            return None
        if kinds:
            signs[kinds[0]] = (sign, term)
    if len(signs) < 2 or signs["pos"][0] == signs["neg"][0]:
        return None
    added = "pos" if signs["pos"][0] > 0 else "neg"
    return added, signs[added][1], signs["neg" if added == "pos" else "pos"][1]


def _terms(node: ast.expr, sign: int, bound: Mapping[str | None, ast.expr]) -> Iterator[tuple[int, ast.expr]]:
    """What is added and subtracted, with the signs; of sums that have a name, too."""
    given = bound.get(plain_name(node), node)
    if is_binary(given, ast.Add, ast.Sub):
        node, bound = given, {}
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            yield from _terms(left, sign, bound)
            yield from _terms(right, sign if isinstance(node.op, ast.Add) else -sign, bound)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            yield from _terms(inner, -sign, bound)
        case _:
            yield sign, node


RULE = Rule(FAULTS[CODE], find)

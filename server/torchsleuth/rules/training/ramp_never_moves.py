"""ramp-never-moves: what should grow with the steps is bounded by the value that it begins with.

What it finds
    `min(start, start + rate * step)` and `max(start, start - rate * step)`, also `min(0.0, step / warmup)`, in a function whose
    `step` is counted by a loop. Also a share of the steps that is always 0, as whole numbers are divided: `min(step, n - 1) // n`,
    and `step // n` in a loop over `range(n)`.
Why it hurts
    The bound holds from the first step on: the curriculum stays at its easiest, epsilon at its largest, the weight of a loss at 0.
    Nothing is raised, and the loss may even look good.
Example
    def difficulty(step):
        return min(0.1, 0.1 + 0.9 * step / 1000)
Use instead
    def difficulty(step):
        return min(1.0, 0.1 + 0.9 * step / 1000)
Fix safety
    There is none for a bound: where it should end is not known. A division is made one of fractions.
References
    Bengio et al., "Curriculum Learning" (2009)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.sifting import any_are, of_kind
from torchsleuth.syntax.forms import (
    assigned_pairs,
    by_position,
    called,
    is_binary,
    is_function_call,
    literal,
    names_in,
    nodes_in,
    plain_name,
    stores,
)
from torchsleuth.syntax.trees import Index

CODE = "TS586"
_BOUNDS = {"min": 1, "max": -1}
"""By the function, the sign of what should move."""
_COUNTING = ("range", "trange", "enumerate", "count")
_DEPTH = 4


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    for division in index.of_type(ast.BinOp):
        if isinstance(division.op, ast.FloorDiv) and _is_always_zero(index, division):
            new = f"{source.segment(division.left)} / {source.segment(division.right)}"
            text = message("ramp.whole", text=source.on_one_line(division))
            yield Finding(source.span(division), text, (), (replacement(source, division, new),))
    for function in index.of_type(ast.FunctionDef):
        calls = [
            call for call in nodes_in(function, ast.Call) if is_function_call(call, *_BOUNDS) and len(call.args) == 2
        ]
        if not calls:
            continue
        steps = {
            one.arg for one in by_position(function.args) if one.arg != "self" and _counts(index, function, one.arg)
        }
        pairs = [pair for one in nodes_in(function, ast.Assign) for pair in assigned_pairs(one)]
        bound = {plain_name(target): value for target, value in pairs if plain_name(target) not in steps}
        for call in calls if steps else ():
            for first, other in (call.args, call.args[::-1]):
                if _moves_away(first, bound.get(plain_name(other), other), steps, _BOUNDS[called(call)]):
                    text = message("ramp.still", function=called(call), first=source.on_one_line(first))
                    yield Finding(source.span(call), text)
                    break


def _is_always_zero(index: Index, division: ast.BinOp) -> bool:
    """Whether what is divided is less than what it is divided by: it is bounded by that, or runs over a range up to it."""
    whole, around = ast.unparse(division.right), index.trail(division)
    if isinstance(division.right, ast.Constant) or any_are(around, ast.Subscript, ast.Slice):
        return False
    if is_function_call(division.left, "min"):
        less = [one for one in division.left.args if is_binary(one, ast.Sub) and ast.unparse(one.left) == whole]
        return any((_value(one.right) or 0) >= 1 for one in less)
    loops = [one for one in of_kind(around, ast.For) if plain_name(one.target) == plain_name(division.left)]
    loop = loops[-1] if loops and plain_name(division.left) else None
    if loop is None or not is_function_call(loop.iter, "range") or len(loop.iter.args) != 1:
        return False
    stored = [part for part in nodes_in(loop, ast.Name) if stores(part)]
    bound = names_in(division.right) | {plain_name(division.left)}
    return ast.unparse(loop.iter.args[0]) == whole and sum(one.id in bound for one in stored) == 1


def _moves_away(first: ast.expr, other: ast.expr, steps: set[str], sign: int) -> bool:
    """Whether an expression is another one, and beside it what grows with the steps, in the direction that the bound forbids."""
    terms = list(_terms(other, 1))
    begin = [term for term in terms if term[0] > 0 and _is_same(first, term[1])]
    rest = [term for term in terms if term not in begin[:1]]
    begins = bool(begin) or _value(first) == 0
    return (
        begins
        and not names_in(first) & steps
        and bool(rest)
        and all(_grows(term, steps) * own == sign for own, term in rest)
    )


def _terms(node: ast.expr, sign: int) -> Iterator[tuple[int, ast.expr]]:
    """What is added and subtracted, with the signs."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            yield from _terms(left, sign)
            yield from _terms(right, sign if isinstance(node.op, ast.Add) else -sign)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            yield from _terms(inner, -sign)
        case _:
            yield sign, node


def _is_same(one: ast.expr, other: ast.expr) -> bool:
    value = _value(one)
    return ast.dump(one) == ast.dump(other) or value is not None and value == _value(other)


def _value(node: ast.expr) -> float | None:
    value = literal(node)
    return float(value) if isinstance(value, int | float) else None


def _grows(node: ast.expr, steps: set[str]) -> int:
    """1 for a product or quotient of a step and of what is positive: of numbers, of names, of what is left of 1; 0 otherwise."""
    counted = 0
    for over, factor in _factors(node, False):
        if plain_name(factor) in steps:
            counted += not over
            if over:
                return 0
        elif not _is_positive(factor) or names_in(factor) & steps:
            return 0
    return int(counted > 0)


def _factors(node: ast.expr, over: bool) -> Iterator[tuple[bool, ast.expr]]:
    """The factors of an expression, and whether it is divided by them."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            yield from _factors(left, over)
            yield from _factors(right, over ^ isinstance(node.op, ast.Div))
        case ast.Call(func=ast.Name(id="float"), args=[inner]):
            yield from _factors(inner, over)
        case _:
            yield over, node


def _is_positive(node: ast.expr) -> bool:
    """Whether a factor is a positive number, a name of one, or what is left of 1."""
    value = _value(node)
    left_of_one = is_binary(node, ast.Sub) and _value(node.left) == 1
    return value > 0 if value is not None else left_of_one or isinstance(node, ast.Name | ast.Attribute | ast.Subscript)


def _counts(index: Index, function: ast.FunctionDef, name: str, depth: int = _DEPTH) -> bool:
    """Whether every call of a function in the file gives a parameter the number of a loop's round."""
    parameters = [one.arg for one in by_position(function.args)]
    place = parameters.index(name) - (parameters[:1] == ["self"])
    named = [one for one in index.of_type(ast.FunctionDef) if one.name == function.name]
    calls = [call for call in index.of_type(ast.Call) if called(call) == function.name]
    given = [call.args[place] if 0 <= place < len(call.args) else None for call in calls]
    return len(named) == 1 and bool(given) and all(_is_count(index, one, depth) for one in given)


def _is_count(index: Index, given: ast.expr | None, depth: int) -> bool:
    if not isinstance(given, ast.Name) or not depth:
        return False
    for part in reversed(index.trail(given)):
        if isinstance(part, ast.For) and called(part.iter) in _COUNTING:
            first = part.target.elts[0] if isinstance(part.target, ast.Tuple) else part.target
            if plain_name(first) == given.id:
                return True
        if isinstance(part, ast.FunctionDef) and given.id in [one.arg for one in by_position(part.args)]:
            return _counts(index, part, given.id, depth - 1)
    return False


RULE = Rule(FAULTS[CODE], find)

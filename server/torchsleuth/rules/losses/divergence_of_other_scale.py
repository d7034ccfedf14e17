"""divergence-of-other-scale: a KL divergence to the standard normal whose logarithm and variance are not of the same number.

What it finds
    `1 + a - m**2 - exp(b)` in any order and sign, where b is another multiple of the same tensor than a: `2 * logstd` beside `logstd.exp()`,
    and `log(std)` beside `std**2`.
Why it hurts
    The closed form holds for a log variance v: 1 + v - m**2 - exp(v). With another factor its minimum lies elsewhere, so that the latent
    variables are drawn to another spread than that of the prior, which samples come from. Nothing is raised.
Example
    kl = -0.5 * (1 + 2 * logstd - mean**2 - logstd.exp()).sum()
Use instead
    kl = -0.5 * (1 + 2 * logstd - mean**2 - logstd.exp().pow(2)).sum()
Fix safety
    Unsafe: whether the tensor is a log variance or a log deviation is for the author to say; the logarithm decides.
References
    Kingma & Welling, "Auto-Encoding Variational Bayes" (2013), appendix B
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import called, is_binary, is_method_call, is_unary, literal

CODE = "TS356"
_TERMS = 4


@dataclass(frozen=True)
class _Scale:
    """A number whose logarithm is `factor` times `of`, or times the logarithm of `of` where it is `plain`."""

    of: str
    plain: bool
    factor: float


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    if "exp" not in source.text and "log" not in source.text:
        return
    for node in index.of_type(ast.BinOp):
        if not is_binary(node, ast.Add, ast.Sub) or is_binary(index.parents.get(node), ast.Add, ast.Sub):
            continue
        terms = list(_terms(node, 1))
        ones = [sign for term, sign in terms if literal(term) in (1, 1.0)]
        if len(terms) != _TERMS or len(ones) != 1:
            continue
        logs = [(term, scale) for term, sign in terms if sign == ones[0] and (scale := _of_log(term)) is not None]
        sizes = [(term, scale) for term, sign in terms if sign == -ones[0] and (scale := _of_size(term)) is not None]
        for log, one in logs:
            same = [(term, other) for term, other in sizes if (one.of, one.plain) == (other.of, other.plain)]
            if len(same) == 1 and len(sizes) == 2 and one.factor != same[0][1].factor:
                size, other = same[0]
                text = message("divergence.scale", log=source.on_one_line(log), size=source.on_one_line(size))
                power = one.factor / other.factor
                new = f"{source.segment(size)}.pow({power:g})" if isinstance(size, ast.Call) else ""
                fixes = [replacement(source, size, new, safe=False)] if new and power == int(power) else []
                yield Finding(source.span(size), text, (), fixes)


def _terms(node: ast.expr, sign: int) -> Iterator[tuple[ast.expr, int]]:
    """The terms of a sum, with their signs."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            yield from _terms(node.left, sign)
            yield from _terms(node.right, -sign if isinstance(node.op, ast.Sub) else sign)
        case ast.UnaryOp(op=ast.USub()):
            yield from _terms(node.operand, -sign)
        case _:
            yield node, sign


def _argument(node: ast.expr, name: str) -> ast.expr | None:
    """The argument of a function: ``x.exp()``, ``torch.exp(x)``."""
    call = as_kind(node, ast.Call)
    if call is None or called(call) != name:
        return None
    if is_method_call(call) and not call.args:
        return call.func.value
    return call.args[0] if len(call.args) == 1 else None


def _power(node: ast.expr) -> tuple[ast.expr, float] | None:
    """The base and the exponent of ``x**2``, ``x.pow(2)`` and ``x.square()``."""
    if is_binary(node, ast.Pow):
        base, exponent = node.left, as_kind(literal(node.right), int, float)
    elif is_method_call(node, "pow") and len(node.args) == 1:
        base, exponent = node.func.value, as_kind(literal(node.args[0]), int, float)
    else:
        squared = _argument(node, "square")
        return (squared, 2.0) if squared is not None else None
    return (base, float(exponent)) if exponent is not None else None


def _multiple(node: ast.expr) -> tuple[ast.expr, float]:
    """A tensor and the number that it is multiplied by."""
    if is_unary(node, ast.USub):
        inner, factor = _multiple(node.operand)
        return inner, -factor
    if is_binary(node, ast.Mult):
        for number, other in ((node.left, node.right), (node.right, node.left)):
            value = as_kind(literal(number), int, float)
            if value is not None:
                return other, float(value)
    return node, 1.0


def _of_log(node: ast.expr) -> _Scale | None:
    """The number whose logarithm a term is."""
    inner, factor = _multiple(node)
    raised = _argument(inner, "log")
    if raised is None:
        return _Scale(ast.dump(inner), False, factor) if literal(inner) is None else None
    base, exponent = _power(raised) or (raised, 1.0)
    return _Scale(ast.dump(base), True, factor * exponent)


def _of_size(node: ast.expr) -> _Scale | None:
    """The number that a term is, as a power of one or of e."""
    base, exponent = _power(node) or (node, 1.0)
    inside = _argument(base, "exp")
    if inside is None:
        return _Scale(ast.dump(base), True, exponent)
    inner, factor = _multiple(inside)
    return _Scale(ast.dump(inner), False, factor * exponent)


RULE = Rule(FAULTS[CODE], find)

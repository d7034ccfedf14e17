"""unstable-expression: a formula that loses digits or overflows, though PyTorch has a function for it.

What it finds
    log(softmax(x)), log(sigmoid(x)), log(1 + x), log(1 - x), exp(x) - 1 and log(sum(exp(x))), as functions or as methods,
    and the logarithm of a variable that holds a softmax or a sigmoid.
Why it hurts
    log(softmax) is -inf where a probability underflows, and its gradient is NaN; sum(exp) is inf from 89 on in float32;
    log(1 + x) and exp(x) - 1 are 0 for small x. Losses become NaN long after the cause.
Example
    log_probs = torch.log(F.softmax(logits, dim=-1))
Use instead
    log_probs = torch.log_softmax(logits, dim=-1)
Fix safety
    Safe: the same function, computed with more digits. No fix where the inner value has a name of its own.
References
    torch.log_softmax, torch.nn.functional.logsigmoid, torch.log1p, torch.expm1, torch.logsumexp
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.replacements import replaced
from torchsleuth.rules.evidence.uses import is_exact, operand, text, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import is_attribute, is_binary, is_literal, stores
from torchsleuth.syntax.names import Use
from torchsleuth.values import Tensor

CODE = "TS705"
_PACKAGES = ("torch", "torch.nn.functional", "torch.special")
_NAMES = frozenset(("log", "exp", "sum", "softmax", "sigmoid"))
_LOGARITHMS = {"softmax": "torch.log_softmax", "sigmoid": "torch.nn.functional.logsigmoid"}


@dataclass(frozen=True)
class _Applied:
    """A function of torch applied: ``torch.exp(x)`` or ``x.exp()``. `rest`: its other arguments, as written."""

    name: str
    node: ast.Call
    of: ast.expr
    rest: tuple[ast.expr | ast.keyword, ...]


def find(analysis: Analysis) -> Iterator[Finding]:
    applied = _all_applied(analysis)
    if not applied:
        return
    reported: set[Span] = set()
    index = analysis.index(analysis.source.path)
    for node in (*index.of_type(ast.BinOp), *index.of_type(ast.Call)):
        better = _better(analysis, node, applied)
        if better is not None:
            span = analysis.source.span(node)
            reported.add(span)
            name, new, fixes = better
            yield Finding(span, message("unstable", old=name, new=new), (), fixes)
    yield from _of_variables(analysis, reported, applied)


def _all_applied(analysis: Analysis) -> dict[ast.Call, _Applied]:
    """The calls of the functions that matter: by their names, or as methods of what the analysis knows to be a tensor."""
    found: dict[ast.Call, _Applied] = {}
    for use in analysis.names.uses:
        if use.call is not None and _is_function(use) and use.call.args and is_exact(use.call):
            first, *rest = use.call.args
            name = use.path.rpartition(".")[2]
            found[use.call] = _Applied(name, use.call, first, (*rest, *use.call.keywords))
    methods = {
        (seen.site.span.start, seen.site.span.end)
        for seen in analysis.trace.calls
        if seen.path.startswith("Tensor.") and seen.site.span.path == analysis.source.path
    }
    if not found and not any(path.removeprefix("Tensor.") in _NAMES for path in analysis.calls):
        return {}
    for node in analysis.index(analysis.source.path).of_type(ast.Call):
        if is_attribute(node.func, *_NAMES):
            span = analysis.source.span(node)
            known = (span.start, span.end) in methods or node.func.value in found
            if node not in found and known and is_exact(node):
                found[node] = _Applied(node.func.attr, node, node.func.value, (*node.args, *node.keywords))
    return found


def _is_function(use: Use) -> bool:
    package, _, name = use.path.rpartition(".")
    return package in _PACKAGES and name in _NAMES


def _better(
    analysis: Analysis, node: ast.AST, applied: dict[ast.Call, _Applied]
) -> tuple[str, str, Iterator[Candidate]] | None:
    """The formula of an expression, the function for it, and the repair."""
    if is_binary(node, ast.Sub) and _is_one(node.right):
        inner = applied.get(node.left) if isinstance(node.left, ast.Call) else None
        if inner is not None and inner.name == "exp" and not inner.rest:
            return "exp(x) - 1", "torch.expm1(x)", _rewritten(analysis, node, "torch.expm1", text(analysis, inner.of))
    outer = applied.get(node) if isinstance(node, ast.Call) else None
    if outer is None or outer.name != "log" or outer.rest:
        return None
    if isinstance(outer.of, ast.BinOp):
        return _of_one_plus(analysis, outer.node, outer.of)
    inner = applied.get(outer.of) if isinstance(outer.of, ast.Call) else None
    if inner is None:
        return None
    if inner.name in _LOGARITHMS:
        new = _LOGARITHMS[inner.name]
        return f"log({inner.name}(x))", f"{new}(x)", _rewritten(analysis, outer.node, new, _arguments(analysis, inner))
    exponential = applied.get(inner.of) if isinstance(inner.of, ast.Call) else None
    if inner.name == "sum" and exponential is not None and exponential.name == "exp" and _has_dim(inner):
        rest = ", ".join(text(analysis, part) for part in inner.rest)
        arguments = f"{text(analysis, exponential.of)}, {rest}"
        fixes = _rewritten(analysis, outer.node, "torch.logsumexp", arguments)
        return "log(sum(exp(x)))", "torch.logsumexp(x, dim)", fixes
    return None


def _of_one_plus(analysis: Analysis, node: ast.Call, inner: ast.BinOp) -> tuple[str, str, Iterator[Candidate]] | None:
    match inner.op:
        case ast.Add() if _is_one(inner.left) or _is_one(inner.right):
            other = inner.right if _is_one(inner.left) else inner.left
            return "log(1 + x)", "torch.log1p(x)", _rewritten(analysis, node, "torch.log1p", text(analysis, other))
        case ast.Sub() if _is_one(inner.left):
            negated = f"-{operand(analysis, inner.right)}"
            return "log(1 - x)", "torch.log1p(-x)", _rewritten(analysis, node, "torch.log1p", negated)
    return None


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 1


def _has_dim(applied: _Applied) -> bool:
    """logsumexp wants dimensions; over all of them sum takes none, or None."""
    for part in applied.rest:
        value = part.value if isinstance(part, ast.keyword) else part
        if isinstance(part, ast.keyword) and part.arg in ("dtype", "axis"):
            return False
        if not isinstance(part, ast.keyword) or part.arg == "dim":
            return not is_literal(value, None)
    return False


def _arguments(analysis: Analysis, inner: _Applied) -> str:
    return ", ".join(text(analysis, part) for part in (inner.of, *inner.rest))


def _rewritten(analysis: Analysis, node: ast.expr, function: str, arguments: str) -> Iterator[Candidate]:
    name, imported = written(analysis, function)
    yield replaced(analysis, node, f"{name}({arguments})", imported)


def _of_variables(analysis: Analysis, reported: set[Span], applied: dict[ast.Call, _Applied]) -> Iterator[Finding]:
    """The logarithm of a tensor that was made by softmax or sigmoid somewhere else."""
    for operation in analysis.trace.operations:
        if operation.target not in ("torch.log", "Tensor.log") or operation.site.span in reported:
            continue
        value = as_kind(operation.given(0, "input"), Tensor)
        if value is None:
            continue
        kinds = sorted(value.tags & _LOGARITHMS.keys())
        if kinds and operation.site.span.path == analysis.source.path:
            reported.add(operation.site.span)
            words = message("unstable", old=f"log({kinds[0]}(x))", new=f"{_LOGARITHMS[kinds[0]]}(x)")
            yield Finding(operation.site.span, words, (), _from_scores(analysis, operation, value, applied))


def _from_scores(
    analysis: Analysis, operation: Operation, value: Tensor, applied: dict[ast.Call, _Applied]
) -> Iterator[Candidate]:
    """The stable function of what the softmax of the same function was computed from, where that is a variable still."""
    origin, index = value.origin, analysis.index(analysis.source.path)
    if origin is None or origin.site.scene != operation.site.scene:
        return
    made, node = as_kind(index.same(origin.site.node), ast.Call), as_kind(index.same(operation.site.node), ast.Call)
    if made is None or node is None or made.lineno >= node.lineno:
        return
    inner = applied.get(made)
    if inner is None or inner.name not in _LOGARITHMS or not isinstance(inner.of, ast.Name):
        return
    name = inner.of.id
    stored = (part for part in index.of_type(ast.Name) if part.id == name and stores(part))
    if not any(made.lineno <= part.lineno <= node.lineno for part in stored):
        yield from _rewritten(analysis, node, _LOGARITHMS[inner.name], _arguments(analysis, inner))


RULE = Rule(FAULTS[CODE], find)

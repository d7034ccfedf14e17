"""straight-through-reversed: a straight-through estimator that gives the soft value, and its gradient to the hard one.

What it finds
    `q + (z - q).detach()`, where `q` was made by rounding, by a sign, by argmax and one_hot, or looked up by the index of the nearest
    code, and `z` was not.
Why it hurts
    The sum is `z`, so that nothing is quantised, and its gradient goes to `q`: to the codes, or nowhere. What comes before `z`
    does not learn from the loss behind it. Nothing is raised.
Example
    q = torch.round(z)
    q = q + (z - q).detach()
Use instead
    q = torch.round(z)
    q = z + (q - z).detach()
Fix safety
    Unsafe: the values change, as they were meant to.
References
    Bengio et al. 2013, "Estimating or Propagating Gradients Through Stochastic Neurons"; van den Oord et al. 2017, VQ-VAE
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import (
    called,
    is_attribute,
    is_binary,
    is_method_call,
    is_name,
    is_reference,
    nodes_in,
    plain_name,
    returned_by,
    targets_of,
)

CODE = "TS417"
_HARD = frozenset("round round_ sign sgn floor ceil heaviside one_hot bernoulli hardshrink".split())
"""Functions whose results have no gradient worth the name."""
_NEAREST = frozenset("argmin argmax topk".split())
_DEPTH = 4


@dataclass(frozen=True)
class _Scope:
    """A function, and the class that it is a method of."""

    function: ast.FunctionDef
    owner: ast.ClassDef | None

    def given(self, name: str, before: int) -> ast.expr | None:
        """What a name was given last in front of a line."""
        found = [
            node
            for node in nodes_in(self.function, ast.Assign, ast.AnnAssign)
            if node.lineno < before and node.value is not None and any(is_name(one, name) for one in targets_of(node))
        ]
        return max(found, key=lambda node: node.lineno).value if found else None

    def is_hard(self, node: ast.expr | None, before: int, depth: int = _DEPTH) -> bool:
        """Whether an expression is a step function of what it is computed from, or an entry that an index chooses."""
        if node is None or not depth:
            return False
        if isinstance(node, ast.Name):
            return self.is_hard(self.given(node.id, before), before, depth - 1)
        if not isinstance(node, ast.Call | ast.Subscript):
            return False
        if isinstance(node, ast.Call) and called(node) in _HARD:
            return True
        chosen = [*node.args] if isinstance(node, ast.Call) else [node.slice]
        if any(self.is_index(one, before, depth) for one in chosen):
            return True
        inner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        return self.is_hard(inner, before, depth)  # ``self.codebook(codes).view_as(z)``

    def is_index(self, node: ast.expr, before: int, depth: int) -> bool:
        """Whether an expression is the number of the nearest, or the likeliest, of several."""
        if not depth:
            return False
        if isinstance(node, ast.Name):
            made = self.given(node.id, before)
            return made is not None and self.is_index(made, before, depth - 1)
        if not isinstance(node, ast.Call):
            return False
        if called(node) in _NEAREST:
            return True
        if isinstance(node.func, ast.Attribute) and is_name(node.func.value, "self") and self.owner is not None:
            methods = [one for one in of_kind(self.owner.body, ast.FunctionDef) if one.name == node.func.attr]
            return any(
                _Scope(method, self.owner).is_index(part, 1 << 30, depth - 1)
                for method in methods
                for part in returned_by(method)
            )
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        return isinstance(inner, ast.Call) and self.is_index(inner, before, depth)  # ``d.argmin(1).view(-1)``


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    trees = analysis.index(source.path)
    for node in trees.of_type(ast.BinOp):
        pair = _estimator(node)
        around = (
            [part for part in trees.trail(node) if isinstance(part, ast.FunctionDef | ast.ClassDef)] if pair else []
        )
        function = next((part for part in reversed(around) if isinstance(part, ast.FunctionDef)), None)
        if pair is None or function is None:
            continue
        owner = next((part for part in reversed(around) if isinstance(part, ast.ClassDef)), None)
        scope, (hard, soft) = _Scope(function, owner), pair
        if scope.is_hard(hard, node.lineno) and not scope.is_hard(soft, node.lineno):
            first, second = source.segment(hard), source.segment(soft)
            text = message("through.reversed", hard=first, soft=second)
            fix = replacement(source, node, f"{second} + ({first} - {second}).detach()")
            yield Finding(source.span(node), text, (), (fix,))


def _estimator(node: ast.BinOp) -> tuple[ast.Name, ast.expr] | None:
    """Of ``a + (b - a).detach()``, `a` and `b`."""
    if not is_binary(node, ast.Add):
        return None
    for first, other in ((node.left, node.right), (node.right, node.left)):
        cut = (
            other.func.value
            if is_method_call(other, "detach")
            else other.value
            if is_attribute(other, "data")
            else None
        )
        difference = as_kind(cut, ast.BinOp)
        if difference is not None and is_binary(difference, ast.Sub) and isinstance(first, ast.Name):
            if is_name(difference.right, first.id) and is_reference(difference.left) and plain_name(difference.left):
                return first, difference.left
    return None


RULE = Rule(FAULTS[CODE], find)

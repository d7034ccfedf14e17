"""result-not-used: a forward() computes something and leaves it.

What it finds
    A sum or a product as a statement of its own in a forward(), and a call there of a dropout or an activation of the module
    whose result nothing takes.
Why it hurts
    The line has no effect: the residual is not added, nothing is dropped. Nothing is raised.
Example
    x = torch.relu(self.fc(x))
    self.drop(x)
    return self.head(x)
Use instead
    x = torch.relu(self.fc(x))
    x = self.drop(x)
    return self.head(x)
Fix safety
    Unsafe: the result gets the name of what it is computed from.
References
    torch.nn.Dropout
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import assigned_pairs, called, given_to, is_literal, nodes_in

CODE = "TS560"
_PURE = frozenset(
    "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout ReLU LeakyReLU ELU GELU SiLU Mish Tanh Sigmoid Softmax LogSoftmax "
    "Softplus Flatten LayerNorm".split()
)
"""Modules that do nothing but compute their result, where they do not work in place."""
_HOOKS = "register_forward_hook"


def find(analysis: Analysis) -> Iterator[Finding]:
    if _HOOKS in analysis.source.text:
        return
    for owner in analysis.index(analysis.source.path).of_type(ast.ClassDef):
        pairs = [pair for part in nodes_in(owner, ast.Assign) for pair in assigned_pairs(part)]
        pure = {ast.unparse(target) for target, made in pairs if _is_pure(made)}
        for method in of_kind(owner.body, ast.FunctionDef):
            for statement in nodes_in(method, ast.Expr) if method.name == "forward" else ():
                value = statement.value
                call = isinstance(value, ast.Call) and ast.unparse(value.func) in pure
                if call or (isinstance(value, ast.BinOp) and not isinstance(value.op, ast.LShift | ast.RShift)):
                    yield _finding(analysis, value)


def _is_pure(made: ast.expr) -> bool:
    """Whether a module is made that does not work in place."""
    given = given_to(made)
    return called(made) in _PURE and not any(is_literal(part, True) for part in given)


def _finding(analysis: Analysis, value: ast.expr) -> Finding:
    source = analysis.source
    parts = (
        value.args[:1]
        if isinstance(value, ast.Call)
        else [value.right, value.left]
        if isinstance(value, ast.BinOp)
        else []
    )
    named = first_of(parts, ast.Name)
    text = source.segment(value)
    fixes = []
    if named is not None:
        new = f"{source.segment(named)} = {text}"
        fixes = [Candidate(message("fix.replace", old=text, new=new), (edits.replace(source, value, new),), safe=False)]
    return Finding(source.span(value), message("result.left", text=" ".join(text.split())), (), fixes)


RULE = Rule(FAULTS[CODE], find)

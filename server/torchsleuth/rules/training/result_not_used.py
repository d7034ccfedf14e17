"""result-not-used: a forward() computes something and leaves it.

What it finds
    A sum or a product as a statement of its own in a forward(), and a call there of a dropout or an activation of the module
    whose result nothing takes. In a loop over parameters, a method that has a form with an underscore, and is called without it:
    `p.data.clamp(-c, c)`. `accelerator.prepare()` and `skip_first_batches()` as statements of their own.
Why it hurts
    The line has no effect: the residual is not added, nothing is dropped, no weight is clipped. Nothing is raised. What was given
    to the accelerator is used as it was before: steps are not left out, batches not moved or skipped.
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
from torchsleuth.interp.library.accelerate import ACCELERATOR
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    given_to,
    is_attribute,
    is_literal,
    is_method_call,
    nodes_in,
    plain_name,
    stored_in,
)
from torchsleuth.values import is_module

CODE = "TS560"
_PURE = frozenset(
    "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout ReLU LeakyReLU ELU GELU SiLU Mish Tanh Sigmoid Softmax LogSoftmax "
    "Softplus Flatten LayerNorm".split()
)
"""Modules that do nothing but compute their result, where they do not work in place."""
_HOOKS = "register_forward_hook"
_SKIPS = "skip_first_batches"
_HANDS_BACK = ("prepare", "prepare_optimizer", "prepare_scheduler", "prepare_data_loader", _SKIPS)
"""Methods of an accelerator whose results are what works as was asked for."""
_LISTING = ("parameters", "named_parameters")
_WRITTEN = frozenset("clamp clamp_min clamp_max clip add sub mul div lerp addcmul addcdiv masked_fill".split())
"""Methods of tensors that have a form with an underscore, which writes into the tensor."""


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _of_parameters(analysis)
    yield from _of_accelerator(analysis)
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


def _of_parameters(analysis: Analysis) -> Iterator[Finding]:
    """``p.data.clamp(-c, c)`` in a loop over parameters."""
    source = analysis.source
    for loop in analysis.index(source.path).of_type(ast.For):
        if not any(is_method_call(part, *_LISTING) for part in nodes_in(loop.iter, ast.Call)):
            continue
        names = stored_in(loop.target)
        for statement in nodes_in(loop, ast.Expr):
            call = statement.value
            if not is_method_call(call, *_WRITTEN):
                continue
            base = call.func.value
            while is_attribute(base, "data", "grad"):
                base = base.value
            if plain_name(base) in names:
                name, text = call.func.attr, source.segment(call)
                edit = edits.insert(source, source.end_of(call.func), "_")
                fix = Candidate(message("fix.replace", old=name, new=f"{name}_"), (edit,))
                told = message("result.of_parameter", text=f"`{' '.join(text.split())}`", name=f"{name}_()")
                yield Finding(source.span(call), told, (), (fix,))


def _of_accelerator(analysis: Analysis) -> Iterator[Finding]:
    """``accelerator.prepare(model, optimizer)``, whose results stand for what it is given."""
    for call in analysis.calls_at_places(*(f"{ACCELERATOR}.{name}" for name in _HANDS_BACK)):
        statement, node, source = statement_of(analysis, call.site), call.site.call, call.site.source
        given = [part for part in call.args if not is_module(part)]
        if not isinstance(statement, ast.Expr) or statement.value is not node or node is None or not given:
            continue
        names = [source.segment(part) for part in node.args if isinstance(part, ast.Name)]
        skips = call.name == _SKIPS
        fixes = []
        if names and (len(names) == len(node.args) or skips and isinstance(node.args[0], ast.Name)):
            new = f"{', '.join(names[:1] if skips else names)} = {source.segment(node)}"
            fixes = [replacement(source, node, new, safe=not skips)]
        text = message("result.of_accelerator", name=call.name)
        yield Finding(call.site.span, text, (), fixes)


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

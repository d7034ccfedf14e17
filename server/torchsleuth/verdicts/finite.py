"""The first loss that is not finite: where the number was made that is none, and of what."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from torchsleuth.messages import message
from torchsleuth.syntax.forms import last_word, names_in, nodes_in, plain_name, returned_by, targets_of
from torchsleuth.training import Bad, Place, Range, Variables
from torchsleuth.verdicts.computed import check_of_loss
from torchsleuth.verdicts.evidence import TOO_LARGE, Evidence, Finding
from torchsleuth.verdicts.text import function_around, place_of, statements

SEVERAL = 20
_FUNCTIONS = {
    "LogBackward0": "log",
    "SqrtBackward0": "sqrt",
    "RsqrtBackward0": "rsqrt",
    "DivBackward0": "a division",
    "PowBackward0": "a power",
    "ExpBackward0": "exp",
    "AcosBackward0": "acos",
}


LEFT_OUT = 0.5
"""Of the batches that went through a network, those that led to a step."""


def findings(evidence: Evidence) -> Iterator[Finding]:
    yield from _left_out(evidence)
    yield from _bad(evidence)


def _left_out(evidence: Evidence) -> Iterator[Finding]:
    """Most batches have a loss that is not finite, and the script leaves them out."""
    left, training = evidence.training.left, evidence.training
    check = check_of_loss(evidence, left.loss_place) if left is not None else None
    if left is None or check is None or training.bad is not None or training.scale.count:
        return
    called = max((site.grad for one in training.modules if one.optimized for site in one.sites), default=0)
    count = called if training.steps else sum(one.batches for one in training.loaders)
    if not training.optimizers or count < SEVERAL or training.backwards > LEFT_OUT * count:
        return
    values = {"kept": training.backwards, "count": count, "value": left.value, "line": check.line}
    text, born = message("run.batches_left", **values), _born(evidence, left)
    if born is not None:
        text = message("run.batches_left.said", text=text, said=born[1])
    yield Finding("TS961", born[0] if born is not None else left.place or check, text, mild=True)


def _bad(evidence: Evidence) -> Iterator[Finding]:
    bad = evidence.training.bad
    courses = [course for course in evidence.courses if course.bad]
    if bad is None and not courses:
        return
    course = courses[0] if courses else None
    step = bad.step if bad is not None else course.first_bad if course is not None else 1
    place = bad.place if bad is not None and bad.place is not None else evidence.loss_place
    name = _FUNCTIONS.get(bad.function or "") if bad is not None else None
    values: dict[str, Any] = {"value": bad.value if bad is not None else "nan", "step": step or 1}
    born = _born(evidence, bad)
    if born is not None:
        place, said = born
        text = message("run.born", said=said, **values)
    elif bad is not None and bad.where == "parameter" and name:
        text = message("run.steep", function=name, name=bad.name or "a parameter", **values)
    elif bad is not None and bad.where == "parameter":
        text = message("run.bad_parameter", name=bad.name or "a parameter", **values)
    elif bad is not None and bad.where == "input":
        text = message("run.bad_input", **values)
    elif name:
        text = message("run.bad_operation", function=name, **values)
    else:
        text = message("run.bad", **values)
    thrown = any(one.update >= TOO_LARGE for one in evidence.steps if one.number < values["step"])
    exact = born is not None or bad is not None and bad.place is not None and (name is not None or bad.where == "input")
    yield Finding("TS920", place, text, rank=28 if not exact else 23 if thrown else 19)


def _born(evidence: Evidence, bad: Bad | None) -> tuple[Place, str] | None:
    """The assignment that made the first numbers that are not finite out of finite ones, where autograd did not follow; and what
    is said of it."""
    for near in bad.near if bad is not None else ():
        tree = evidence.tree(near.path)
        for statement in statements(function_around(tree, near.line) or tree):
            value = getattr(statement, "value", None)
            if not isinstance(statement, ast.Assign | ast.AnnAssign) or value is None or statement.lineno > near.line:
                continue
            made = [name for one in targets_of(statement) if (name := plain_name(one)) in near.tensors]
            operands = names_in(value) & near.tensors.keys()
            spoilt = [name for name in made if near.tensors[name].bad]
            if spoilt and operands and not any(near.tensors[name].bad for name in operands):
                return place_of(near.path, value), _reason(value, near) or message("run.born.plain", name=spoilt[0])
    return _born_in_call(evidence, bad)


def _born_in_call(evidence: Evidence, bad: Bad | None) -> tuple[Place, str] | None:
    """The result of a function of the file, called in the line of a loss, that is not finite for the finite numbers it is given:
    ``F.mse_loss(net(x), encode(y))``."""
    for near in bad.near[:1] if bad is not None else ():
        tree = evidence.tree(near.path)
        calls = [node for node in nodes_in(tree, ast.Call) if node.lineno <= near.line <= (node.end_lineno or 0)]
        for call in calls:
            functions = [one for one in nodes_in(tree, ast.FunctionDef) if one.name == last_word(call.func)]
            names = [part.arg for part in functions[0].args.args if part.arg != "self"] if len(functions) == 1 else []
            tensors = {
                name: near.tensors[known]
                for name, given in zip(names, call.args)
                if (known := plain_name(given)) in near.tensors and not near.tensors[known].bad
            }
            for value in returned_by(functions[0]) if tensors else ():
                said = _reason(value, replace(near, tensors=tensors))
                if said is not None:
                    return place_of(near.path, value), said
    return None


_OUTSIDE: dict[str, Callable[[float, float], bool]] = {
    "sqrt": lambda low, high: low < 0,
    "rsqrt": lambda low, high: low <= 0,
    "log": lambda low, high: low <= 0,
    "log2": lambda low, high: low <= 0,
    "log10": lambda low, high: low <= 0,
    "log1p": lambda low, high: low <= -1,
    "reciprocal": lambda low, high: low <= 0 <= high,
    "exp": lambda low, high: high > 88,
    "acos": lambda low, high: low < -1 or high > 1,
    "asin": lambda low, high: low < -1 or high > 1,
}
"""Whether a function gives something for numbers in a range that is not finite."""


def _reason(value: ast.expr, near: Variables) -> str | None:
    """What in an expression gives no finite number for the variables that it is made of."""
    for node in ast.walk(value):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            operand, function = node.right, "/"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            operand, function = node.func.value, node.func.attr
            if plain_name(operand) not in near.tensors and node.args:
                operand = node.args[0]
        else:
            continue
        name = plain_name(operand)
        found = _said(name, function, near.tensors[name]) if name in near.tensors else None
        if found is not None:
            return found
    return None


def _said(name: str, function: str, one: Range) -> str | None:
    if function in ("std", "var") and one.elements == 1:
        return message("run.born.single", name=name, function=function)
    if one.low is None or one.high is None:
        return None
    if function == "/" and one.low <= 0 <= one.high:
        return message("run.born.zero", name=name)
    if function in _OUTSIDE and _OUTSIDE[function](one.low, one.high):
        return message("run.born.range", name=name, function=function, low=one.low, high=one.high)
    return None

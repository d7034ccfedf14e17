"""inplace-on-saved: an in-place change of a value that backward() needs.

What it finds
    `x += …`, `x[…] = …`, `x.add_(…)`, inplace=True, or an optimizer step, between the operator that keeps a value for
    its gradient (sigmoid, exp and relu keep their result; products, norms and layers keep their input) and backward().
Why it hurts
    backward() raises "one of the variables needed for gradient computation has been modified by an inplace
    operation", and does not say by which.
Example
    gate = torch.sigmoid(self.gate(x))
    gate *= mask
Use instead
    gate = torch.sigmoid(self.gate(x))
    gate = gate * mask
Fix safety
    Safe: the out-of-place form computes the same values in new memory.
References
    torch.autograd, "In-place correctness checks"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import (
    at_backward,
    carried_names,
    constructor_of,
    faults,
    retained,
    text_of,
)
from torchsleuth.rules.evidence.loops import blocks_of, is_alone, is_simple, receiver_text, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, moved_after
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import given_to, is_assignment, is_method_call, is_primary, is_reference, nodes_in
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.values.graph import AutogradFault

CODE = "TS403"
_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&",
}  # fmt: skip


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "modified"):
        node = fault.node
        if node is None or fault.cause is None:
            continue
        behind = at_backward(fault)
        if behind is not fault and retained(behind) is not None and carried_names(analysis, behind):
            continue  # TS408
        needs = {"operator": node.operator, "line": node.site.span.start.line}
        change = f"`{text_of(fault.at)}`"
        places = (
            node.site.span.related(message("grad.saved.here", operator=node.operator)),
            fault.cause.span.related(message("grad.backward")),
        )
        if is_method_call(fault.at.node, "step"):
            text, repairs = message("grad.saved.step", change=change, **needs), _step_later(analysis, fault)
        else:
            text, repairs = message("grad.saved", change=change, **needs), _kept_apart(analysis, fault)
        yield Finding(fault.at.span, text, places, repairs)


def _step_later(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """The loss computed after the optimizer's step, or the step after the backward() that needs the old weights."""
    path = fault.at.span.path
    yield from _loss_later(analysis, fault)
    step = as_kind(statement_of(analysis, fault.at), ast.Expr)
    backward = statement_of(analysis, fault.cause) if fault.cause is not None else None
    if step is not None and backward is not None and fault.cause and fault.cause.span.path == path:
        source = analysis.source_of(path)
        if step.lineno == step.end_lineno and step.lineno < backward.lineno and is_simple(step, analysis, path):
            yield moved_after(source, step, backward, safe=False)


def _loss_later(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """``loss = …`` moved behind the step that changes the weights."""
    source, step = fault.at.source, statement_of(analysis, fault.at)
    name = receiver_text(fault.cause) if fault.cause is not None else None
    block = next((block for block in blocks_of(analysis.tree(fault.at.span.path)) if step in block), [])
    before = block[: block.index(step)] if step in block else []
    given = [part for part in of_kind(before, ast.Assign) if _names(part.targets[0], ast.Store) == {name}]
    if step is None or name is None or len(given) != 1 or not is_alone(given[0], analysis, fault.at.span.path):
        return
    between = before[before.index(given[0]) + 1 :]
    if not any(name in _names(part, ast.Load) for part in between):
        yield moved_after(source, given[0], step, safe=False)


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {part.id for part in nodes_in(node, ast.Name) if isinstance(part.ctx, context)}


def _kept_apart(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """The change out of place, or else a copy for the operator that needs the old values."""
    yield from _out_of_place(analysis, fault)
    assert fault.node is not None
    node, source = fault.node.site.node, fault.node.site.source
    operands = (
        node.args if isinstance(node, ast.Call) else [node.left, node.right] if isinstance(node, ast.BinOp) else []
    )
    for operand in operands:
        if is_primary(operand):
            title = message("fix.replace", old=source.segment(operand), new=f"{source.segment(operand)}.clone()")
            yield Candidate(title, (edits.insert_after_node(source, operand, ".clone()"),))


def _out_of_place(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    site = fault.at
    source = site.source
    node, statement = site.call, statement_of(analysis, site)
    if isinstance(statement, ast.AugAssign) and type(statement.op) in _OPERATORS:
        target, value = source.segment(statement.target), source.segment(statement.value)
        if not isinstance(statement.value, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript):
            value = f"({value})"
        if is_reference(statement.target):
            text = f"{target} = {target} {_OPERATORS[type(statement.op)]} {value}"
            yield Candidate(message("fix.out_of_place", text=text), (edits.replace(source, statement, text),))
        elif is_simple(statement, analysis, site.span.path):
            yield from _clone(analysis, statement.target, statement, site.span.path)
    elif is_method_call(node) and is_in_place(node.func.attr):
        receiver, method = source.segment(node.func.value), node.func.attr.rstrip("_")
        start = len(source.segment(node.func)) - len(node.func.attr)
        text = f"{source.segment(node)[:start]}{method}{source.segment(node)[len(source.segment(node.func)) :]}"
        if isinstance(statement, ast.Expr) and is_reference(node.func.value):
            text = f"{receiver} = {text}"
        yield Candidate(message("fix.out_of_place", text=text), (edits.replace(source, node, text),))
    elif node is not None:
        constructor = constructor_of(analysis, fault)
        for owner, call in ((source, node), *constructor):
            index = next((n for n, keyword in enumerate(call.keywords) if keyword.arg == "inplace"), None)
            flag = next((part for part in of_kind(call.args, ast.Constant) if part.value is True), None)
            if index is None and flag is not None:
                yield Candidate(message("fix.replace", old="True", new="False"), (edits.replace(owner, flag, "False"),))
            if index is not None:
                parts: list[ast.expr] = given_to(call)
                keyword = call.keywords[index]
                title = message("fix.remove", text="inplace=True")
                yield Candidate(title, (edits.remove_keyword(owner, call, keyword),) if parts else ())
    elif is_assignment(statement):
        yield from _clone(analysis, statement.targets[0], statement, site.span.path)


def _clone(analysis: Analysis, target: ast.expr, statement: ast.stmt, path: str) -> Iterator[Candidate]:
    """``x = x.clone()`` before ``x[…] = …``."""
    while isinstance(target, ast.Subscript):
        target = target.value
    if is_reference(target) and is_simple(statement, analysis, path):
        source = analysis.source_of(path)
        text = f"{source.segment(target)} = {source.segment(target)}.clone()"
        yield Candidate(message("fix.insert", text=text), (edits.insert_line_before(source, statement, text),))


RULE = Rule(FAULTS[CODE], find)

"""grad-of-input-missing: `.grad` of a tensor that never gets one.

What it finds
    `x.grad` used as a tensor, where x does not require grad, was computed and retain_grad() was not called, or no
    backward() has run yet, or none since zero_grad(); and torch.autograd.grad(output, x), where x does not require grad or
    the output was not computed from it.
Why it hurts
    `.grad` is None, whatever backward() does: "'NoneType' object has no attribute 'sign'".
Example
    loss = criterion(model(image), label)
    loss.backward()
    adversarial = image + 0.03 * image.grad.sign()
Use instead
    image.requires_grad_()
    loss = criterion(model(image), label)
    loss.backward()
    adversarial = image + 0.03 * image.grad.sign()
Fix safety
    Safe: without it the line fails. Weights of a training loop by hand are changed in place instead.
References
    torch.Tensor.grad, torch.Tensor.retain_grad
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import faults, in_place_step, name_of
from torchsleuth.rules.evidence.loops import is_alone, is_simple, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_display, is_place, loads, nodes_in, stores
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.values import Tensor
from torchsleuth.values.graph import AutogradFault

CODE = "TS411"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "grad_early"):
        source, node = fault.at.source, fault.at.node
        if isinstance(node, ast.Attribute) and _is_used(analysis, node, fault.at.span.path):
            key = "grad.missing.cleared" if fault.text == "cleared" else "grad.missing.early"
            text = message(key, grad=f"`{source.segment(node)}`")
            yield Finding(fault.at.span, text, (), _where_there_is_one(analysis, fault))
    for fault in faults(analysis, "grad_missing", "not_used"):
        source, node = fault.at.source, fault.at.node
        match node:
            case ast.Call():
                wanted, key = _input(node, fault.position), "grad.missing.input"
            case ast.Attribute() if _is_used(analysis, node, fault.at.span.path):
                wanted, key = node.value, "grad.missing"
            case _:
                continue
        if fault.tensor.spec.requires_grad:
            key = "grad.not_used" if isinstance(node, ast.Call) else "grad.missing.computed"
        name = source.segment(wanted)
        words = {"tensor": f"`{name}`", "grad": f"`{name}.grad`", "output": name_of(fault)}
        step = _step_by_hand(analysis, fault, name)
        if step is not None:
            text = message("grad.missing.rebound", line=step.lineno, **words)
            yield Finding(fault.at.span, text, (), _in_place(analysis, fault, step))
            continue
        yield Finding(fault.at.span, message(key, **words), (), _required(analysis, fault, wanted))


def _where_there_is_one(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """``if x.grad is not None:`` around a statement that does something to it."""
    path, statement = fault.at.span.path, as_kind(statement_of(analysis, fault.at), ast.Expr)
    if fault.text == "cleared" or statement is None or not is_alone(statement, analysis, path):
        return
    source = analysis.source_of(path)
    header = f"if {source.segment(fault.at.node)} is not None:"
    yield Candidate(message("fix.wrap", text=header), edits.wrap(source, statement, header))


def _step_by_hand(analysis: Analysis, fault: AutogradFault, name: str) -> ast.Assign | None:
    """``w = w - rate * w.grad``, which has made w a computed tensor in the iteration before."""
    statement, tensor = as_kind(statement_of(analysis, fault.at), ast.Assign), as_kind(fault.tensor, Tensor)
    source = fault.at.source
    if statement is None or tensor is None or tensor.origin is None:
        return None
    mine = in_place_step(source, statement) is not None and source.segment(statement.targets[0]) == name
    return statement if mine and tensor.origin.site.span == source.span(statement.value) else None


def _in_place(analysis: Analysis, fault: AutogradFault, step: ast.Assign) -> Iterator[Candidate]:
    """The same step in place, where autograd does not record; with gradients let go that nothing else clears."""
    path = fault.at.span.path
    source = analysis.source_of(path)
    text, indent = in_place_step(source, step), edits.indentation(source, step.lineno)
    if text is None or not is_alone(step, analysis, path):
        return
    name = source.segment(step.targets[0])
    lines = ["with torch.no_grad():", f"{indent}    {text}"]
    if not _clears(analysis.tree(path), source, name):
        lines.append(f"{indent}{name}.grad = None")
    edit = edits.replace(source, step, edits.line_ending(source).join(lines))
    yield Candidate(message("fix.in_place", text=text), (edit,))


def _clears(tree: ast.AST, source: SourceText, name: str) -> bool:
    """Whether ``w.grad`` is set, or has a method called."""
    grads = {
        part.value if loads(part) else part
        for part in nodes_in(tree, ast.Attribute)
        if (is_in_place(part.attr) or stores(part))
    }
    return any(source.segment(part).startswith(f"{name}.grad") for part in grads)


def _input(call: ast.Call, position: int) -> ast.expr:
    """The input of ``torch.autograd.grad(output, inputs)`` at a position, as it is written."""
    named = (keyword.value for keyword in call.keywords if keyword.arg == "inputs")
    given = call.args[1] if len(call.args) > 1 else next(named, call)
    return given.elts[position] if is_display(given) else given


def _is_used(analysis: Analysis, node: ast.Attribute, path: str) -> bool:
    """Whether None fails where the value stands: it is looked into, or computed with."""
    tree = analysis.index(path)
    parent = tree.parents.get(tree.same(node) or node)
    return isinstance(parent, ast.Attribute | ast.Subscript | ast.BinOp | ast.UnaryOp | ast.AugAssign)


def _required(analysis: Analysis, fault: AutogradFault, wanted: ast.expr) -> Iterator[Candidate]:
    """Ask for the gradient, in front of the first statement of the same block that uses the tensor after it was made."""
    path = fault.at.span.path
    source, tree = analysis.source_of(path), analysis.tree(path)
    statement = statement_of(analysis, fault.at)
    call = fault.at.call
    if fault.kind == "not_used" and call is not None and not is_display(_input(call, 0)) and not is_place(wanted):
        title = message("fix.add_argument", argument="materialize_grads=True")
        yield Candidate(title, (edits.add_argument(source, call, "materialize_grads=True"),), safe=False)
    if statement is None or not is_place(wanted):
        return
    name = source.segment(wanted)
    leaf = fault.tensor.spec.requires_grad is False or fault.kind == "not_used"
    text = f"{name}.requires_grad_()" if leaf else f"{name}.retain_grad()"
    trail = of_kind(edits.path_to(tree, statement), ast.stmt, ast.Module)
    for block in reversed(trail[:-1]):
        body: list[ast.stmt] = getattr(block, "body", [])
        before = [part for part in body if part.lineno < statement.lineno]
        made = max((index for index, part in enumerate(before) if _uses(source, part, name, ast.Store)), default=-1)
        first = next((part for part in before[made + 1 :] if _uses(source, part, name, ast.Load)), None)
        if first is not None and is_simple(first, analysis, path):
            edit = edits.insert_line_before(source, first, text)
            yield Candidate(message("fix.insert", text=text), (edit,))
    if fault.at.call is not None and is_simple(statement, analysis, path):
        # The output is computed in the same statement.
        yield Candidate(message("fix.insert", text=text), (edits.insert_line_before(source, statement, text),))


def _uses(source: SourceText, statement: ast.stmt, name: str, context: type[ast.expr_context]) -> bool:
    return any(
        is_place(part) and isinstance(part.ctx, context) and source.segment(part) == name
        for part in ast.walk(statement)
    )


RULE = Rule(FAULTS[CODE], find, of_absence=True)

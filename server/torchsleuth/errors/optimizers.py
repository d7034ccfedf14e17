"""Repairs of what optimizers, their schedules and scalers are told: groups that share parameters, states of another model,
steps of descent that are written by hand."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder, files_of
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.provenance import made_from
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Position, Related
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_assignment, is_attribute, is_display, is_method_call, is_name, nodes_in

_OPTIMIZERS = frozenset(
    "SGD Adam AdamW Adamax NAdam RAdam SparseAdam RMSprop Rprop Adagrad Adadelta ASGD LBFGS Muon Adafactor".split()
)


def updates_by_hand(case: Case) -> list[ast.Assign]:
    """The statements ``w = w - …`` of the tensor whose gradient is missing at the failing line, and those beside them."""
    tensor = _of_gradient(case)
    if tensor is None:
        return []
    first = next((node for node in ast.walk(case.frame.tree) if _updated(case.frame, node) == tensor), None)
    for node in ast.walk(case.frame.tree) if first is not None else ():
        for block in of_kind((getattr(node, "body", None), getattr(node, "orelse", None)), list):
            if first in block:
                return _neighbours(case.frame, block, block.index(first))
    return []


def _of_gradient(case: Case) -> str | None:
    """``w`` of the ``w.grad`` that is None at the failing line."""
    node = case.frame.node or case.frame.statement
    for part in ast.walk(node) if node is not None else ():
        if is_attribute(part, "grad"):
            return case.frame.text(part.value)
    return None


def _updated(frame: CrashFrame, node: ast.AST) -> str | None:
    """``w`` of ``w = w - …``"""
    if not is_assignment(node) or not isinstance(node.value, ast.BinOp):
        return None
    target = frame.text(node.targets[0])
    same = isinstance(node.value.op, ast.Sub | ast.Add) and frame.text(node.value.left) == target
    return target if same else None


def _neighbours(frame: CrashFrame, block: list[ast.stmt], index: int) -> list[ast.Assign]:
    """The updates in a block without another statement between them and the one at the index."""
    first, last = index, index
    while first > 0 and _updated(frame, block[first - 1]) is not None:
        first -= 1
    while last + 1 < len(block) and _updated(frame, block[last + 1]) is not None:
        last += 1
    return of_kind(block[first : last + 1], ast.Assign)


def rebound(case: Case) -> list[Related]:
    text = message("error.rebound.here")
    spans = [case.frame.source.span(node) for node in updates_by_hand(case)]
    return [Related(span.path, span.start, span.end, text) for span in spans]


def updated_in_place(case: Case) -> Iterator[Fix]:
    """``w = w - lr * w.grad`` → ``w -= lr * w.grad`` under no_grad, and the gradient forgotten if nothing else does that."""
    updates, source = updates_by_hand(case), case.frame.source
    if not updates:
        return
    first, last = updates[0], updates[-1]
    indent, end = edits.indentation(source, first.lineno), edits.line_ending(source)
    inside = _is_under_no_grad(case.frame, first)
    lines = [] if inside else [f"{indent}with torch.no_grad():"]
    for node in updates:
        assert isinstance(node.value, ast.BinOp)
        target = case.frame.text(node.targets[0])
        sign = "-" if isinstance(node.value.op, ast.Sub) else "+"
        deeper = indent if inside else f"{indent}    "
        lines.append(f"{deeper}{target} {sign}= {case.frame.text(node.value.right)}")
        if not re.search(r"\.grad(\.zero_\(| = None)|\.zero_grad\(", source.text):
            lines.append(f"{deeper}{target}.grad = None")
    start, after = Position(first.lineno, 1), Position((last.end_lineno or last.lineno) + 1, 1)
    text = "".join(line + end for line in lines)
    yield Fix(message("fix.update_in_place"), (Edit(source.path, start, after, text),), safe=False)


def _is_under_no_grad(frame: CrashFrame, statement: ast.stmt) -> bool:
    around = of_kind(edits.path_to(frame.tree, statement), ast.With)
    return any("no_grad" in frame.text(item.context_expr) for node in around for item in node.items)


def _left_out(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """Parameters that are in two groups, left out of the first."""
    node = case.frame.call
    if node is None or not node.args:
        return
    if called(node) == "add_param_group":
        yield from _left_out_at_first(case, _parameters(node.args[0]))
    elif is_display(node.args[0]):
        groups = [given for item in node.args[0].elts if (given := _parameters(item)) is not None]
        if len(groups) > 1:
            first, others = groups[0], ", ".join(f"*{case.frame.text(item)}" for item in groups[1:])
            text = f"[p for p in {case.frame.text(first)} if all(p is not q for q in [{others}])]"
            yield replace(case.frame, first, text, safe=False)


def _parameters(group: ast.expr) -> ast.expr | None:
    """The value of ``params`` in a group."""
    if isinstance(group, ast.Dict):
        for key, value in zip(group.keys, group.values):
            if getattr(key, "value", None) == "params":
                return value
    return None


def _left_out_at_first(case: Case, added: ast.expr | None) -> Iterator[Fix]:
    """A group that is added later: the optimizer gets only what requires grad at first, or what is not in the group."""
    for frame, call in optimizers_of(case):
        given = call.args[0] if call.args else None
        if given is None or not frame.text(given).endswith("parameters()"):
            continue
        text = frame.text(given)
        if "requires_grad" in frame.source.text:
            yield replace(frame, given, f"[p for p in {text} if p.requires_grad]", safe=False)
        if added is not None:
            taken = case.frame.text(added)
            yield replace(frame, given, f"[p for p in {text} if all(p is not q for q in {taken})]", safe=False)


def _taken_twice(case: Case) -> list[tuple[CrashFrame, ast.ListComp, ast.expr]]:
    """The lists of the first groups that go through a whole model, of which a part is added later: with that part, as it is written."""
    call = case.frame.call
    added = _parameters(call.args[0]) if called(call) == "add_param_group" and call is not None and call.args else None
    if added is None:
        return []
    root = re.split(r"[.\[(]", case.frame.text(added))[0]
    found: dict[int, tuple[CrashFrame, ast.ListComp, ast.expr]] = {}
    for frame, made in optimizers_of(case):
        for file, node in made_from(case, frame, made.args[0]) if made.args else ():
            if isinstance(node, ast.ListComp) and re.match(
                rf"{re.escape(root)}\.(?:named_)?(?:modules|parameters)\(", file.text(node.generators[0].iter)
            ):
                found[id(node)] = (file, node, added)
    return list(found.values())[:2]


def _taken_twice_here(case: Case) -> Iterator[Related]:
    for file, node, added in _taken_twice(case):
        span = file.source.span(node)
        text = message("error.taken_twice", added=case.frame.source.on_one_line(added)[:60])
        yield Related(span.path, span.start, span.end, text)


def _only_others(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``[p for m in net.modules() for p in m.parameters()]`` → ``… if all(p is not q for q in net.body.parameters())]``"""
    for file, node, added in _taken_twice(case):
        if isinstance(node.elt, ast.Name):
            text = f" if all({node.elt.id} is not part for part in {case.frame.text(added)})"
            edit = edits.insert_after_node(file.source, _last_of(node), text)
            yield Fix(message("fix.leave_out", added=case.frame.source.on_one_line(added)[:60]), (edit,), safe=False)


def _last_of(node: ast.ListComp) -> ast.expr:
    last = node.generators[-1]
    return last.ifs[-1] if last.ifs else last.iter


def _first_groups_here(case: Case) -> Iterator[Related]:
    """The optimizer that a group is added to later, which has got these parameters before."""
    for frame, call in optimizers_of(case) if called(case.frame.call) == "add_param_group" else ():
        span = frame.source.span(call)
        yield Related(span.path, span.start, span.end, message("error.first_groups"))


def optimizers_of(case: Case) -> Iterator[tuple[CrashFrame, ast.Call]]:
    """The calls in the files that were running that make an optimizer of PyTorch's."""
    for frame in files_of(case):
        for node in frame.all(ast.Call):
            if called(node) in _OPTIMIZERS:
                yield frame, node


def _started_at(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``initial_lr`` for the groups of an optimizer that a schedule is to resume with."""
    optimizer, statement = case.frame.argument(0, "optimizer"), case.frame.statement
    if optimizer is None or statement is None:
        return
    source = case.frame.source
    header = f"for group in {case.frame.text(optimizer)}.param_groups:"
    body = f'{edits.indentation(source, statement.lineno)}    group.setdefault("initial_lr", group["lr"])'
    text = f"{header}{edits.line_ending(source)}{body}"
    yield Fix(message("fix.initial_lr"), (edits.insert_line_before(source, statement, text),), safe=False)


def _without_statement(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """A call that is made for what it does, and is one too many, or does not fit."""
    statement, source = as_kind(case.frame.statement, ast.Expr), case.frame.source
    if statement is None or statement.value is not case.frame.node:
        return
    text = case.frame.source.on_one_line(statement)[:60]
    title = message("fix.remove_line", text=text, line=statement.lineno)
    around = edits.path_to(case.frame.tree, statement)[-2]
    alone = any(block == [statement] for block in (getattr(around, "body", 0), getattr(around, "orelse", 0)))
    whole = Edit(source.path, Position(statement.lineno, 1), Position((statement.end_lineno or 0) + 1, 1), "")
    yield Fix(title, (edits.replace(source, statement, "pass") if alone else whole,), safe=False)


def _built_alike(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``Net(False)`` → ``Net(True)``, where the state is that of another model of the class."""
    node = case.frame.node
    if not is_method_call(node):
        return
    model = _value_of(case.frame, node.func.value)
    if model is not None and called(model) in _OPTIMIZERS and model.args:
        first = model.args[0]
        owner = first.func.value if is_method_call(first) else None
        model = _value_of(case.frame, owner)
    if model is None or not isinstance(model.func, ast.Name):
        return
    texts = {case.frame.text(model)}
    for frame in files_of(case):
        for other in frame.all(ast.Call):
            if called(other) == model.func.id and frame.text(other) not in texts:
                texts.add(frame.text(other))
                if all_are((*other.args, *other.keywords), ast.Constant, ast.keyword):
                    yield replace(case.frame, model, frame.text(other), safe=False)


def _value_of(frame: CrashFrame, node: ast.AST | None) -> ast.Call | None:
    """The call that gave a variable its value, the last one above the failing line."""
    if not isinstance(node, ast.Name):
        return None
    bound = [
        part
        for part in nodes_in(frame.enclosing, ast.Assign)
        if part.lineno < frame.line and any(is_name(target, node.id) for target in part.targets)
    ]
    value = max(bound, key=lambda part: part.lineno).value if bound else None
    return as_kind(value, ast.Call)


def _stepped(case: Case) -> list[tuple[CrashFrame, ast.stmt]]:
    """The statements in front of backward() that call a function of the user's in which an optimizer steps."""
    frame = case.frame
    block = next((part for part in _blocks(frame.enclosing) if frame.statement in part), [])
    earlier = block[: block.index(frame.statement)] if frame.statement in block else []
    functions = {
        function.name
        for file in case.files
        for function in file.all(ast.FunctionDef)
        if any(is_method_call(node, "step") and "opt" in file.text(node.func) for node in nodes_in(function, ast.Call))
    }
    return [
        (frame, statement)
        for statement in earlier
        if any(called(node) in functions for node in nodes_in(statement, ast.Call))
    ]


def _blocks(scope: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(scope):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _stepped_here(case: Case) -> Iterator[Related]:
    for frame, statement in _stepped(case)[:1] if is_method_call(case.frame.node, "backward") else ():
        span = frame.source.span(statement)
        yield Related(span.path, span.start, span.end, message("error.stepped_before"))


_IN_PLACE = r"has been modified by an inplace operation"
_TWICE = r"some parameters appear in more than one parameter group"

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (_TWICE, _only_others),
    (_TWICE, _left_out),
    (r"param 'initial_lr' is not specified", _started_at),
    (r"unscale_\(\) has already been called", _without_statement),
    (r"loaded state dict (?:contains|has)|size mismatch for|key\(s\) in state_dict", _built_alike),
    (r"loaded state dict (?:contains|has)", _without_statement),
)
PLACES = ((_TWICE, _taken_twice_here), (_TWICE, _first_groups_here), (_IN_PLACE, _stepped_here))

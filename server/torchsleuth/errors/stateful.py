"""Tensors that outlive the call that made them: a memory that is written in place after it was read, a result that a model keeps with
its graph and is copied with, values that were made under inference mode and are trained on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import Filled, Function, note
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    contains,
    is_dotted,
    is_method_call,
    is_name,
    last_word,
    loads,
    names_in,
    nodes_in,
)

MAX_SHOWN = 2
"""Places that are shown of one kind."""
_CUTS = ("detach", "item", "tolist", "numpy", "cpu")


def _written_in_place(case: Case) -> list[tuple[CrashFrame, ast.Assign | ast.AugAssign, ast.Subscript]]:
    """The writes into a part of a tensor that the loss was computed from, in the functions that compute it."""
    node = case.frame.node
    receiver = node.func.value if is_method_call(node, "backward") else case.frame.argument(0, "loss")
    found = []
    for file, part in made_from(case, case.frame, receiver) if receiver is not None else ():
        statement = edits.enclosing_statement(file.tree, part)
        if not isinstance(statement, ast.Assign | ast.AugAssign) or statement.value is not part:
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        written = isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name | ast.Attribute)
        if written and isinstance(target, ast.Subscript) and contains(part, ast.Name):
            if not _without_gradients(file, statement) and _computes_loss(case, file, statement):
                found.append((file, statement, target))
    return found[:MAX_SHOWN]


def _computes_loss(case: Case, file: CrashFrame, statement: ast.stmt) -> bool:
    """Whether a statement stands in a model, or in the failing function, and not where samples are made."""
    trail = edits.path_to(file.tree, statement)
    kinds = [part for part in trail if isinstance(part, ast.ClassDef)]
    return _is_model(kinds[-1]) if kinds else case.frame.enclosing in trail


def _is_model(kind: ast.ClassDef) -> bool:
    methods = {part.name for part in kind.body if isinstance(part, ast.FunctionDef)}
    return "forward" in methods or any(last_word(base).endswith("Module") for base in kind.bases)


def _without_gradients(file: CrashFrame, node: ast.AST) -> bool:
    trail = edits.path_to(file.tree, node)
    headers = [item.context_expr for part in trail if isinstance(part, ast.With) for item in part.items]
    headers += [item for part in trail if isinstance(part, Function) for item in part.decorator_list]
    return any(re.search(r"no_grad|inference_mode", file.text(item)) for item in headers)


def _writes_here(case: Case) -> Iterator[Related]:
    for file, statement, target in _written_in_place(case):
        yield note(file.source, statement, "error.written_in_place", name=file.text(target.value))


def _into_copy(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``memory[:, slot] = new`` → with ``memory = memory.clone()`` in front: what was read before stays as it was. Where only the value
    itself reads it, as in ``out[t + 1] = gate * out[t]``, that reads a copy."""
    for file, statement, target in _written_in_place(case):
        name, source = file.text(target.value), file.source
        reads = [part for part in nodes_in(statement.value, ast.Subscript) if file.text(part.value) == name]
        whole = [part for part in ast.walk(statement.value) if isinstance(part, ast.expr) and file.text(part) == name]
        if not whole:
            line = f"{name} = {name}.clone()"
            edit = edits.insert_line_before(source, statement, line)
            yield Fix(message("fix.insert", text=line), (edit,), safe=False)
        elif len(whole) == len(reads):
            changes = tuple(edits.insert_after_node(source, part, ".clone()") for part in reads)
            title = message("fix.append", expression=source.on_one_line(reads[0])[:60], suffix=".clone()")
            yield Fix(title, changes, safe=False)


def kept_results(case: Case) -> list[tuple[CrashFrame, ast.FunctionDef, ast.stmt, ast.expr]]:
    """The statements with which the models of the script keep what a call computes, with its graph, and that value."""
    given = case.frame.argument(0, "x")
    if (case.frame.value(given) or {}).get("kind") != "module":
        return []
    found = []
    for file in case.files:
        for kind in file.all(ast.ClassDef):
            methods = [part for part in kind.body if isinstance(part, ast.FunctionDef)]
            for method in methods if _is_model(kind) else ():
                for node, value in _keeps(method):
                    cut = any(is_method_call(part, *_CUTS) for part in ast.walk(value))
                    if not cut and not _without_gradients(file, node) and _computes(file, method, value):
                        found.append((file, method, node, value))
    return found if len(found) <= MAX_SHOWN else []


def _keeps(method: ast.FunctionDef) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """``self.seen = value``, ``self.seen[name] = value``, ``self.seen.append(value)``"""
    for node in ast.walk(method) if method.name != "__init__" else ():
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if is_dotted(target.value if isinstance(target, ast.Subscript) else target, "self"):
                yield node, node.value
        elif isinstance(node, ast.Expr) and is_method_call(node.value, "append") and len(node.value.args) == 1:
            if is_dotted(node.value.func.value, "self"):
                yield node, node.value.args[0]


def _computes(file: CrashFrame, method: ast.FunctionDef, value: ast.expr) -> bool:
    """Whether a value may have a graph: what is computed from others, and not made out of nothing; a name by what it is bound to."""
    if isinstance(value, ast.Name):
        bindings = [
            node.value
            for node in nodes_in(method, ast.Assign)
            if any(is_name(target, value.id) for target in node.targets)
        ]
        return any(not isinstance(made, ast.Name) and _computes(file, method, made) for made in bindings)
    if re.match(r"(?:torch\.)?(?:zeros|ones|empty|full|arange|tensor)\b", file.text(value)):
        return False
    return contains(value, ast.Call, ast.BinOp) and bool(names_in(value) - {"torch", "nn", "F"})


def _pruned_here(case: Case) -> Iterator[Related]:
    """Where a layer is pruned, which keeps a weight from then on that is computed from the whole one and a mask."""
    pruned = [
        (file, node)
        for file in case.files
        for node in file.all(ast.Call)
        if re.match(r"(?:[\w.]+\.)?prune\.(?:\w+_(?:un)?structured|identity|custom_from_mask)", file.text(node.func))
    ]
    for file, node in pruned[:MAX_SHOWN]:
        yield note(file.source, node, "error.pruned_here")


def _kept_here(case: Case) -> Iterator[Related]:
    for file, _, node, _ in kept_results(case):
        yield note(file.source, node, "error.kept_with_graph", name=_holder(file, node))


def _holder(file: CrashFrame, node: ast.stmt) -> str:
    """The attribute or the list that keeps the value, as it is written: ``self.seen``."""
    value = getattr(node, "value", None)
    place = node.targets[0] if isinstance(node, ast.Assign) else value.func.value if is_method_call(value) else None
    return file.text(place.value if isinstance(place, ast.Subscript) else place) if place is not None else ""


def _kept_detached(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``self.seen = self.body(x)`` → ``seen = self.body(x)`` and ``self.seen = seen.detach()``; what goes on in that method reads
    the first one."""
    for file, method, node, value in kept_results(case):
        source, target = file.source, node.targets[0] if isinstance(node, ast.Assign) else None
        text = source.segment(value)
        reads = [
            part
            for part in nodes_in(method, ast.Attribute)
            if isinstance(target, ast.Attribute) and part.attr == target.attr and is_name(part.value, "self")
            if loads(part) and part.lineno > node.lineno
        ]
        name = target.attr.strip("_") if isinstance(target, ast.Attribute) else ""
        title = message("fix.kept_detached", name=_holder(file, node))
        if not reads:
            atom = isinstance(value, ast.Call | ast.Name | ast.Attribute | ast.Subscript)
            changes = [edits.replace(source, value, f"{text if atom else f'({text})'}.detach()")]
            yield Fix(title, tuple(changes), safe=False)
        elif name not in names_in(method) | {part.arg for part in nodes_in(method, ast.arg)}:
            lines = f"{name} = {text}{edits.next_line(source, node.lineno)}self.{target.attr} = {name}.detach()"  # type: ignore[union-attr]
            changes = [edits.replace(source, node, lines), *(edits.replace(source, part, name) for part in reads)]
            yield Fix(title, tuple(changes), safe=False)


def _inference_places(case: Case) -> list[tuple[CrashFrame, ast.AST, ast.expr]]:
    """Where the user's files switch inference mode on: the block or function, and what switches it."""
    found: list[tuple[CrashFrame, ast.AST, ast.expr]] = []
    for file in case.files:
        for node in nodes_in(file.tree, ast.With, ast.FunctionDef):
            headers = [item.context_expr for item in node.items] if isinstance(node, ast.With) else node.decorator_list
            for header in headers:
                if last_word(header.func if isinstance(header, ast.Call) else header) == "inference_mode":
                    found.append((file, node, header))
    return found


def _inference_here(case: Case) -> Iterator[Related]:
    for file, header in _made_in_inference(case):
        yield note(file.source, header, "error.inference_here")


def _made_in_inference(case: Case) -> list[Filled]:
    """Where inference mode is on for what the operands were made from; the only place, where none of them leads to one."""
    places = _inference_places(case)
    reached = []
    for operand in case.frame.operands() if places else ():
        for file, part in made_from(case, case.frame, operand):
            trail = edits.path_to(file.tree, part)
            reached += [(place, header) for place, block, header in places if place is file and block in trail]
    if not reached and len(places) == 1:
        reached = [(places[0][0], places[0][2])]
    return list(dict.fromkeys(reached))[:MAX_SHOWN]


def _no_grad_instead(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.inference_mode()`` → ``torch.no_grad()``, where such tensors may be saved for backward()."""
    for file, header in _made_in_inference(case):
        function = header.func if isinstance(header, ast.Call) else header
        if isinstance(function, ast.Attribute):
            yield replace(file, function, f"{file.text(function.value)}.no_grad")


_IN_PLACE = r"has been modified by an inplace operation"
_COPIED = r"support the deepcopy"
_INFERENCE = r"Inference tensors cannot be saved for backward|requires_grad=True on inference tensor"

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (_IN_PLACE, _into_copy),
    (_COPIED, _kept_detached),
    (_INFERENCE, _no_grad_instead),
)
PLACES = (
    (_IN_PLACE, _writes_here),
    (_COPIED, _kept_here),
    (_COPIED, _pruned_here),
    (_INFERENCE, _inference_here),
)

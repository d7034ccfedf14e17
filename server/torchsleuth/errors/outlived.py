"""Graphs and tensors that backward() meets later than they were meant for: values computed before a loop and used in each of its passes,
states that are cut off their graph in part, tensors that a call overwrites between being read and backward()."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import append_in
from torchsleuth.errors.provenance import defined, made_from
from torchsleuth.errors.reached import Filled, around, note
from torchsleuth.errors.recorded import is_without
from torchsleuth.errors.sent_back import has_graph
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    contains,
    is_attribute,
    is_display,
    is_method_call,
    is_reference,
    last_word,
    nodes_in,
    parts_of_tuple,
    plain_name,
    stands_on,
    stored_in,
    targets_of,
)

MAX_SHOWN = 2
"""Places that are shown of one kind."""


def _loss(case: Case) -> list[Filled]:
    """The expressions that the loss was computed from whose backward() failed, itself first."""
    node = case.frame.node
    receiver = node.func.value if is_method_call(node, "backward") else case.frame.argument(0, "loss")
    return made_from(case, case.frame, receiver) if receiver is not None else []


# computed before a loop


def _of_earlier_passes(case: Case) -> list[Filled]:
    """What was put into a list, with its graph, before the loop around backward(), each of whose passes uses it."""
    frame = case.frame
    loops = [loop for loop in nodes_in(frame.enclosing, ast.For, ast.While) if stands_on(loop, frame.line)]
    if not loops:
        return []
    inner = max(loops, key=lambda loop: loop.lineno)
    own = stored_in(inner)
    used = [
        part
        for file, part in _loss(case)
        if file.path == frame.path and isinstance(part, ast.Name) and part.id not in own and _is_in(inner, part)
    ]
    found: dict[int, Filled] = {}
    for name in used:
        for file, part in made_from(case, frame, name):
            if _is_put(file, part) and not _is_in(inner, part) and has_graph(case, file, part):
                found.setdefault(id(part), (file, part))
    return list(found.values())[:MAX_SHOWN]


def _is_put(file: CrashFrame, node: ast.expr) -> bool:
    """Whether a value is what ``append`` puts into something, where gradients are recorded."""
    trail = edits.path_to(file.tree, node)
    parent = trail[-2] if len(trail) > 1 else None
    if any(is_without(file, part) for part in trail):
        return False
    return is_method_call(parent, "append", "put") and node in parent.args


def _is_in(block: ast.AST, node: ast.AST) -> bool:
    return block.lineno <= node.lineno <= (block.end_lineno or 0)  # type: ignore[attr-defined, no-any-return]


def _put_here(case: Case) -> Iterator[Related]:
    for file, value in _of_earlier_passes(case):
        yield note(file.source, value, "error.put_with_graph")


def _put_detached(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``logps.append(policy.log_prob(a))`` → ``logps.append(policy.log_prob(a).detach())``"""
    for file, value in _of_earlier_passes(case):
        yield append_in(file.source, value, ".detach()")


# cut off in part


def _left_with_graph(case: Case) -> list[Filled]:
    """The parts that are left with their graph, where the others of the same whole are cut off it: ``c`` of ``return h.detach(), c``."""
    found: dict[int, Filled] = {}
    for file, part in _loss(case):
        parts = parts_of_tuple(part) if is_display(part) else []
        cut = [item for item in parts if _cut(item) is not None]
        for item in parts if cut else ():
            if is_reference(item) or isinstance(item, ast.Subscript):
                if any(_of_one_whole(file, item, other) for other in map(_cut, cut) if other is not None):
                    found.setdefault(id(item), (file, item))
    return list(found.values())[:MAX_SHOWN]


def _cut(node: ast.expr) -> ast.expr | None:
    """``h`` of ``h.detach()`` and of ``h.data``"""
    if is_method_call(node, "detach"):
        return node.func.value
    return node.value if is_attribute(node, "data") else None


def _of_one_whole(file: CrashFrame, one: ast.expr, other: ast.expr) -> bool:
    """Whether two expressions are parts of the same value: ``state[0]`` and ``state[1]``, or names that were taken out of it at once."""
    if isinstance(one, ast.Subscript) and isinstance(other, ast.Subscript):
        return file.text(one.value) == file.text(other.value)
    names = {plain_name(one), plain_name(other)}
    scope = around(file.tree, one)
    return any(
        names <= {plain_name(part) for part in parts_of_tuple(target)}
        for statement in nodes_in(scope, ast.Assign)
        for target in statement.targets
        if None not in names and isinstance(target, ast.Tuple)
    )


def _left_here(case: Case) -> Iterator[Related]:
    for file, value in _left_with_graph(case):
        yield note(file.source, value, "error.cut_in_part", name=file.text(value))


def _cut_too(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``return h.detach(), c`` → ``return h.detach(), c.detach()``"""
    for file, value in _left_with_graph(case):
        yield append_in(file.source, value, ".detach()")


# overwritten before backward()


def _overwritten(case: Case) -> list[tuple[ast.stmt, CrashFrame, ast.AST, str]]:
    """The statements in front of backward(), beside it, that overwrite a tensor which the loss was computed from, without recording
    it; where that is written, and its name."""
    block, place = _block(case)
    read = {last_word(part) for _, part in _loss(case) if is_reference(part)} - {"", "self"}
    found: list[tuple[ast.stmt, CrashFrame, ast.AST, str]] = []
    for statement in block[:place]:
        for file, scope in _written_by(case, statement):
            for node, target in _writes(scope):
                if is_reference(target) and last_word(target) in read:
                    found.append((statement, file, node, file.text(target)))
    return found[:MAX_SHOWN]


def _block(case: Case) -> tuple[list[ast.stmt], int]:
    """The statements that the failing one stands among, and its place there."""
    failing = case.frame.statement
    for node in ast.walk(case.frame.enclosing):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and failing in body:
                return body, body.index(failing)
    return [], 0


def _written_by(case: Case, statement: ast.stmt) -> Iterator[tuple[CrashFrame, ast.AST]]:
    """What a statement executes without gradients: its own block, or the function of the user's that it only calls."""
    if isinstance(statement, ast.With) and is_without(case.frame, statement):
        yield case.frame, statement
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        for file, function in defined(case, called(statement.value)):
            blocks = [part for part in nodes_in(function, ast.With) if is_without(file, part)]
            yield from ((file, part) for part in ([function] if is_without(file, function) else blocks))


def _writes(scope: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What is written in place, and where: ``bank[c] = mean``, ``bank *= 0.9``, ``bank.mul_(0.9)``"""
    for call in nodes_in(scope, ast.Call):
        if is_method_call(call) and re.fullmatch(r"[a-z]\w*[a-z0-9]_", call.func.attr):
            yield call, call.func.value
    for node in nodes_in(scope, ast.Assign, ast.AugAssign):
        for target in targets_of(node):
            if isinstance(target, ast.Subscript):
                yield node, target.value
            elif isinstance(node, ast.AugAssign):
                yield node, target


def _overwritten_here(case: Case) -> Iterator[Related]:
    for statement, file, node, name in _overwritten(case):
        yield note(case.frame.source, statement, "error.overwritten_before", name=name)
        yield note(file.source, node, "error.overwritten_here", name=name)


def _moved_behind(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``memory.refresh(x)`` in front of ``loss.backward()`` → behind it, where nothing in between needs what it changes."""
    block, place = _block(case)
    for statement in dict.fromkeys(item[0] for item in _overwritten(case)):
        changes = edits.relocate(case.frame.source, [statement], block[place])
        if changes and not contains(statement, ast.NamedExpr):
            text = case.frame.source.on_one_line(statement)[:60]
            yield Fix(message("fix.move_after", text=text, line=block[place].lineno), changes, safe=False)


_AGAIN = r"backward through the graph a second time"
_IN_PLACE = r"has been modified by an inplace operation"

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (_AGAIN, _cut_too),
    (_AGAIN, _put_detached),
    (_IN_PLACE, _moved_behind),
)
PLACES = ((_AGAIN, _left_here), (_AGAIN, _put_here), (_IN_PLACE, _overwritten_here))

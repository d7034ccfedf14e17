"""Forward hooks that give something back, which takes the place of the layer's output, where they were only to look at it; and hooks
that stay when they are registered again."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import Function, around, note
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    is_literal,
    is_method_call,
    last_word,
    names_in,
    nodes_in,
    plain_name,
)

_REGISTERED = ("register_forward_hook", "register_forward_pre_hook")
_GIVES_BACK = ("setdefault", "pop")
_KEEPS = (*_GIVES_BACK, "append", "add", "update", "extend")
_NUMBERS = (
    "mean",
    "std",
    "var",
    "norm",
    "sum",
    "max",
    "min",
    "item",
    "tolist",
    "numpy",
    "abs",
    "amax",
    "amin",
    "size",
    "shape",
)
"""What a hook that looks at an output computes of it."""
_Returned = tuple[CrashFrame, "ast.Lambda | ast.FunctionDef", ast.expr]
"""A hook, with what it gives back."""


def _hooks(case: Case) -> Iterator[tuple[CrashFrame, ast.Lambda | ast.FunctionDef]]:
    """The functions that are registered as forward hooks: lambdas, functions, methods, and what functions make."""
    for file in case.files:
        for call in file.all(ast.Call):
            given = call.args[0] if called(call) in _REGISTERED and call.args else None
            if isinstance(given, ast.Lambda):
                yield from _of_lambda(case, file, given)
            elif given is not None and not isinstance(given, ast.Call):
                yield from _functions(case, last_word(given))
            elif called(given) == "partial" and isinstance(given, ast.Call) and given.args:
                yield from _functions(case, last_word(given.args[0]))
            else:
                for place, maker in _functions(case, called(given)):
                    for made in nodes_in(maker, ast.Return):
                        if isinstance(made.value, ast.Lambda):
                            yield from _of_lambda(case, place, made.value)
                        inner = [part for part in nodes_in(maker, ast.FunctionDef) if part is not maker]
                        yield from ((place, part) for part in inner if part.name == plain_name(made.value))


def _of_lambda(
    case: Case, file: CrashFrame, hook: ast.Lambda
) -> Iterator[tuple[CrashFrame, ast.Lambda | ast.FunctionDef]]:
    """A lambda, and the function of the user's that it gives the result of: ``lambda m, i, out: self.record(name, out)``."""
    yield file, hook
    if isinstance(hook.body, ast.Call):
        yield from _functions(case, called(hook.body))


def _functions(case: Case, name: str) -> list[tuple[CrashFrame, ast.FunctionDef]]:
    found = [(file, node) for file in case.files for node in file.all(ast.FunctionDef) if name and node.name == name]
    return found if len(found) == 1 else []


def _replacing(case: Case) -> list[_Returned]:
    """The values that hooks give back and that was not meant to take the output's place: what they also keep, or have made numbers of."""
    if case.crash["type"] not in ("RuntimeError", "TypeError", "ValueError", "IndexError", "AttributeError"):
        return []
    found: dict[int, _Returned] = {}
    for file, hook in _hooks(case):
        for value in [hook.body] if isinstance(hook, ast.Lambda) else _own_returns(hook):
            if _is_by_the_way(hook, value):
                found.setdefault(id(value), (file, hook, value))
    return list(found.values())


def _own_returns(hook: ast.FunctionDef) -> list[ast.expr]:
    functions = [node for node in ast.walk(hook) if isinstance(node, Function | ast.Lambda) and node is not hook]
    inner = {id(part) for node in functions for part in ast.walk(node)}
    return [
        node.value
        for node in nodes_in(hook, ast.Return)
        if node.value is not None and id(node) not in inner and not isinstance(node.value, ast.Constant)
    ]


def _is_by_the_way(hook: ast.Lambda | ast.FunctionDef, value: ast.expr) -> bool:
    given = [part.arg for part in hook.args.args]
    if is_method_call(value, *_GIVES_BACK):
        return any(set(given) & names_in(part) for part in value.args)
    if isinstance(hook, ast.Lambda):
        return called(value) in ("print", "item", "tolist")
    pairs = [pair for node in nodes_in(hook, ast.Assign) for pair in assigned_pairs(node)]
    made = [part for target, part in pairs if _text(target) == _text(value)] or [value]
    stored = [part for target, part in pairs if not isinstance(target, ast.Name)]
    stored += [part for node in nodes_in(hook, ast.Call) if is_method_call(node, *_KEEPS) for part in node.args]
    stored += [target for target, _ in pairs if not isinstance(target, ast.Name)]
    is_kept = plain_name(value) not in given and any(_text(part) == _text(value) for part in stored)
    return any(_is_number(part) or is_kept and _is_cut(part) for part in made)


def _text(node: ast.expr) -> str:
    return ast.unparse(node)


def _is_cut(node: ast.expr) -> bool:
    """``output.detach().cpu()``: a copy to look at."""
    return any(is_method_call(part, "detach", "numpy") for part in ast.walk(node))


def _is_number(node: ast.expr) -> bool:
    """``output.abs().mean()``, ``float(output.std())``, ``torch.stack([output.mean(), output.std()])``"""
    if is_method_call(node, *_NUMBERS):
        return not node.args and not node.keywords
    if called(node) in ("float", "int", "len", "round"):
        return True
    if called(node) in ("stack", "tensor") and isinstance(node, ast.Call) and node.args:
        return isinstance(node.args[0], ast.List) and all(_is_number(part) for part in node.args[0].elts)
    return isinstance(node, ast.Dict | ast.JoinedStr)


def _replacing_here(case: Case) -> Iterator[Related]:
    for file, _, value in _replacing(case):
        yield note(file.source, value, "error.hook_replaces")


def _only_looking(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``return stats`` is taken away; ``d.setdefault(name, out)`` → ``d.update({name: d.get(name, out)})``, which gives nothing back."""
    for file, hook, value in _replacing(case):
        if isinstance(hook, ast.Lambda):
            yield from _nothing_of(file, value)
            continue
        statement = edits.enclosing_statement(file.tree, value)
        if not isinstance(statement, ast.Return):
            continue
        if isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
            alone = any(getattr(part, "body", None) == [statement] for part in ast.walk(hook))
            if not alone and statement.lineno == statement.end_lineno:
                title = message("fix.remove_line", text=file.text(statement)[:60], line=statement.lineno)
                yield Fix(title, (edits.remove_line(file.source, statement.lineno),))
                continue
        yield replace(file, statement, file.text(value) if is_method_call(value, *_GIVES_BACK) else "return None")


def _nothing_of(file: CrashFrame, value: ast.expr) -> Iterator[Fix]:
    if is_method_call(value, "setdefault") and len(value.args) == 2:
        whole, key, kept = (file.text(part) for part in (value.func.value, *value.args))
        yield replace(file, value, f"{whole}.update({{{key}: {whole}.get({key}, {kept})}})")
    else:
        yield replace(file, value, f"({file.text(value)}, None)[1]")


_Kept = tuple[CrashFrame, ast.Call, str]
"""The call that registers a hook, and how the handle that it gives is written, if it is kept."""


def _collecting(case: Case) -> list[_Kept]:
    """The hooks that were registered once more, without the one before being removed: of two sizes that do not fit, the larger one is a
    multiple, and is made from what such a hook has collected."""
    sizes = sorted(int(size) for size in re.findall(_TWO_SIZES, case.crash["message"])[0])
    if sizes[0] < 1 or sizes[1] < 2 * sizes[0] or sizes[1] % sizes[0]:
        return []
    hooks = {id(hook): hook for _, hook in _hooks(case) if isinstance(hook, ast.FunctionDef)}
    collected = {
        id(hook)
        for operand in case.frame.operands()
        for file, node in made_from(case, case.frame, operand)
        for hook in hooks.values()
        if around(file.tree, node) is hook
    }
    if not collected:
        return []
    removed = any(
        is_method_call(call, "remove") and not call.args for file in case.files for call in file.all(ast.Call)
    )
    calls = [(file, call) for file in case.files for call in file.all(ast.Call) if called(call) in _REGISTERED]
    return [] if removed or len(calls) != 1 else [(*calls[0], _handle(*calls[0]))]


def _handle(file: CrashFrame, call: ast.Call) -> str:
    statement = edits.enclosing_statement(file.tree, call)
    return file.text(statement.targets[0]) if isinstance(statement, ast.Assign) else ""


def _dropped(file: CrashFrame, handle: str) -> list[ast.Assign]:
    """The statements that put None in the place of a handle."""
    return [
        node
        for node in file.all(ast.Assign)
        if getattr(around(file.tree, node), "name", "") != "__init__"
        for target, value in assigned_pairs(node)
        if file.text(target) == handle and is_literal(value, None)
    ]


def _collecting_here(case: Case) -> Iterator[Related]:
    for file, call, handle in _collecting(case):
        yield from (note(file.source, node, "error.hook_dropped") for node in _dropped(file, handle))
        yield note(file.source, call, "error.hook_again")


def _removed(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``self.handle = None`` → with ``self.handle.remove()`` in front of it"""
    for file, _, handle in _collecting(case):
        for node in _dropped(file, handle):
            line = f"{handle}.remove()"
            yield Fix(message("fix.insert", text=line), (edits.insert_line_before(file.source, node, line),))


_TWO_SIZES = r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)"

BUILDERS: tuple[tuple[str, Builder], ...] = ((r"", _only_looking), (_TWO_SIZES, _removed))
PLACES = ((r"", _replacing_here), (_TWO_SIZES, _collecting_here))

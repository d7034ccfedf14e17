"""Functions and classes that are defined inside of a function, which another process cannot be sent: moved to the module."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Iterator

from torchsleuth.errors.calls import files_of
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import append
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Position, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import loads, names_in, nodes_in

_LOCAL = re.compile(
    r"([\w.<>]+)\.<locals>\.(?:<(?:listcomp|dictcomp|setcomp|genexpr)>\.)*(?:<locals>\.)?(<lambda>|\w+)"
)
_Scope = ast.FunctionDef | ast.AsyncFunctionDef
_Defined = ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def defined_at(case: Case) -> list[Related]:
    """Where what cannot be sent is defined."""
    spans = [frame.source.span(node) for frame, _, node in _local(case)]
    return [Related(span.path, span.start, span.end, message("error.local_definition")) for span in spans]


def _local(case: Case) -> list[tuple[CrashFrame, list[ast.AST], _Defined]]:
    """The definitions of the name that the message tells, with the nodes around them."""
    found = _LOCAL.search(case.crash["message"])
    if found is None:
        return []
    around, name = found[1].replace(".<locals>", "").split(".")[-1], found[2]
    result = []
    for frame in files_of(case):
        for node in ast.walk(frame.tree):
            if isinstance(node, _Defined) and (getattr(node, "name", "<lambda>") == name):
                trail = edits.path_to(frame.tree, node)[:-1]
                scopes = [part for part in trail if isinstance(part, _Scope | ast.Lambda)]
                if scopes and getattr(scopes[-1], "name", "<lambda>") == around:
                    result.append((frame, trail, node))
    return result


def moved_to_module(case: Case) -> Iterator[Fix]:
    """``transform=lambda x: x / 2`` → a function ``_transform`` of the module, where nothing of the function around is used."""
    for frame, trail, node in _local(case):
        top = of_kind(trail, ast.stmt)[0]
        captured = _needs(node) & _bound_around(trail)
        if captured:
            if isinstance(node, ast.Lambda | ast.FunctionDef):
                yield from _with_captured(frame, trail, node, sorted(captured))
            continue
        source, end = frame.source, edits.line_ending(frame.source)
        decorated = getattr(top, "decorator_list", [])
        start = Position(min([top.lineno, *(item.lineno for item in decorated)]), 1)
        if isinstance(node, ast.Lambda):
            name = _free_name(frame, trail[-1])
            header = f"def {name}({_parameters(frame, node)}):"
            text = f"{header}{end}    return {source.segment(node.body)}{end}{end}{end}"
            changes = (Edit(source.path, start, start, text), edits.replace(source, node, name))
        else:
            name = node.name
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            last = node.end_lineno or node.lineno
            body = textwrap.dedent("".join(source.line(line) + end for line in range(first, last + 1)))
            if _only_statement(trail[-1], node):
                continue
            taken = Edit(source.path, Position(first, 1), Position(last + 1, 1), "")
            changes = (Edit(source.path, start, start, body + end + end), taken)
        yield Fix(message("fix.to_module", name=name), changes)


def _with_captured(
    frame: CrashFrame, trail: list[ast.AST], node: ast.Lambda | ast.FunctionDef, captured: list[str]
) -> Iterator[Fix]:
    """``lambda rows: merge(rows, scale)`` → a function of the module with a parameter ``scale``, and ``functools.partial`` of it; a
    function that is defined inside in the same way, under its name."""
    given, changed = node.args, list(nodes_in(node, ast.Nonlocal, ast.Yield))
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or changed or "self" in captured:
        return
    top, source, end = of_kind(trail, ast.stmt)[0], frame.source, edits.line_ending(frame.source)
    name = _free_name(frame, trail[-1] if isinstance(node, ast.Lambda) else node)
    header = f"def {name}({', '.join([*(part.arg for part in given.args), '*', *captured])}):"
    made = f"functools.partial({name}, {', '.join(f'{part}={part}' for part in captured)})"
    if isinstance(node, ast.Lambda):
        body = f"    return {source.segment(node.body)}"
        taken = edits.replace(source, node, made)
    elif node.decorator_list or node.name in captured or node.body[0].lineno == node.lineno:
        return
    else:
        lines = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
        body = textwrap.indent(textwrap.dedent(end.join(source.line(line) for line in lines)), "    ")
        taken = edits.replace(source, node, f"{node.name} = {made}")
    start = Position(min([top.lineno, *(item.lineno for item in getattr(top, "decorator_list", []))]), 1)
    text = f"{header}{end}{body}{end}{end}{end}"
    imported = edits.add_import(source, frame.tree, "import functools")
    changes = edits.joined([*imported, Edit(source.path, start, start, text), taken])
    yield Fix(message("fix.partial", name=name), changes)


def saved_or_moved(case: Case) -> Iterator[Fix]:
    """``torch.save(net, path)`` → ``torch.save(net.state_dict(), path)``, before what it holds is moved to the module."""
    given = case.frame.argument(0, "obj") if case.frame.method() == "save" else None
    if given is not None and (case.frame.value(given) or {}).get("kind") == "module":
        yield append(case.frame, given, ".state_dict()", safe=False)
    yield from moved_to_module(case)


def _only_statement(around: ast.AST, node: ast.AST) -> bool:
    return getattr(around, "body", None) == [node]


def _parameters(frame: CrashFrame, node: ast.Lambda) -> str:
    head = frame.text(node)[len("lambda") :]
    body = frame.text(node.body)
    return head[: head.rindex(body)].rstrip().removesuffix(":").strip() if body in head else ast.unparse(node.args)


def _free_name(frame: CrashFrame, around: ast.AST) -> str:
    """A name for a lambda: that of the argument or variable that it is given to; for a function its own."""
    target = around.targets[0] if isinstance(around, ast.Assign) else None
    known = around.name if isinstance(around, ast.FunctionDef) else getattr(target, "id", "apply")
    name = around.arg if isinstance(around, ast.keyword) and around.arg else known
    taken = names_in(frame.tree)
    name = f"_{name.strip('_')}"
    while name in taken:
        name += "_"
    return name


def _needs(node: ast.AST) -> set[str]:
    """The names that a definition reads and does not bind itself."""
    names = list(nodes_in(node, ast.Name))
    bound = {part.id for part in names if not loads(part)}
    bound |= {part.arg for part in nodes_in(node, ast.arg)}
    return {part.id for part in names} - bound - set(dir(builtins))


def _bound_around(trail: list[ast.AST]) -> set[str]:
    """The names that the functions around a definition bind."""
    found: set[str] = set()
    for scope in (part for part in trail if isinstance(part, _Scope)):
        for part in ast.walk(scope):
            match part:
                case ast.Name() if not loads(part):
                    found.add(part.id)
                case ast.arg():
                    found.add(part.arg)
                case _ if part is not scope and isinstance(part, _Scope | ast.ClassDef):
                    found.add(part.name)
                case ast.alias():
                    found.add((part.asname or part.name).split(".")[0])
    return found

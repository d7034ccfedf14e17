"""Errors of plain Python around a training: iterators that end, folders that are not there, counts of loops that never ran, options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.advice import typeless_options
from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, called, is_binary, is_function_call, is_name, nodes_in

_FIRST_WRITES = frozenset("savez savetxt savefig to_csv to_json to_pickle imwrite imsave".split())
"""Functions and methods that write to the path which is their first argument."""


# iterators


def begun_again(case: Case) -> Iterator[Fix]:
    """``batch = next(batches)`` → the same, with a new iterator where the old one has ended."""
    frame, node, statement = case.frame, case.frame.node, case.frame.statement
    given = node.args if is_function_call(node, "next") else []
    if len(given) != 1 or statement is None or isinstance(statement, ast.For | ast.While | ast.With):
        return
    name, source = frame.text(given[0]), frame.source
    for made in frame.all(ast.Assign):
        if called(made.value) == "iter" and [frame.text(target) for target in made.targets] == [name]:
            body = frame.text(statement)
            lines = ("try:", f"    {body}", "except StopIteration:", f"    {frame.text(made)}", f"    {body}")
            start = edits.next_line(source, statement.lineno)
            title = message("fix.begin_again", name=name)
            if "\n" not in body:
                yield Fix(title, (edits.replace(source, statement, start.join(lines)),), safe=False)
            return


# folders


def _with_folder(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """The folder is made in front of the statement that writes into it."""
    frame, path, statement = case.frame, _written_path(case.frame), case.frame.statement
    if path is None or statement is None:
        return
    source, text = frame.source, frame.text(path)
    observed = (frame.value(path) or {}).get("type", "")
    imports = edits.add_import(source, frame.tree, "import os")
    if is_binary(path, ast.Div):
        line, imports = f"{frame.text(path.left)}.mkdir(parents=True, exist_ok=True)", ()
    elif observed.endswith("Path"):
        line, imports = f"{text}.parent.mkdir(parents=True, exist_ok=True)", ()
    else:
        line = f"os.makedirs(os.path.dirname({text}), exist_ok=True)"
    yield Fix(message("fix.insert", text=line), (*imports, edits.insert_line_before(source, statement, line)))


def _written_path(frame: CrashFrame) -> ast.expr | None:
    """The path that the failing call writes to."""
    call, name = frame.call, frame.method()
    if call is None:
        return None
    if name == "open":
        mode = as_kind(getattr(argument_of(call, 1, "mode"), "value", "r"), str)
        return argument_of(call, 0, "file") if mode is not None and set(mode) & set("wax") else None
    if name == "save":
        return argument_of(call, 1, "f") if frame.text(call.func).startswith("torch.") else argument_of(call, 0, "file")
    return argument_of(call, 0) if name in _FIRST_WRITES else None


# counts


def _counting_loop(case: Case) -> tuple[str, ast.For] | None:
    """The divisor that is zero, and the only loop in which it is counted, by numbers that are more."""
    frame, node = case.frame, as_kind(case.frame.node, ast.BinOp)
    divisor = as_kind(node.right, ast.Name) if node is not None else None
    if divisor is None or (frame.value(divisor) or {}).get("value") not in (0, "0.0"):
        return None
    counted = [part for part in nodes_in(frame.enclosing, ast.AugAssign) if is_name(part.target, divisor.id)]
    for loop in nodes_in(frame.enclosing, ast.For):
        inside = list(nodes_in(loop, ast.AugAssign))
        if counted and all(part in inside and _is_more(part) for part in counted):
            return divisor.id, loop
    return None


def _is_more(counted: ast.AugAssign) -> bool:
    """Whether a count grows by one, by a number of samples, or by another number that is not zero."""
    value = counted.value
    number = isinstance(value, ast.Constant) and bool(value.value)
    return isinstance(counted.op, ast.Add) and (number or called(value) in ("len", "size"))


def _loop(case: Case) -> list[Related]:
    found = _counting_loop(case)
    if found is None:
        return []
    span = case.frame.source.span(found[1].iter)
    return [Related(span.path, span.start, span.end, message("error.no_round", name=found[0]))]


def _count(case: Case) -> dict[str, str]:
    found = _counting_loop(case)
    return {"name": found[0]} if found is not None else {}


# options


def _option(case: Case) -> dict[str, str]:
    text = next((case.frame.text(call.args[0]) for _, call, _ in typeless_options(case)), "")
    return {"option": text.strip("\"'")}


def _typeless_here(case: Case) -> list[Related]:
    spans = [source.span(call) for source, call, _ in typeless_options(case)]
    return [Related(span.path, span.start, span.end, message("error.typeless.here")) for span in spans[:1]]


ENTRIES = (
    ErrorEntry(
        "TS821",
        r"'(Namespace|SimpleNamespace)' object has no attribute '(\w+)'",
        "error.no_option",
        example="from argparse import Namespace\nargs = Namespace(width=3)\nargs.widht",
    ),
    ErrorEntry(
        "TS825",
        r"\bstr\b",
        "error.typeless",
        applies=lambda case: case.crash["type"] == "TypeError" and any(True for _ in typeless_options(case)),
        related=_typeless_here,
        values=_option,
    ),
    ErrorEntry(
        "TS616",
        r"division by zero|division or modulo by zero|modulo by zero",
        "error.no_rounds",
        applies=lambda case: _counting_loop(case) is not None,
        related=_loop,
        values=_count,
    ),
)
BUILDERS: tuple[tuple[str, Builder], ...] = (
    (r"Parent directory .* does not exist|No such file or directory|into a non-existent directory", _with_folder),
)

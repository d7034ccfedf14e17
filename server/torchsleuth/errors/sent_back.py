"""Tensors with their graph, which cannot be sent to another process, or given back by a function there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import append_in
from torchsleuth.errors.provenance import defined, made_from, straight
from torchsleuth.errors.reached import Filled, around, note
from torchsleuth.errors.recorded import is_without, models_of
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    given_to,
    is_method_call,
    last_word,
    nodes_in,
    parts_of_tuple,
    plain_name,
    returned_by,
)

MAX_DEPTH = 5
"""Names and functions that a value is followed through."""
_CUTS = frozenset(
    "detach item tolist numpy argmax argmin argsort long int bool round floor sign eq ne gt lt ge le float64 isnan"
    " tensor as_tensor from_numpy zeros ones rand randn randint arange full eye len str range state_dict sample".split()
)
"""Calls whose results have no graph."""
_PROCESSES = ("Process", "spawn", "start_processes")
_OF_LAYERS = ("weight", "bias", "parameters")


def _results(case: Case) -> list[tuple[CrashFrame, ast.FunctionDef | ast.AsyncFunctionDef, ast.expr]]:
    """The parts of what the function returns that the failing call hands to other processes, such as those of a dictionary."""
    call = case.frame.call
    names = [last_word(part) for part in given_to(call)]
    names += [last_word(given_to(part)[0]) for part in given_to(call) if called(part) == "partial" and given_to(part)]
    return [
        (file, function, part)
        for name in names
        if name
        for file, function in defined(case, name)
        for value in returned_by(function)
        for part in _parts(file, value)
    ]


def _parts(file: CrashFrame, value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.Dict):
        for part in value.values:
            yield from _parts(file, part)
    elif called(value) == "dict" and isinstance(value, ast.Call):
        for keyword in value.keywords:
            yield from _parts(file, keyword.value)
    elif isinstance(value, ast.Tuple | ast.List):
        for part in parts_of_tuple(value) if isinstance(value, ast.Tuple) else value.elts:
            yield from _parts(file, part)
    else:
        yield value


def _with_graph(case: Case) -> list[Filled]:
    """Those of the results that carry a graph, as the text has it; else of what a process is started with, or a queue is given."""
    found = [
        (file, part)
        for file, function, part in _results(case)
        if not is_without(file, function) and has_graph(case, file, part)
    ]
    sent = {id(part): (file, part) for file, part in _sent(case)} if not found else {}
    return found or [item for item in sent.values() if _made_with_graph(case, *item)]


def _sent(case: Case) -> Iterator[Filled]:
    """The parts of what the failing call sends: of the arguments of a process that is started, and of the lists that they are."""
    call = case.frame.call
    whole = [call.func.value] if is_method_call(call, "start") else given_to(call) if call is not None else []
    for given in whole:
        for file, node in made_from(case, case.frame, given):
            if isinstance(node, ast.Tuple | ast.List | ast.Dict):
                yield from ((file, part) for part in _parts(file, node))
            elif isinstance(node, ast.Call) and called(node) in _PROCESSES:
                yield from ((file, part) for one in given_to(node) for part in _parts(file, one))


def _made_with_graph(case: Case, file: CrashFrame, node: ast.expr) -> bool:
    """Whether a value has a graph: itself, or what it was before, on its one way through names, arguments and results."""
    if isinstance(node, ast.Call) and (called(node) in _CUTS or called(node) in ("float", "int", "bool")):
        return False
    return any(has_graph(case, *step) for step in [(file, node), *straight(case, file, node)])


def has_graph(case: Case, file: CrashFrame, node: ast.expr, depth: int = 0) -> bool:
    """Whether a value is computed from parameters, with nothing on the way that cuts it off its graph."""
    if depth > MAX_DEPTH or isinstance(node, ast.Compare | ast.Constant | ast.JoinedStr | ast.Lambda):
        return False
    match node:
        case ast.Name():
            values = [
                value
                for part in nodes_in(around(file.tree, node), ast.Assign)
                for target, value in assigned_pairs(part)
                if node.id in map(plain_name, parts_of_tuple(target)) and not _is_off(file, part)
            ]
            return any(has_graph(case, file, value, depth + 1) for value in values)
        case ast.Attribute():
            if node.attr in ("shape", "grad", "data"):
                return False
            return node.attr in _OF_LAYERS or has_graph(case, file, node.value, depth)
        case ast.Call():
            return _call_has_graph(case, file, node, depth)
        case ast.Subscript():
            return has_graph(case, file, node.value, depth)
    return any(has_graph(case, file, part, depth) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


def _call_has_graph(case: Case, file: CrashFrame, node: ast.Call, depth: int) -> bool:
    name = called(node)
    if name in _CUTS or name in ("float", "int", "bool"):
        return name == "float" and is_method_call(node) and has_graph(case, file, node.func.value, depth)
    if name in models_of(case):
        return True
    functions = defined(case, name)
    for place, function in functions:
        if not is_without(place, function):
            if any(has_graph(case, place, value, depth + 1) for value in returned_by(function)):
                return True
    owner = [node.func.value] if is_method_call(node) and not functions else []
    return any(has_graph(case, file, part, depth) for part in [*owner, *given_to(node)])


def _is_off(file: CrashFrame, node: ast.AST) -> bool:
    trail = edits.path_to(file.tree, node)
    return any(isinstance(part, ast.With) and is_without(file, part) for part in trail)


def _results_here(case: Case) -> Iterator[Related]:
    for file, value in _with_graph(case)[:3]:
        yield note(file.source, value, "error.sent_with_graph")


def _sent_detached(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``return loss`` → ``return loss.detach()``, for all of the results at once."""
    fixes = [append_in(file.source, value, ".detach()") for file, value in _with_graph(case)]
    if fixes:
        yield Fix(fixes[0].title, tuple(edit for fix in fixes for edit in fix.edits))


_SENT = r"refusing to serialize non-leaf tensor which requires_grad"


def _text(case: Case) -> str:
    """A result on its way back, or an argument on its way there."""
    back = any(has_graph(case, file, part) for file, _, part in _results(case))
    return "error.result_with_graph" if back else "error.argument_with_graph"


ENTRIES = (entry("TS199", _SENT, _text, applies=lambda case: bool(_with_graph(case))),)
BUILDERS: tuple[tuple[str, Builder], ...] = ((_SENT, _sent_detached),)
PLACES = ((_SENT, _results_here),)

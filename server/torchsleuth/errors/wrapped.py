"""States whose names begin with what a wrapper calls its module: averaged weights, replicas, compiled modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import Filled, note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.edits import path_to
from torchsleuth.syntax.forms import called, is_method_call

_WRAPPERS = {
    "AveragedModel": "module",
    "DataParallel": "module",
    "DistributedDataParallel": "module",
    "DDP": "module",
    "compile": "_orig_mod",
}
"""What wraps a module, and the attribute that holds it."""


_PREFIXES = ("module.", "_orig_mod.", "model.", "net.", "backbone.", "encoder.")


def _keys(text: str) -> set[str]:
    """The names in a message, without the counts of batch norms, which may be missing."""
    return {name for name in re.findall(r'"([^"]+)"', text) if not name.endswith("num_batches_tracked")}


def _prefix(case: Case) -> tuple[str, bool] | None:
    """The beginning that all names of the state have and those of the model have not, or the other way round."""
    missing, _, unexpected = case.crash["message"].partition("Unexpected key(s)")
    wanted, given = _keys(missing), _keys(unexpected)
    for prefix in _PREFIXES:
        if wanted and {name.removeprefix(prefix) for name in given if name.startswith(prefix)} == wanted:
            return prefix, True
        if given and {name.removeprefix(prefix) for name in wanted} == given:
            return prefix, False
    return None


def _states(case: Case) -> list[tuple[CrashFrame, ast.expr, str]]:
    """``ema.state_dict()``, where the state that is loaded was taken from a wrapper, and how its module is written."""
    given, found = case.frame.argument(0, "state_dict"), _prefix(case)
    if given is None or found is None or not found[1]:
        return []
    loaded = made_from(case, case.frame, given)
    saved = [
        item
        for file in case.files
        for call in file.all(ast.Call)
        if called(call) == "save" and call.args and any(called(node) == "load" for _, node in loaded)
        for item in made_from(case, file, call.args[0])
    ]
    return _of_wrappers(case, loaded, found[0]) or _of_wrappers(case, saved, found[0])


def _of_wrappers(case: Case, values: list[Filled], prefix: str) -> list[tuple[CrashFrame, ast.expr, str]]:
    """The calls of ``state_dict()`` among some values whose owners are wrappers that put this in front of the names."""
    states: dict[int, tuple[CrashFrame, ast.expr, str]] = {}
    for file, node in values:
        if is_method_call(node, "state_dict") and not node.args:
            owner = node.func.value
            wrapped = [(place, part) for place, part in made_from(case, file, owner) if called(part) in _WRAPPERS]
            name = _WRAPPERS[called(wrapped[0][1])] if wrapped else ""
            if wrapped and f"{name}." == prefix:
                text = file.text(owner)
                sometimes = any(
                    isinstance(part, ast.If | ast.IfExp) for part in path_to(wrapped[0][0].tree, wrapped[0][1])
                )
                inner = f'getattr({text}, "{name}", {text})' if sometimes else f"{text}.{name}"
                states.setdefault(id(owner), (file, owner, inner))
    return list(states.values())[:2]


def _wrapped_here(case: Case) -> Iterator[Related]:
    for file, owner, _ in _states(case):
        yield note(file.source, owner, "error.state_of_wrapper")


def _of_inner(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``ema.state_dict()`` → ``ema.module.state_dict()``; where the state is loaded, its names without what they begin with."""
    states, prefix, given = _states(case), _prefix(case), case.frame.argument(0, "state_dict")
    for file, owner, name in states if len(states) == 1 else ():
        yield replace(file, owner, name)
    if prefix is not None and given is not None:
        whole, (text, superfluous) = case.frame.text(given), prefix
        name = f'name.removeprefix("{text}")' if superfluous else f'"{text}" + name'
        rest = f' if name.startswith("{text}")' if superfluous else ""
        yield replace(case.frame, given, f"{{{name}: value for name, value in {whole}.items(){rest}}}", safe=False)


_STATE = r"Missing key\(s\) in state_dict"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_STATE, _of_inner),)
PLACES = ((_STATE, _wrapped_here),)

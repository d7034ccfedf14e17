"""What a framework demands of a method of the user's, which its message names: a schedule that watches a metric, and is told none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.reached import Filled, bound, note
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    by_position,
    called,
    given_to,
    is_display,
    is_method_call,
    is_text,
    literal,
    nodes_in,
    plain_name,
    returned_by,
)

_NAMED = r"[`'\"](?:\w+\.)*(\w+)(?:\(\))?[`'\"]"


def _methods(case: Case) -> list[tuple[CrashFrame, ast.FunctionDef]]:
    """The methods of the user's that the message of a library names, where none of them was running."""
    running = {frame.function for frame in case.frames}
    names = dict.fromkeys(re.findall(_NAMED, case.crash["message"]))
    path = ((case.crash["library"] or {}).get("path") or "").replace("\\", "/")
    if not re.search(r"lightning|transformers|accelerate|ignite|fastai", path):
        return []
    found = [
        (file, method)
        for file in case.files
        for kind in file.all(ast.ClassDef)
        for method in kind.body
        if isinstance(method, ast.FunctionDef) and method.name in names and method.name not in running
        if method.name not in ("forward", "__init__")
    ]
    return found if len(found) == 1 else []


def _methods_here(case: Case) -> Iterator[Related]:
    for file, method in _methods(case):
        returned = returned_by(method)
        yield note(file.source, returned[-1] if returned else method, "error.demanded", name=method.name)


def _schedules(case: Case) -> Iterator[tuple[CrashFrame, ast.expr, ast.expr]]:
    """What ``configure_optimizers`` returns, with the schedule in it that is to watch a metric."""
    for file, method in _methods(case):
        for value in returned_by(method):
            for part in _schedules_in(file, bound(file, value)):
                made = bound(file, part)
                if called(made) == "ReduceLROnPlateau":
                    yield file, value, part


def _schedules_in(file: CrashFrame, value: ast.expr) -> Iterator[ast.expr]:
    """``schedule`` of ``{"optimizer": opt, "lr_scheduler": schedule}`` and of ``[opt], [schedule]``."""
    if isinstance(value, ast.Dict):
        for key, part in zip(value.keys, value.values):
            if literal(key) == "lr_scheduler":
                inner = bound(file, part)
                yield from (item for item in [part] if not isinstance(inner, ast.Dict))
                if isinstance(inner, ast.Dict):
                    yield from (held for name, held in zip(inner.keys, inner.values) if literal(name) == "scheduler")
    elif isinstance(value, ast.Tuple) and len(value.elts) == 2 and is_display(value.elts[1]):
        yield from value.elts[1].elts


def _with_monitor(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``"lr_scheduler": plateau`` → ``"lr_scheduler": {"scheduler": plateau, "monitor": "val_loss"}``, of a metric that is logged."""
    metrics = sorted(_logged(case), key=_preference)
    for file, _, part in _schedules(case):
        for metric in metrics[:2]:
            yield replace(file, part, f'{{"scheduler": {file.text(part)}, "monitor": "{metric}"}}', safe=False)


def _preference(metric: str) -> tuple[bool, bool, str]:
    return ("val" not in metric, "loss" not in metric, metric)


def _logged(case: Case) -> set[str]:
    """The names under which metrics are logged: as they are written, and those that parameters complete."""
    found: set[str] = set()
    for file in case.files:
        for call in file.all(ast.Call):
            if is_method_call(call, "log"):
                name = argument_of(call, 0, "name")
                found |= set(_texts(case, file, name)) if name is not None else set()
            elif is_method_call(call, "log_dict") and call.args:
                made: Filled = (file, bound(file, call.args[0]))
                if isinstance(made[1], ast.Dict):
                    found |= {text for key in made[1].keys if key is not None for text in _texts(case, file, key)}
    return found


def _texts(case: Case, file: CrashFrame, node: ast.expr) -> list[str]:
    """The texts that an expression may be: ``f"{tag}_loss"`` for each ``tag`` that its function is called with."""
    if is_text(node):
        return [node.value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [one + other for one in _texts(case, file, node.left) for other in _texts(case, file, node.right)]
    if isinstance(node, ast.JoinedStr):
        texts = [""]
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            texts = [text + end for text in texts for end in _texts(case, file, inner)]
        return texts
    name = plain_name(node)
    for function in file.all(ast.FunctionDef):
        names = [part.arg for part in by_position(function.args)]
        if name in names and any(part is node for part in nodes_in(function, ast.Name)):
            position = names.index(name or "") - (names[:1] == ["self"])
            calls = [call for call in file.all(ast.Call) if called(call) == function.name]
            given = [argument_of(call, position, name or "") for call in calls if given_to(call)]
            return [part.value for part in given if is_text(part)]
    return []


def _without_step(case: Case) -> list[tuple[CrashFrame, ast.ClassDef, str]]:
    """The module of Lightning's that lacks the step which the message names."""
    found = re.search(_NO_STEP, case.crash["message"])
    kinds = [
        (file, kind, found[1])
        for file in (case.files if found is not None else ())
        for kind in file.all(ast.ClassDef)
        if found is not None
        and any(isinstance(part, ast.FunctionDef) and part.name == "training_step" for part in kind.body)
        and not any(isinstance(part, ast.FunctionDef) and part.name == found[1] for part in kind.body)
    ]
    return kinds if len(kinds) == 1 else []


def _step_here(case: Case) -> Iterator[Related]:
    for file, kind, name in _without_step(case):
        head = kind.bases[0] if kind.bases else kind
        yield note(file.source, head, "error.no_step", name=name)


def _as_validated(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``test_step`` of a module that has a ``validation_step`` does the same."""
    for file, kind, name in _without_step(case):
        step = next(
            (part for part in kind.body if isinstance(part, ast.FunctionDef) and part.name == "validation_step"), None
        )
        if step is None or name != "test_step":
            continue
        end, indent = edits.line_ending(file.source), edits.indentation(file.source, step.lineno)
        text = f"def {name}(self, batch, batch_idx):{end}{indent}    return self.validation_step(batch, batch_idx){end}"
        first = step.decorator_list[0] if step.decorator_list else step
        if first is step:
            yield Fix(
                message("fix.insert", text=f"def {name}(…)"),
                (edits.insert_line_before(file.source, step, text),),
                safe=False,
            )


_NO_STEP = r"No `(\w+_step)\(\)` method defined"
_PLATEAU = r"must include a monitor when a `ReduceLROnPlateau`"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_PLATEAU, _with_monitor), (_NO_STEP, _as_validated))
PLACES = ((_NAMED, _methods_here), (_NO_STEP, _step_here))

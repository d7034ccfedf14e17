"""monitor-not-logged: something that watches a metric of a name under which nothing is logged.

What it finds
    `EarlyStopping(monitor="val_loss")`, `ModelCheckpoint(monitor=…)` and the `"monitor"` of a schedule beside a LightningModule that
    logs under other names, all of which are written there. A ReduceLROnPlateau that steps after each epoch, and watches what only the
    validation logs, where the Trainer validates every few epochs. Names in the `filename` of a ModelCheckpoint that nothing logs, and
    `best_model_path` of one that has no `monitor`.
Why it hurts
    Lightning raises an error at the end of the first epoch: the metric is not available.
Example
    self.log("val/loss", loss)
    stopper = EarlyStopping(monitor="val_loss")
Use instead
    self.log("val/loss", loss)
    stopper = EarlyStopping(monitor="val/loss")
Fix safety
    Safe: the nearest of the names that are logged; the schedule steps as often as the validation runs.
References
    lightning.pytorch.callbacks.EarlyStopping
"""

from __future__ import annotations

import ast
import difflib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    by_position,
    called,
    is_dotted,
    is_method_call,
    is_name,
    is_text,
    keyword_of,
    literal,
    nodes_in,
    plain_name,
)
from torchsleuth.syntax.trees import Index

CODE = "TS580"
_BASE = "LightningModule"
_WATCHERS = {"EarlyStopping": 0, "ModelCheckpoint": 2}
_NAMED = "ModelCheckpoint"
_FILENAME = "filename"
"""Its parameter that names metrics, which do not have to be there."""
_FIELDS = re.compile(r"\{([^{}:!]+)")
_COUNTED = ("epoch", "step", "v")
"""Fields in the name of a checkpoint that are no metrics."""
_MANY = 24
_NEAR = 0.6
_VALIDATES = re.compile(r"validation_(?:step|epoch_end)|on_validation_\w+")


@dataclass(frozen=True)
class _Logged:
    """The names that a call logs under, as far as they are written; `pattern` matches all that are possible."""

    call: ast.Call
    names: tuple[str, ...]
    pattern: str


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    if ("monitor" not in source.text and _NAMED not in source.text) or _BASE not in source.text:
        return
    index = analysis.index(source.path)
    modules = [
        one for one in index.of_type(ast.ClassDef) if any(ast.unparse(base).endswith(_BASE) for base in one.bases)
    ]
    logged: list[_Logged] = []
    for owner in modules:
        if len(owner.bases) > 1 or any(is_method_call(part, "log_dict") for part in nodes_in(owner, ast.Call)):
            return  # what else is logged is not known
        logged += [_logged(owner, part) for part in nodes_in(owner, ast.Call) if _is_own_log(part) and part.args]
    others = [part for part in index.of_type(ast.Call) if is_method_call(part, "log", "log_dict")]
    if not logged or len(others) > len(logged):
        return
    yield from _seldom_logged(analysis, modules)
    yield from _best_of_nothing(analysis)
    for watcher, monitor in _monitors(index):
        name = str(literal(monitor))
        yield from _in_name(analysis, monitor, logged) if watcher == _FILENAME else ()
        if watcher == _FILENAME or any(
            re.fullmatch(rf"(?:{one.pattern})(?:_epoch|_step|/dataloader_idx_\d+)?", name) for one in logged
        ):
            continue
        known = list(dict.fromkeys(known for one in logged for known in one.names))
        near = difflib.get_close_matches(name, known, n=1, cutoff=_NEAR)
        fixes = [replacement(source, monitor, f'"{near[0]}"')] if near else []
        place = next((one for one in logged if near and near[0] in one.names), logged[0])
        text = message(
            "monitor.missing",
            monitor=f"`{name}`",
            logged=", ".join(f"`{one}`" for one in (near or known)[:3]),
            what=watcher,
        )
        yield Finding(source.span(monitor), text, (source.span(place.call).related(message("monitor.logged")),), fixes)


def _in_name(analysis: Analysis, template: ast.expr, logged: list[_Logged]) -> Iterator[Finding]:
    """Metrics in the name of a checkpoint, ``"{epoch}-{val_acc:.2f}"``, which is written with 0 where there is none."""
    text = str(literal(template))
    known = list(dict.fromkeys(name for one in logged for name in one.names))
    for name in _FIELDS.findall(text):
        if name in _COUNTED or any(re.fullmatch(rf"(?:{one.pattern})(?:_epoch|_step)?", name) for one in logged):
            continue
        near = difflib.get_close_matches(name, known, n=1, cutoff=_NEAR)
        new = repr(text.replace("{" + name, "{" + near[0])) if near else ""
        fixes = [replacement(analysis.source, template, new.replace("'", '"'))] if near and "'" not in text else []
        said = message("monitor.in_name", name=name, logged=", ".join(f"`{one}`" for one in (near or known)[:3]))
        yield Finding(analysis.source.span(template), said, (), fixes)


def _best_of_nothing(analysis: Analysis) -> Iterator[Finding]:
    """``checkpoint.best_model_path`` of a ModelCheckpoint that watches nothing: it is that of the last epoch."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    asked = {plain_name(part.value) for part in index.of_type(ast.Attribute) if part.attr == "best_model_path"} - {None}
    for made in index.of_type(ast.Assign) if asked else ():
        call = made.value
        if not isinstance(call, ast.Call) or called(call) != _NAMED or plain_name(made.targets[0]) not in asked:
            continue
        if any(one.arg in (None, "monitor") for one in call.keywords) or len(call.args) > 2:
            continue
        yield Finding(source.span(call), message("monitor.best"))


def _is_own_log(call: ast.Call) -> bool:
    """``self.log("val_loss", loss)``, and no logarithm."""
    return is_method_call(call, "log") and isinstance(call.func, ast.Attribute) and is_name(call.func.value, "self")


def _seldom_logged(analysis: Analysis, modules: list[ast.ClassDef]) -> Iterator[Finding]:
    """Schedules that step after each epoch, by what the validation logs, which does not run after each."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    trainers = [part for part in index.of_type(ast.Call) if called(part) == "Trainer"]
    told = [keyword_of(part, "check_val_every_n_epoch") for part in trainers]
    every = {literal(part.value) if part is not None else None for part in told}
    number = next(iter(every)) if len(every) == 1 else None
    if not isinstance(number, int) or number < 2 or told[0] is None:
        return
    for owner in modules:
        for listed in nodes_in(owner, ast.Dict):
            given = {literal(key): value for key, value in zip(listed.keys, listed.values)}
            watched = given.get("monitor")
            if watched is None or None in given or {"frequency", "strict"} & set(given) or "scheduler" not in given:
                continue
            by_epoch = literal(given["interval"]) == "epoch" if "interval" in given else True
            if by_epoch and _is_plateau(owner, given["scheduler"]) and _is_of_validation(owner, literal(watched)):
                text = message("monitor.seldom", monitor=f"`{literal(watched)}`", every=number)
                edit = edits.insert_after_node(source, listed.values[-1], f', "frequency": {number}')
                fix = Candidate(message("fix.frequency", every=number), (edit,))
                yield Finding(
                    source.span(watched), text, (source.span(told[0]).related(message("monitor.validates")),), (fix,)
                )


def _is_plateau(owner: ast.ClassDef, scheduler: ast.expr) -> bool:
    """Whether a schedule is ReduceLROnPlateau wherever the class gives it its name."""
    made = [scheduler]
    if isinstance(scheduler, ast.Name):
        near = [method for method in of_kind(owner.body, ast.FunctionDef) if scheduler in set(ast.walk(method))]
        above = [
            part
            for part in nodes_in(near[0] if near else owner, ast.Assign)
            if part.lineno < scheduler.lineno and any(plain_name(target) == scheduler.id for target in part.targets)
        ]
        made = [max(above, key=lambda part: part.lineno).value] if above else []
    return bool(made) and all(called(part) == "ReduceLROnPlateau" for part in made)


def _is_of_validation(owner: ast.ClassDef, name: object) -> bool:
    """Whether a metric is logged by the validation alone: by that name as it is written, and under no name that is not."""
    logs = [part for part in nodes_in(owner, ast.Call) if is_method_call(part, "log") and part.args]
    others = [part for part in logs if not is_text(part.args[0])]
    mine = [part for part in logs if literal(part.args[0]) == name]
    validating = [
        part
        for method in of_kind(owner.body, ast.FunctionDef)
        if _VALIDATES.fullmatch(method.name)
        for part in nodes_in(method, ast.Call)
    ]
    return bool(mine) and not others and all(part in validating for part in mine)


def _monitors(index: Index) -> Iterator[tuple[str, ast.expr]]:
    """Watchers of metrics, and the names of these, where they are written."""
    for part in index.of_type(ast.Call):
        if called(part) in _WATCHERS:
            given = argument_of(part, _WATCHERS[called(part)], "monitor")
            if given is not None and is_text(given):
                yield called(part), given
        template = argument_of(part, 1, "filename") if called(part) == _NAMED else None
        if template is not None and is_text(template):
            yield _FILENAME, template
    for listed in index.of_type(ast.Dict):
        for key, value in zip(listed.keys, listed.values):
            if literal(key) == "monitor" and is_text(value):
                yield "the schedule", value


def _logged(owner: ast.ClassDef, call: ast.Call) -> _Logged:
    """``self.log("val/loss", …)`` and ``self.log(f"{stage}/loss", …)``, with what the class passes for `stage`."""
    name = call.args[0]
    if is_text(name):
        return _Logged(call, (name.value,), re.escape(name.value))
    parts = name.values if isinstance(name, ast.JoinedStr) else [name]
    choices: list[tuple[str, ...]] = []
    for part in parts:
        if isinstance(part, ast.Constant):
            choices.append((str(part.value),))
        else:
            choices.append(_passed(owner, call, part.value if isinstance(part, ast.FormattedValue) else part))
    # One that is not known stands for any text.
    pattern = "".join(f"(?:{'|'.join(map(re.escape, one))})" if one else ".*" for one in choices)
    names = itertools.islice(itertools.product(*choices), _MANY)
    return _Logged(call, tuple("".join(one) for one in names), pattern)


def _passed(owner: ast.ClassDef, call: ast.Call, name: ast.expr) -> tuple[str, ...]:
    """The texts that methods of a class pass for a parameter of the method that a call stands in; () where that is not known."""
    for method in of_kind(owner.body, ast.FunctionDef):
        placed = [part.arg for part in by_position(method.args)]
        if not isinstance(name, ast.Name) or name.id not in placed or call not in set(nodes_in(method, ast.Call)):
            continue
        position = placed.index(name.id) - 1
        calls = [part for part in nodes_in(owner, ast.Call) if is_dotted(part.func) and part.func.attr == method.name]
        given = [argument_of(part, position, name.id) for part in calls]
        texts = [str(literal(one)) for one in given if one is not None and is_text(one)]
        return tuple(dict.fromkeys(texts)) if texts and len(texts) == len(given) else ()
    return ()


RULE = Rule(FAULTS[CODE], find)

"""Results that are taken in another order than they are given back in: by ``prepare()`` and its like, or by a function of the user's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.provenance import batches_of, defined
from torchsleuth.errors.reached import bound, note
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    every_parameter,
    given_to,
    is_display,
    is_spread,
    last_word,
    nodes_in,
    parts_of_tuple,
    plain_name,
    returned_by,
)

_IN_ORDER = ("prepare", "setup", "setup_module_and_optimizers", "initialize", "optimize")
"""Methods of frameworks that give back what they are given, in that order."""
_MISTAKEN = ("TypeError", "AttributeError", "RuntimeError", "ValueError", "KeyError", "IndexError")
_ROLES = (
    ("optimizer", r"opt(?:s|im|ims|imizer|imizers)?\d*"),
    ("schedule", r"sched(?:uler|ule)?s?|lr_sched\w*"),
    ("loader", r"(?:\w*_)?(?:dl|loader|dataloader|batches)"),
    ("network", r"(?:\w*_)?(?:model|net|network|student|encoder|decoder|classifier)"),
)
_MADE_AS = (
    ("optimizer", r"(?:torch\.)?optim\.\w+|(?:SGD|Adam\w*|RMSprop|Adagrad|LBFGS|NAdam|RAdam)"),
    ("schedule", r"(?:[\w.]+\.)?\w*(?:LR|Scheduler|Restarts|Plateau)|get_\w*schedule\w*"),
    ("loader", r"(?:[\w.]+\.)?DataLoader"),
    ("network", r"(?:torch\.)?nn\.Sequential"),
)
"""What something is by the name of what makes it."""


def _other_order(case: Case) -> list[tuple[CrashFrame, ast.Assign, list[str]]]:
    """``net, opt, loader = accelerator.prepare(net, loader, opt)``, where a frame of the crash uses one of those that are exchanged; with
    the targets in the order in which the results come."""
    if case.crash["type"] not in _MISTAKEN:
        return []
    used = {name for frame in case.frames for name in _used(frame)}
    found = []
    for file in case.files:
        for node in file.all(ast.Assign):
            targets = node.targets[0]
            if not is_display(targets) or is_spread(targets.elts) or not isinstance(node.value, ast.Call):
                continue
            given = _in_order_of_results(case, file, node.value)
            order = _matched(file, targets.elts, given) if given is not None else None
            if order is None or order == list(range(len(order))):
                continue
            wrong = {last_word(targets.elts[place]) for place, index in enumerate(order) if place != index}
            if wrong & used:
                names = [file.text(part) for part in targets.elts]
                found.append((file, node, [names[index] for index in order]))
    return found


def _in_order_of_results(case: Case, file: CrashFrame, call: ast.Call) -> list[tuple[CrashFrame, ast.expr]] | None:
    """What a call gives back, one after the other: what ``prepare()`` is given, or what the only function of that name returns."""
    if is_spread(call.args):
        return None
    if called(call) in _IN_ORDER and call.args and not defined(case, called(call)):
        return None if call.keywords else [(file, part) for part in call.args]
    functions = defined(case, called(call))
    results = [(place, value) for place, function in functions for value in returned_by(function)]
    if len(functions) != 1 or len(results) != 1 or not isinstance(results[0][1], ast.Tuple):
        return [(file, part) for part in call.args] if called(call) in _IN_ORDER and call.args else None
    function = functions[0][1]
    if {plain_name(part) for part in results[0][1].elts} <= {part.arg for part in every_parameter(function.args)}:
        return None  # it exchanges what it is given, as was meant
    return [(results[0][0], part) for part in results[0][1].elts]


def _matched(file: CrashFrame, targets: list[ast.expr], given: list[tuple[CrashFrame, ast.expr]]) -> list[int] | None:
    """For each result the target that is meant for it, by its name, else by what it is; None where that is not clear."""
    names = [last_word(part).strip("_") for part in targets]
    own = [last_word(part).strip("_") for _, part in given]
    if len(names) != len(own) or not all(names) or len(set(names)) != len(names):
        return None
    if sorted(names) == sorted(own):
        return [names.index(name) for name in own]
    by_name = [_role(name) for name in names]
    by_value = [_kind(place, part) for place, part in given]
    kinds = {*by_name, *by_value}
    if "" in kinds or sorted(by_name) != sorted(by_value) or len(set(by_name)) != len(by_name):
        return None
    return [by_name.index(kind) for kind in by_value]


def _role(name: str) -> str:
    return next((role for role, expression in _ROLES if re.fullmatch(expression, name.lower())), "")


def _kind(file: CrashFrame, node: ast.expr) -> str:
    """What an argument is: by the call that made it, else by its name."""
    made = bound(file, node)
    text = file.text(made.func) if isinstance(made, ast.Call) else ""
    by_call = next((role for role, expression in _MADE_AS if re.fullmatch(expression, text)), "")
    return by_call or _role(last_word(node).strip("_"))


def _loops_in_other_order(case: Case) -> list[tuple[CrashFrame, ast.Tuple, list[str]]]:
    """``for label, image in loader``, where the samples of the data set, or its batches, are ``image, label``."""
    if case.crash["type"] not in _MISTAKEN:
        return []
    used = {name for frame in case.frames for name in _used(frame)}
    found = []
    for file in case.files:
        for loop in file.all(ast.For):
            target = loop.target
            if called(loop.iter) == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                target = target.elts[1]
            whole = given_to(loop.iter)[0] if target is not loop.target and given_to(loop.iter) else loop.iter
            if not isinstance(target, ast.Tuple) or is_spread(target.elts):
                continue
            batches = batches_of(case, file, whole)
            results = [(place, part) for place, value in batches[:1] for part in parts_of_tuple(value)]
            own = [last_word(part).strip("_") for _, part in results]
            names = [last_word(part).strip("_") for part in target.elts]
            if len(batches) == 1 and names != own and sorted(names) == sorted(own) and all(names) and set(names) & used:
                found.append((file, target, own))
    return found


_SPLITS = ("train_test_split",)


def _splits_in_other_order(case: Case) -> list[tuple[CrashFrame, ast.Tuple, list[str]]]:
    """``x_train, y_train, x_test, y_test = train_test_split(x, y)``, which gives both parts of one array, and then those of the next."""
    found = []
    for file in case.files:
        for node in file.all(ast.Assign):
            target = node.targets[0]
            if called(node.value) in _SPLITS and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Call):
                count, names = len(node.value.args), [file.text(part) for part in target.elts]
                if count < 2 or len(names) != 2 * count or is_spread(node.value.args):
                    continue
                firsts = ["train" in name.lower() or name.lower().endswith("_tr") for name in names]
                if firsts == [True] * count + [False] * count:
                    order = [name for pair in zip(names[:count], names[count:]) for name in pair]
                    found.append((file, target, order))
    return found


def _used(frame: CrashFrame) -> set[str]:
    node = frame.node or frame.statement
    return {last_word(part) for part in nodes_in(node, ast.Name, ast.Attribute)} if node is not None else set()


def _order_here(case: Case) -> Iterator[Related]:
    for file, node, _ in _other_order(case):
        identifier = "error.other_order" if called(node.value) in _IN_ORDER else "error.other_results"
        yield note(file.source, node, identifier, name=called(node.value))
    for file, target, _ in _loops_in_other_order(case):
        yield note(file.source, target, "error.other_samples")
    for file, target, _ in _splits_in_other_order(case):
        yield note(file.source, target, "error.other_parts")


def _same_order(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``net, loader, opt = prepare(net, opt, loader)`` → ``net, opt, loader = …``, as the results come."""
    for file, node, names in _other_order(case):
        parts = parts_of_tuple(node.targets[0]) if isinstance(node.targets[0], ast.Tuple) else node.targets[0].elts  # type: ignore[attr-defined]
        new = ", ".join(names)
        edit = edits.replace_between(file.source, parts[0], parts[-1], new)
        yield Fix(message("fix.replace", old=", ".join(map(file.text, parts))[:60], new=new[:60]), (edit,))
    for file, target, names in (*_loops_in_other_order(case), *_splits_in_other_order(case)):
        new = ", ".join(names)
        edit = edits.replace_between(file.source, target.elts[0], target.elts[-1], new)
        yield Fix(message("fix.replace", old=file.text(target)[:60], new=new[:60]), (edit,))


BUILDERS: tuple[tuple[str, Builder], ...] = ((r"", _same_order),)
PLACES = ((r"", _order_here),)

"""Values that are put under a key far from where they fail: a label that is None, an action that is not what was sampled, a
loss under another name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import ErrorEntry, entry
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.reached import Filled, around, bound, filled_here, keys_of, note, under_key
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_literal,
    is_method_call,
    is_text,
    names_in,
    nodes_in,
    plain_name,
    returned_by,
)


def _not_none(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``label = y[i] if i in known else None`` → ``… else -1``, where that number is what the loss is told to ignore."""
    ignored = _ignored(case)
    for key in keys_of(case) if ignored is not None else ():
        for file, value in under_key(case, key):
            made = bound(file, value)
            for part in (made.body, made.orelse) if isinstance(made, ast.IfExp) else ():
                if is_literal(part, None):
                    yield replace(file, part, str(ignored), safe=False)


def _ignored(case: Case) -> int | None:
    """The class that the losses of the script leave out: that of ``ignore_index``, else the one of PyTorch."""
    losses = [
        node
        for file in case.files
        for node in file.all(ast.Call)
        if called(node) in ("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss")
    ]
    told = [part.value for node in losses for part in node.keywords if part.arg == "ignore_index"]
    for node in told:
        try:
            number = ast.literal_eval(node)
        except ValueError:
            return None
        return number if type(number) is int else None
    return -100 if losses else None


def _sampled_before(case: Case) -> Iterator[tuple[CrashFrame, ast.expr, str]]:
    """The value whose probability is asked for and that is computed from a sample: where it stands, and the name of the sample."""
    given: list[Filled] = [(case.frame, node) for node in case.frame.operands()]
    given += [item for key in keys_of(case) for item in under_key(case, key)]
    for file, value in given:
        made = bound(file, value)
        if made is value:
            continue
        scope = around(file.tree, value)
        for name in sorted(names_in(made)):
            samples = [
                node
                for node in nodes_in(scope, ast.Assign)
                if is_method_call(node.value, "sample", "rsample")
                and any(plain_name(to) == name for to in node.targets)
            ]
            if samples and samples[0].lineno <= made.lineno:
                yield file, value, name


def _as_sampled(case: Case) -> Iterator[Fix]:
    """``act=power`` → ``act=u``, where ``power`` is computed from the sample ``u``."""
    for file, value, name in _sampled_before(case):
        yield replace(file, value, name, safe=False)


def _changed_here(case: Case) -> list[Related]:
    return [
        note(file.source, part, "error.support.changed", name=name)
        for file, value, name in _sampled_before(case)
        for part in (value, bound(file, value))
    ]


_LIKE_A_LOSS = re.compile(r"(?:^|[_/.])(?:loss|total|objective)(?:$|[_/.])")


def _results_of_step(case: Case) -> list[tuple[CrashFrame, ast.Dict]]:
    """The dictionary that the user's ``training_step`` returns, or the method whose result it passes on."""
    found = []
    for file in case.files:
        for step in file.all(ast.FunctionDef):
            for value in returned_by(step) if step.name == "training_step" else ():
                made = bound(file, value)
                made_by = called(made)
                others = [
                    bound(file, result)
                    for function in file.all(ast.FunctionDef)
                    if function.name == made_by
                    for result in returned_by(function)
                ]
                found += [(file, item) for item in (made, *others) if isinstance(item, ast.Dict)]
    return found


def _step_here(case: Case) -> list[Related]:
    return [note(file.source, made, "error.step_result.here") for file, made in _results_of_step(case)]


def _named_loss(case: Case) -> Iterator[Fix]:
    """``{"total": loss, …}`` → ``{"loss": loss, …}``, with all that reads it under the old key."""
    for file, made in _results_of_step(case):
        texts = [key for key in made.keys if is_text(key)]
        like = [key for key in texts if _LIKE_A_LOSS.search(key.value)] or (texts if len(texts) == 1 else [])
        if len(like) != 1:
            continue
        old = like[0].value
        reads = [node.slice for node in file.all(ast.Subscript) if is_text(node.slice) and node.slice.value == old]
        changes = tuple(edits.replace(file.source, node, '"loss"') for node in (like[0], *reads))
        yield Fix(message("fix.key", old=old, new="loss"), changes, safe=False)


def _left_out(case: Case) -> list[tuple[CrashFrame, ast.Constant]]:
    """The key of a sample that the Trainer has left out, where it is one: its class under another name than ``labels``."""
    taken = re.search(_NO_LOSS, case.crash["message"])
    received = set(re.split(r",\s*", taken[1].rstrip("."))) if taken is not None else set()
    found: list[tuple[CrashFrame, ast.Constant]] = []
    for file in case.files:
        for sample in file.all(ast.Dict):
            keys = [key for key in sample.keys if is_text(key)]
            others = [key for key in keys if key.value not in received]
            if received <= {key.value for key in keys} and len(others) == 1 and others[0].value != "labels":
                found.append((file, others[0]))
    return found if len(found) <= 2 else []


def _left_out_here(case: Case) -> Iterator[Related]:
    for file, key in _left_out(case):
        yield note(file.source, key, "error.label_key", key=key.value)


def _as_labels(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``{"input_ids": ids, "grade": grade}`` → ``"labels": grade``"""
    places = _left_out(case)
    if places:
        changes = tuple(edits.replace(file.source, key, '"labels"') for file, key in places)
        yield Fix(message("fix.key", old=places[0][1].value, new="labels"), changes, safe=False)


_NO_LOSS = r"did not return a loss from the inputs, .*the inputs it received are ([\w,. ]+)"

_BETA = "from torch.distributions import Beta\n"

ENTRIES = (
    ErrorEntry(
        "TS199",
        r"Expected value argument .* to be within the support \((\w+).*?\) of the distribution (\w+)\(",
        "error.support",
        _as_sampled,
        related=_changed_here,
        example=_BETA + "dist = Beta(torch.ones(2), torch.ones(2))\nraw = dist.sample()\n"
        "action = 4 * raw + 2\ndist.log_prob(action)",
        plain=True,
    ),
    entry(
        "TS918",
        r"when `training_step` returns a dict, the 'loss' key needs to be present",
        "error.step_result",
        _named_loss,
        related=_step_here,
    ),
    entry("TS918", _NO_LOSS, "error.no_labels", applies=lambda case: bool(_left_out(case))),
)  # fmt: skip

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (r"found <class 'NoneType'>|not NoneType|dtype of NoneType", _not_none),
    (_NO_LOSS, _as_labels),
)
PLACES = (
    (r"found <class '|real number|dtype|NoneType|support|size|shape|dimension|index|key", filled_here),
    (_NO_LOSS, _left_out_here),
)

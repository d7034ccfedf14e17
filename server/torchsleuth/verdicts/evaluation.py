"""Faults in how a network is called: the mode, graphs and time of its evaluation, what that shows, and samples one by one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.messages import message
from torchsleuth.syntax.forms import argument_of, nodes_in
from torchsleuth.training import Call, Metric, Module
from torchsleuth.verdicts.computed import put_into_training
from torchsleuth.verdicts.evidence import ENOUGH, Evidence, Finding
from torchsleuth.verdicts.text import (
    averaged_without_buffers,
    calls,
    constructed,
    function_around,
    is_held_out,
    loops_over,
    name_of,
    place_of,
    rebound,
    repeated_alike,
)

MANY = 8
RARE = 4
"""Steps for each call, at least, that an evaluation outside of a loop has."""
_TARGET = re.compile(r"target|teacher|ema\b|_ema|momentum|frozen|reference|old", re.IGNORECASE)
_LOSS = re.compile(r"loss|entropy|criterion|mse|nll|bce|l1|huber|objective", re.IGNORECASE)


def findings(evidence: Evidence) -> Iterator[Finding]:
    for root in evidence.roots:
        yield from _modes(evidence, root)
        yield from _same_network(evidence, root)
        yield from _teacher_in_training_mode(evidence, root)
        yield from _one_by_one(evidence, root)
        yield from _too_often(evidence, root)
    yield from _features_in_training_mode(evidence)
    yield from _operators_one_by_one(evidence)
    yield from _without_statistics(evidence)
    yield from _stale_copy(evidence)
    yield from _statistics_lag(evidence)
    yield from _functional_dropout(evidence)
    yield from _overfitting(evidence)


def _evaluates(site: Call, evidence: Evidence) -> bool:
    """Whether the calls at a place are an evaluation, rather than a part of each step."""
    if site.calls < 2 or not evidence.training.steps:
        return False
    several = len(evidence.stepped) > 1
    return site.streak >= 2 or not several and site.calls * RARE <= evidence.training.steps


def _draws_again(site: Call) -> bool:
    """Whether the same input goes through several times: dropout is wanted, to see how sure the network is."""
    return site.streak >= 4 and site.same_input >= site.calls // 2


def _modes(evidence: Evidence, root: Module) -> Iterator[Finding]:
    values = {"name": root.name, "parts": ", ".join(root.modes[:2])}
    trains = [site for site in root.sites if site.in_graph]
    for site in root.sites:
        evaluated = site.calls - site.grad if site.grad < site.calls else site.calls * (not site.in_graph)
        unused = not site.in_graph and not site.input_grad and (site.looked >= 2 or site.streak >= 2)
        if not site.grad or unused:
            evaluates = root.optimized and trains and _evaluates(site, evidence)
            if evaluates and root.modes and site.training == site.calls and not _draws_again(site):
                text = message("run.train_mode", count=evaluated, **values)
                yield Finding("TS505", site.place, text, mild=True)
            elif evaluates and unused and site.grad == site.calls and not site.training and root.trainable:
                text = message("run.evaluation_graph", name=root.name, count=site.calls)
                yield Finding("TS506", site.place, text, mild=True)
    if root.modes and root.optimized:
        wrong = [site for site in trains if site.training < site.grad and site.calls >= ENOUGH]
        elsewhere = any(site.training == site.calls for site in trains)
        for site in wrong:
            if site.training or not elsewhere:
                text = message("run.eval_mode", count=site.grad - site.training, calls=site.grad, **values)
                yield Finding("TS507", site.place, text)
                return


def _teacher_in_training_mode(evidence: Evidence, root: Module) -> Iterator[Finding]:
    """A network that nothing changes, and that gives each step something without a gradient, drops units or normalises by the batch."""
    own = [
        one
        for one in evidence.training.parameters
        if one.module is not None and evidence.root_of(evidence.training.modules[one.module]) is root
    ]
    still = own and all(one.changed is False and one.optimizer is None for one in own)
    if root.optimized or not root.modes or not still:
        return
    for site in root.sites:
        always = site.training == site.calls >= max(MANY, evidence.training.steps // 2)
        if always and not site.grad and not site.in_graph and not _draws_again(site):
            values = {"name": root.name, "parts": ", ".join(root.modes[:2]), "count": site.calls}
            yield Finding("TS505", site.place, message("run.teacher_mode", **values), mild=True)
            return


def _features_in_training_mode(evidence: Evidence) -> Iterator[Finding]:
    """A frozen network through which two things go in each step, one of which is learned: it drops and normalises them differently."""
    modules, steps = evidence.training.modules, evidence.training.steps
    for number, module in enumerate(modules):
        own = [
            one
            for one in evidence.training.parameters
            if one.module is not None and _is_within(evidence, one.module, number)
        ]
        learned = sum(site.through for site in module.sites)
        looked = [sample.step for one in own for sample in one.samples]
        frozen = own and not any(one.trainable for one in own) and max(looked, default=0) < steps - learned // 2
        trained = sum(min(site.training, site.grad) for site in module.sites if 4 * site.last_step >= 3 * steps)
        if not module.modes or not frozen or module.root and module.optimized or learned < max(MANY, steps // 3):
            continue
        if trained - learned >= learned // 2:
            near = next(site.place for site in module.sites if site.through)
            values = {"name": module.name, "parts": ", ".join(module.modes[:2]), "count": learned}
            place = put_into_training(evidence, evidence.loss_place) or near
            yield Finding("TS505", place, message("run.features_mode", **values), mild=True)
            return


def _is_within(evidence: Evidence, number: int, whole: int) -> bool:
    """Whether a module is another one, or a part of it."""
    modules = evidence.training.modules
    for _ in range(40):
        if number == whole:
            return True
        parent = modules[number].parent
        if parent is None or not 0 <= parent < len(modules):
            return False
        number = parent
    return False


def _same_network(evidence: Evidence, root: Module) -> Iterator[Finding]:
    """A target network that is the one that learns: one module under two names. What has learned before, and is the teacher of
    another one now, is none."""
    steps = evidence.training.steps
    learns = [site for site in root.sites if site.in_graph and not _TARGET.search(_receiver(evidence, site))]
    for site in root.sites:
        receiver = _receiver(evidence, site)
        steady = site.calls >= steps // 2 >= ENOUGH and not site.in_graph
        still = [one for one in learns if one.last_step >= site.last_step - steps // 4]
        if root.optimized and still and steady and _TARGET.search(receiver):
            other = _receiver(evidence, still[0])
            yield Finding("TS540", site.place, message("run.same_network", target=receiver, name=other))
            return


def _one_by_one(evidence: Evidence, root: Module) -> Iterator[Finding]:
    """The samples of a batch go through the network alone, one after the other, before one backward()."""
    for site in root.sites:
        shapes = {
            one.shape for batches in evidence.batches("input") if batches.place == site.place for one in batches.samples
        }
        single = len(shapes) == 1 and all(len(shape) < 2 or shape[0] == 1 for shape in shapes)
        if not single or site.streak < MANY or not site.in_graph or site.calls < MANY * evidence.training.steps:
            continue
        if loops_over(evidence, site.place):
            text = message("run.one_by_one", name=root.name, count=site.streak)
            yield Finding("TS946", site.place, text, mild=True)
            return


SLOW_MILLISECONDS = 5.0
"""Of each step, for what is computed in pieces."""


def _operators_one_by_one(evidence: Evidence) -> Iterator[Finding]:
    """Most functions of a step's graph are those of one line, which is evaluated for one row or one node at a time."""
    seconds = sorted(value for value in evidence.training.step_seconds.values if value > 0)
    phases = evidence.training.phases
    whole = sum(phases.values()) or 1.0
    model = (phases.get("forward", 0.0) + phases.get("backward", 0.0)) / whole
    for event in evidence.training.events:
        if event.kind != "repeated-operators" or event.count < ENOUGH or event.place is None or not seconds:
            continue
        step = 1000 * seconds[len(seconds) // 2]
        share = model * event.details["share"]
        if share >= 0.5 and share * step >= SLOW_MILLISECONDS and repeated_alike(evidence, event.place):
            values = {"times": event.details["times"], "count": event.details["count"], "share": share, "step": step}
            yield Finding("TS953", event.place, message("run.operators_one_by_one", **values), mild=True)
            return


def _without_statistics(evidence: Evidence) -> Iterator[Finding]:
    """A copy of the network that learns is evaluated with batch statistics that it was born with: only parameters are averaged."""
    modules = evidence.training.modules
    learning = {(one.type, one.elements) for one in evidence.roots if one.optimized}
    for module in modules:
        root = evidence.root_of(module)
        born = module.lag == 1.0 and module.calls and not module.training and not root.optimized
        if not born or (root.type, root.elements) not in learning or evidence.training.steps < MANY:
            continue
        place = next((site.place for site in root.sites), root.place)
        found = averaged_without_buffers(evidence, place.path) if place is not None else None
        text = message("run.without_statistics", name=root.name, part=module.name)
        yield Finding("TS574", found or place, text, mild=True)
        return


def _stale_copy(evidence: Evidence) -> Iterator[Finding]:
    """A copy of the network that learns is evaluated again and again, with the very same result: what was to bring it up to date does
    not."""
    learning = {(one.type, one.elements) for one in evidence.roots if one.optimized}
    course = evidence.course
    if course is None or course.late > 0.9 * course.early:
        return
    for root in evidence.roots:
        for site in root.sites:
            copied = not root.optimized and (root.type, root.elements) in learning
            if not copied or site.grad or site.calls < ENOUGH + 2:
                continue
            function = function_around(evidence.tree(site.place.path), site.place.line)
            same = [
                metric
                for metric in evidence.training.metrics
                if metric.values.count >= ENOUGH + 2 and metric.values.low == metric.values.high
                and metric.place.path == site.place.path
                and function is function_around(evidence.tree(metric.place.path), metric.place.line)
            ]  # fmt: skip
            place = rebound(evidence, site.place.path) if same else None
            if place is not None:
                values = {"name": root.name, "value": same[0].values.low, "count": same[0].values.count}
                yield Finding("TS962", place, message("run.stale_copy", **values), mild=True)
                return


def _too_often(evidence: Evidence, root: Module) -> Iterator[Finding]:
    """The same validation data go through after every few steps, for most of the time."""
    phases, steps = evidence.training.phases, evidence.training.steps
    seconds = phases.get("evaluation", 0.0)
    training = sum(phases.get(name, 0.0) for name in ("forward", "backward", "optimizer"))
    if seconds < 1.0 or seconds < 2 * training:
        return
    for site in root.sites:
        rounds = site.calls // max(site.streak, 1)
        if (
            site.grad
            or site.streak < 2
            or rounds < MANY
            or steps > MANY * rounds
            or not is_held_out(evidence, site.place)
        ):
            continue
        function = function_around(evidence.tree(site.place.path), site.place.line)
        calling = list(calls(evidence.tree(site.place.path), function.name)) if function is not None else []
        place = place_of(site.place.path, calling[0]) if len(calling) == 1 else site.place
        values = {"share": seconds / (seconds + training), "steps": max(1, steps // rounds)}
        yield Finding("TS947", place, message("run.too_often", **values), mild=True)
        return


def _receiver(evidence: Evidence, site: Call) -> str:
    """The callee at a place, as it is written."""
    return evidence.text(site.place).partition("(")[0]


LAG = 0.3
"""Part of the first statistics of a batch normalisation, in those that evaluation uses at the end."""


def _statistics_lag(evidence: Evidence) -> Iterator[Finding]:
    """Evaluation uses statistics of batch normalisation that are largely those it began with."""
    for module in evidence.training.modules:
        evaluated = module.calls - module.training
        if (
            module.lag is None
            or module.lag < LAG
            or evaluated < 1
            or not module.training
            or evidence.training.steps < MANY
        ):
            continue
        text = message("run.lag", name=module.name, share=module.lag, steps=evidence.training.steps)
        yield Finding("TS573", constructed(evidence, module.type, module.place) or module.place, text, mild=True)
        return


def _functional_dropout(evidence: Evidence) -> Iterator[Finding]:
    """Dropout by a function that is not told of the mode, in a module that was evaluated."""
    for module in evidence.training.modules:
        evaluated = module.calls - module.training
        if evaluated < 1 or module.place is None or not evidence.training.steps:
            continue
        for node in nodes_in(evidence.tree(module.place.path), ast.ClassDef):
            if node.name != module.type:
                continue
            for call in nodes_in(node, ast.Call):
                if _drops_always(call):
                    place = place_of(module.place.path, call, "forward")
                    yield Finding("TS516", place, message("run.dropout", count=evaluated), mild=True)
                    return


def _drops_always(call: ast.Call) -> bool:
    """``F.dropout(x)`` without ``training``."""
    if not isinstance(call.func, ast.Attribute) or not re.fullmatch(
        r"(alpha_|feature_)?dropout([123]d)?", call.func.attr
    ):
        return False
    if name_of(call.func.value) not in ("F", "functional"):
        return False
    given = argument_of(call, None, "training")
    given = given or (call.args[2] if len(call.args) > 2 else None)
    return given is None


def _overfitting(evidence: Evidence) -> Iterator[Finding]:
    course = evidence.course
    if course is None or len(course.values) < 8 or course.late > 0.5 * course.early:
        return
    for metric in evidence.training.metrics:
        text = evidence.text(metric.place)
        if not _LOSS.search(text):
            continue
        found = _turns(metric)
        if found is not None and course.late < 0.5 * found[2]:
            number, low, last, count = found
            values = {"low": low, "last": last, "train": course.late, "number": number, "count": count}
            yield Finding("TS936", metric.place, message("run.overfitting", **values), mild=True)
            return


def _turns(metric: Metric) -> tuple[int, float, float, int] | None:
    """Where a loss is lowest, if it rises afterwards for good: number of the evaluation, lowest and last value, and how many
    there are."""
    values = list(metric.values.values)
    if len(values) < 8:
        return None
    smooth = [
        sum(values[max(0, index - 1) : index + 2]) / len(values[max(0, index - 1) : index + 2])
        for index in range(len(values))
    ]
    number = min(range(len(smooth)), key=smooth.__getitem__)
    low, last = smooth[number], sorted(values[-max(3, len(values) // 8) :])[0]
    rises = number < 0.7 * len(values) and low > 0 and last > 1.25 * low
    return (number + 1, values[number], values[-1], len(values)) if rises else None

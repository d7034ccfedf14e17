"""The check-list that one goes through by hand when a training does not work, with what a run says to each point.

Data, inputs, targets, model, loss, optimizer, learning rate, gradients, finite numbers, evaluation, memory, time, seed,
environment. A point is green, amber or red by what was measured, and *not seen* where the run tells nothing of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.numbers import amount, number, seconds, share, size
from torchsleuth.report.losses import by_place, course
from torchsleuth.runtime.report import RunReport
from torchsleuth.schema import Diagnostic
from torchsleuth.training import Batches, BatchSample, Loader, Parameter, Place, Training

GREEN, AMBER, RED, UNSEEN = "green", "amber", "red", "unseen"
_RANK = {UNSEEN: 0, GREEN: 1, AMBER: 2, RED: 3}


@dataclass(frozen=True)
class Point:
    """A point of the check-list. `evidence`: what the run says, in a sentence or two."""

    name: str
    state: str
    evidence: tuple[str, ...] = ()
    place: Place | None = None
    codes: tuple[str, ...] = ()


def checklist(report: RunReport) -> tuple[Point, ...]:
    """All points in their order. What a finding says of a point stands before what was measured for it."""
    found: dict[str, list[Diagnostic]] = {}
    for diagnostic in report.diagnostics:
        found.setdefault(_point_of(diagnostic.code), []).append(diagnostic)
    points = (_environment(report), *_measured(report.recorded))
    return tuple(_with_findings(point, found.get(point.name, [])) for point in points)


def _with_findings(point: Point, found: list[Diagnostic]) -> Point:
    if not found:
        return point
    worst = RED if any(one.severity == "error" for one in found) else AMBER
    state = max(point.state, worst, key=lambda state: _RANK[state])
    first = found[0]
    place = Place(first.path, first.start.line)
    said = tuple(one.message for one in found)
    return Point(point.name, state, (*said, *point.evidence), place, tuple(one.code for one in found))


_BY_WORD = (
    ("out-of-memory", "memory"),
    ("finite", "numbers"),
    ("scale-collapses", "numbers"),
    ("validation", "evaluation"),
    ("waiting", "time"),
    ("predicted", "model"),
    ("learning-rate", "rate"),
    ("scheduler", "rate"),
    ("update", "rate"),
    ("gradient", "gradients"),
    ("clip", "gradients"),
    ("graph", "memory"),
    ("memory", "memory"),
    ("seed", "seed"),
    ("deterministic", "seed"),
    ("eval", "evaluation"),
    ("overfit", "evaluation"),
    ("overlap", "evaluation"),
    ("train-mode", "evaluation"),
    ("dropout", "evaluation"),
    ("input", "inputs"),
    ("label", "targets"),
    ("target", "targets"),
    ("loader", "time"),
    ("slow", "time"),
    ("worker", "time"),
    ("sync", "time"),
    ("batch", "data"),
    ("shuffle", "data"),
    ("sample", "data"),
    ("loss", "loss"),
    ("softmax", "loss"),
    ("sigmoid", "loss"),
    ("optimizer", "optimizer"),
    ("step", "optimizer"),
    ("parameter", "model"),
    ("unit", "model"),
    ("relu", "model"),
    ("module", "model"),
)
"""The point that a fault belongs to, by what is in its name."""
_BY_FAMILY = {"1": "model", "2": "model", "3": "loss", "4": "gradients", "5": "optimizer", "6": "data", "7": "memory"}


def _point_of(code: str) -> str:
    fault = FAULTS.get(code)
    name = fault.name if fault is not None else ""
    by_word = next((point for word, point in _BY_WORD if word in name), None)
    return by_word or _BY_FAMILY.get(code[2:3], "environment")


def _environment(report: RunReport) -> Point:
    versions = report.versions
    if versions is None:
        return Point("environment", UNSEEN)
    libraries = versions.get("libraries", {})
    devices = ", ".join(versions.get("devices", ())) or (report.recorded.device if report.recorded else "cpu")
    said = message("page.environment", python=versions["python"], torch=libraries.get("torch", "–"), device=devices)
    return Point("environment", GREEN if "torch" in libraries else AMBER, (said,))


def _measured(training: Training | None) -> Iterator[Point]:
    for name, look in _LOOKS.items():
        state, said, place = look(training) if training is not None else _NOTHING
        yield Point(name, state, said, place)


_Seen = tuple[str, tuple[str, ...], Place | None]
_NOTHING: _Seen = (UNSEEN, (), None)


def _data(training: Training) -> _Seen:
    alike: dict[tuple[str, int | None, Place | None], list[Loader]] = {}
    for loader in training.loaders:
        alike.setdefault((loader.dataset, loader.size, loader.place), []).append(loader)
    said = []
    for (dataset, samples, _), loaders in alike.items():
        batches, rounds = sum(one.batches for one in loaders), sum(one.rounds for one in loaders)
        name = dataset if samples is None else message("page.dataset", dataset=dataset, size=amount(samples))
        said.append(message("page.loader", dataset=name, batches=amount(batches), rounds=amount(rounds)))
    place = training.loaders[0].place if training.loaders else None
    inputs = [batches for batches in training.batches if batches.role == "input" and batches.samples]
    repeated = [one for one in inputs if len(one.samples) > 2 and _is_repeated(one)]
    if repeated and len(repeated) == len(inputs):
        said.insert(0, message("page.repeated", count=len(repeated[0].samples)))
        return AMBER, tuple(said), repeated[0].place
    if not said and not inputs:
        return _NOTHING
    if not said:
        said.append(message("page.batches", shape=_shape(inputs[0].samples[-1])))
    return GREEN, tuple(said), place


def _is_repeated(batches: Batches) -> bool:
    """Whether each batch is that of the step before, as far as was looked; in every second step alone, two may take turns."""
    steps = [sample.step for sample in batches.samples]
    apart = math.gcd(*(step - steps[0] for step in steps))
    return apart == 1 and all(sample.same for sample in batches.samples[1:])


def _inputs(training: Training) -> _Seen:
    for batches in training.batches:
        if batches.role != "input" or not batches.samples:
            continue
        last = batches.samples[-1]
        said = message("page.batch", shape=_shape(last), dtype=last.dtype, **_spread(last))
        if any(sample.bad for sample in batches.samples):
            return RED, (said, message("page.input_bad")), batches.place
        if "float" not in last.dtype or last.mean is None or last.std is None:
            return GREEN, (said,), batches.place
        if last.std == 0:
            return AMBER, (said, message("page.input_constant")), batches.place
        if abs(last.mean) > 5 or last.std > 10 or last.std < 0.01:
            return AMBER, (said, message("page.input_scale")), batches.place
        return GREEN, (said,), batches.place
    return _NOTHING


def _targets(training: Training) -> _Seen:
    targets = [batches for batches in training.batches if batches.role == "target" and batches.samples]
    if not targets:
        return _NOTHING
    place = next((batches.place for batches in targets if batches.place is not None), None)
    last = targets[-1].samples[-1]
    said = [message("page.batch", shape=_shape(last), dtype=last.dtype, **_spread(last))]
    counts: dict[str, int] = {}
    for sample in (sample for batches in targets for sample in batches.samples):
        for label, count in (sample.labels or {}).items():
            counts[label] = counts.get(label, 0) + count
    if not counts:
        return GREEN, tuple(said), place
    label, most = max(counts.items(), key=lambda item: item[1])
    total = sum(counts.values())
    said.append(message("page.labels", classes=len(counts), label=label, share=share(most / total)))
    return (AMBER if most > 0.9 * total and total >= 32 else GREEN), tuple(said), place


def _trained(training: Training) -> list[Parameter]:
    by_hand = not training.optimizers
    return [item for item in training.parameters if item.trainable and (item.module is not None or by_hand)]


def _model(training: Training) -> _Seen:
    roots = [module for module in training.modules if module.root and module.elements and module.calls]
    if not roots:
        return _NOTHING
    said = [
        message("page.model", name=module.type, elements=amount(module.elements), trainable=amount(module.trainable))
        for module in roots
    ]
    optimized = {index for index, module in enumerate(training.modules) if module.optimized}
    left = [item for item in _trained(training) if item.optimizer is None and item.module in optimized]
    if left:
        said.append(message("page.left_out", count=len(left), names=_names(left)))
    return GREEN if not left else AMBER, tuple(said), roots[0].place


def _loss(training: Training) -> _Seen:
    losses = by_place(training)
    if not losses:
        return _NOTHING
    loss = losses[0]
    went = course(loss.values)
    if went.kind == "not finite":
        said = [message("page.not_finite", step=loss.values.first_bad, count=amount(loss.values.bad))]
    else:
        values = {"first": number(went.begin), "last": number(went.end)}
        said = [message(f"page.course.{went.kind}", kind=loss.kind or message("page.loss"), **values)]
    classes = _classes(training)
    if loss.kind == "cross_entropy" and classes > 1:
        said.append(message("page.chance", classes=classes, value=number(math.log(classes))))
    state = {"falling": GREEN, "flat": AMBER, "rising": AMBER, "not finite": RED}.get(went.kind, UNSEEN)
    return state, tuple(said), loss.place


def _classes(training: Training) -> int:
    """The classes that a prediction of rank 2 tells apart."""
    shapes = (b.samples[-1].shape for b in training.batches if b.role == "prediction" and b.samples)
    return next((shape[1] for shape in shapes if len(shape) == 2), 0)


def _optimizer(training: Training) -> _Seen:
    stepped = [optimizer for optimizer in training.optimizers if optimizer.steps]
    if not stepped and not training.optimizers and training.steps:
        return GREEN, (message("page.by_hand", steps=amount(training.steps)),), None
    if not stepped:
        return (RED, (message("page.no_step"),), None) if training.backwards else _NOTHING
    said = tuple(
        message(
            "page.optimizer",
            type=optimizer.type,
            steps=amount(optimizer.steps),
            parameters=amount(sum(group.parameters for group in optimizer.groups)),
        )
        for optimizer in stepped
    )
    owned = [item for item in _trained(training) if item.optimizer is not None and item.changed is not None]
    still = [item for item in owned if item.changed is False]
    if owned and len(still) == len(owned):
        return RED, (message("page.nothing_moved"), *said), stepped[0].place
    if still:
        return AMBER, (message("page.still", count=len(still), names=_names(still)), *said), stepped[0].place
    return GREEN, said, stepped[0].place


def _rate(training: Training) -> _Seen:
    said, place = [], None
    for optimizer in training.optimizers:
        rates = [group.rates for group in optimizer.groups if group.rates.count]
        if rates:
            place = place or optimizer.place
            low = min(rate.low for rate in rates if rate.low is not None)
            high = max(rate.high for rate in rates if rate.high is not None)
            kind = "page.rate" if low != high else "page.rate_constant"
            said.append(message(kind, type=optimizer.type, low=number(low), high=number(high)))
    ratios = [item.samples[-1].update for item in _trained(training) if item.samples and item.samples[-1].update]
    known = [ratio for ratio in ratios if ratio is not None]
    if not said:
        return _NOTHING
    if not known:
        return UNSEEN, tuple(said), place
    middle = median(known)
    said.append(message("page.update", ratio=number(middle)))
    return (GREEN if 1e-6 <= middle <= 0.3 else AMBER), tuple(said), place


def _gradients(training: Training) -> _Seen:
    by_hand = not training.optimizers
    seen = [
        item
        for item in _trained(training)
        if (item.with_gradient if by_hand else item.optimizer is not None and item.seen)
    ]
    if not seen:
        return _NOTHING
    none = [item for item in seen if not item.with_gradient]
    norms = [(item, item.samples[-1].gradient) for item in seen if item.samples]
    weights = [(item, norm) for item, norm in norms if norm is not None and len(item.shape) > 1]
    said = []
    if (series := training.gradient_norm).count and series.low is not None and series.high is not None:
        said.append(message("page.gradients", low=number(series.low), high=number(series.high)))
    if len(none) == len(seen):
        return RED, (message("page.no_gradient_at_all"), *said), None
    broken = [item for item in seen if any(not sample.finite for sample in item.samples)]
    if broken and not weights:
        return RED, (message("page.bad_gradients", count=len(broken), names=_names(broken)), *said), None
    if none:
        said.insert(0, message("page.no_gradient", count=len(none), names=_names(none)))
        return AMBER, tuple(said), None
    if len(weights) > 2:
        (first, near), (last, far) = weights[0], weights[-1]
        said.append(message("page.layers", first=first.name, near=number(near), last=last.name, far=number(far)))
        if far and near / far < 1e-4:
            return AMBER, tuple(said), None
    return GREEN, tuple(said), None


_WHERE = ("parameter", "input", "target", "operation")


def _numbers(training: Training) -> _Seen:
    bad = training.bad
    count = sum(loss.values.bad for loss in training.losses)
    if bad is not None or count:
        said = [
            message("page.bad_losses", count=amount(count), all=amount(sum(x.values.count for x in training.losses)))
        ]
        place = None
        if bad is not None:
            place = bad.place or bad.loss_place
            where = bad.where if bad.where in _WHERE else "unknown"
            said.insert(0, message(f"page.bad.{where}", name=bad.name or bad.function or "", step=bad.step))
        return RED, tuple(said), place
    infinite = [item for item in training.parameters if any(not sample.finite for sample in item.samples)]
    if infinite:
        return AMBER, (message("page.bad_gradients", count=len(infinite), names=_names(infinite)),), None
    looked = sum(loss.values.count for loss in training.losses)
    if not looked:
        return _NOTHING
    return GREEN, (message("page.all_finite", count=amount(looked)),), None


def _evaluation(training: Training) -> _Seen:
    for module in training.modules:
        for site in module.sites:
            if not module.root or site.calls == site.grad:
                continue
            without = site.calls - site.grad
            if module.modes and site.training and not site.grad:
                modes = ", ".join(module.modes)
                return AMBER, (message("page.eval_training", calls=amount(site.training), modes=modes),), site.place
            return GREEN, (message("page.evaluated", calls=amount(without), name=module.type),), site.place
    trains = any(loader.training for loader in training.loaders)
    for loader in training.loaders if trains else ():  # of a library, which calls the model itself
        if loader.rounds and not loader.training:
            said = message("page.evaluated_batches", batches=amount(loader.batches), dataset=loader.dataset)
            return GREEN, (said,), loader.place
    return _NOTHING


def _memory(training: Training) -> _Seen:
    series = training.device_memory if training.device_memory.count else training.memory
    if not series.count or series.first is None or series.last is None:
        return _NOTHING
    said = [message("page.memory", first=size(series.first), last=size(series.last), high=size(series.high or 0))]
    for kept in training.kept:
        if kept.steps > 2:
            return AMBER, (message("page.kept", alive=amount(kept.alive), steps=kept.steps), *said), kept.place
    return GREEN, tuple(said), None


def _time(training: Training) -> _Seen:
    total = sum(training.phases.values())
    if not total:
        return _NOTHING
    waiting, evaluation = training.phases.get("data", 0.0) / total, training.phases.get("evaluation", 0.0) / total
    step = training.step_seconds.values
    said = [message("page.time", waiting=share(waiting), step=seconds(median(step) if step else 0.0))]
    if evaluation:
        said.append(message("page.evaluating", share=share(evaluation)))
    slowest = max(training.loaders, key=lambda loader: loader.seconds, default=None)
    place = slowest.place if slowest is not None else None
    return (AMBER if waiting > 0.4 and total > 2 else GREEN), tuple(said), place


def _seed(training: Training) -> _Seen:
    if training.seeded is None:
        return _NOTHING
    return (GREEN, (message("page.seeded"),), None) if training.seeded else (AMBER, (message("page.unseeded"),), None)


_LOOKS: dict[str, Callable[[Training], _Seen]] = {
    "data": _data,
    "inputs": _inputs,
    "targets": _targets,
    "model": _model,
    "loss": _loss,
    "optimizer": _optimizer,
    "rate": _rate,
    "gradients": _gradients,
    "numbers": _numbers,
    "evaluation": _evaluation,
    "memory": _memory,
    "time": _time,
    "seed": _seed,
}


def _shape(sample: BatchSample) -> str:
    return f"[{', '.join(map(str, sample.shape))}]"


def _spread(sample: BatchSample) -> dict[str, str]:
    return {name: number(getattr(sample, name)) for name in ("low", "high", "mean", "std")}


def _names(parameters: list[Parameter]) -> str:
    names = [item.name or _sizes(item) for item in parameters[:3]]
    return ", ".join(names) + (", …" if len(parameters) > 3 else "")


def _sizes(parameter: Parameter) -> str:
    return f"[{', '.join(map(str, parameter.shape))}]"

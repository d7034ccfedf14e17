"""Two runs side by side: what held in the one and no longer holds, which numbers, versions and lines have changed."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from torchsleuth.messages import message
from torchsleuth.numbers import amount, number, seconds, share, size
from torchsleuth.report.losses import by_place, course
from torchsleuth.schema import Json
from torchsleuth.sifting import as_kind
from torchsleuth.training import Parameter, Place, Training

MAX_DIFF = 200
"""Lines of a difference of files that are shown."""
SAME = 0.02
"""Part of a number by which it may change without being another one."""
FEW_STEPS = 5


@dataclass(frozen=True)
class Number:
    """A number of both runs. `change`: now divided by before, less one; None where that says nothing."""

    name: str
    before: float | None
    now: float | None
    unit: str
    more_is_worse: bool = True

    @property
    def change(self) -> float | None:
        if self.before is None or self.now is None or self.before <= 0:
            return None
        return self.now / self.before - 1

    @property
    def changed(self) -> bool:
        """Whether it is another number."""
        if self.before is None or self.now is None:
            return self.before is not self.now
        return abs(self.now - self.before) > SAME * max(abs(self.before), abs(self.now))

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "unit": self.unit,
            "before": self.before,
            "now": self.now,
            "change": self.change,
            "worse": self.worse,
        }

    @property
    def worse(self) -> bool:
        return self.more_is_worse and self.changed and (self.change or 0) > 0.1

    def told(self, value: float | None) -> str:
        return "–" if value is None else _UNITS[self.unit](value)


_UNITS: dict[str, Callable[[float], str]] = {
    "": number,
    "count": lambda value: amount(int(value)),
    "seconds": seconds,
    "bytes": size,
}


@dataclass(frozen=True)
class Broken:
    """An invariant of a healthy run that no longer holds."""

    text: str
    place: Place | None = None


def numbers(before: Training, now: Training) -> tuple[Number, ...]:
    """The numbers that are worth a comparison, of both runs."""
    read: dict[str, tuple[str, bool, Callable[[Training], float | None]]] = {
        "loss": ("", True, last_loss),
        "step": ("seconds", True, step_time),
        "memory": ("bytes", True, peak_memory),
        "gradient": ("", False, lambda training: training.gradient_norm.high),
        "rate": ("", False, _rate),
        "steps": ("count", False, lambda training: float(training.steps)),
        "elements": ("count", False, _elements),
        "bad": ("count", True, lambda training: float(sum(loss.values.bad for loss in training.losses))),
    }
    return tuple(
        Number(name, look(before), look(now), unit, worse)
        for name, (unit, worse, look) in read.items()
        if look(before) is not None or look(now) is not None
    )


def last_loss(training: Training) -> float | None:
    """The mean of the last fifth of the loss with the most values; None where that is not finite or there is none."""
    losses = by_place(training)
    return course(losses[0].values).end if losses and not losses[0].values.bad else None


def step_time(training: Training) -> float | None:
    """The median time of a step, in seconds."""
    values = training.step_seconds.values
    return median(values) if len(values) >= FEW_STEPS else None


def peak_memory(training: Training) -> float | None:
    """Of the accelerator, else of the process, in bytes."""
    if training.device_peak is not None:
        return float(training.device_peak)
    return training.memory.high


def _rate(training: Training) -> float | None:
    return next((g.rates.high for one in training.optimizers for g in one.groups if g.rates.high is not None), None)


def _elements(training: Training) -> float | None:
    return float(sum(module.elements for module in training.modules if module.root)) or None


# what held


def broken(healthy: Training, now: Training) -> tuple[Broken, ...]:
    """The invariants of a healthy run that do not hold in another one, the most harmful first."""
    return tuple(found for look in _HELD for found in look(healthy, now))


def _finite(healthy: Training, now: Training) -> Iterator[Broken]:
    bad = sum(loss.values.bad for loss in now.losses)
    if bad and not any(loss.values.bad for loss in healthy.losses):
        place = now.bad.place or now.bad.loss_place if now.bad is not None else None
        first = min(loss.values.first_bad for loss in now.losses if loss.values.first_bad is not None)
        yield Broken(message("compare.finite", count=amount(bad), step=first), place or _loss_place(now))


def _loss_place(training: Training) -> Place | None:
    losses = by_place(training)
    return losses[0].place if losses else None


_Holds = Callable[[Parameter], bool]
_PARAMETERS: dict[str, _Holds] = {
    "compare.owned": lambda item: item.optimizer is not None,
    "compare.reached": lambda item: bool(item.seen) and item.with_gradient == item.seen,
    "compare.gradients": lambda item: bool(item.samples) and all(sample.finite for sample in item.samples),
    "compare.moved": lambda item: (
        any(sample.moved for sample in item.samples) and all(sample.moved is not False for sample in item.samples)
    ),
}
"""Candidates for invariants of a parameter, over all steps that were looked at."""


def _parameters(healthy: Training, now: Training) -> Iterator[Broken]:
    known = {item.name: item for item in healthy.parameters if item.name and item.trainable}
    both = [(known[item.name], item) for item in now.parameters if item.name in known]
    said: set[str] = set()
    for identifier, holds in _PARAMETERS.items():
        lost = [new for old, new in both if holds(old) and not holds(new) and new.name not in said]
        if lost:
            said.update(item.name for item in lost)
            names = ", ".join(item.name for item in lost[:3]) + (", …" if len(lost) > 3 else "")
            yield Broken(message(identifier, count=len(lost), names=names), _module_place(now, lost[0]))


def _module_place(training: Training, parameter: Parameter) -> Place | None:
    return training.modules[parameter.module].place if parameter.module is not None else None


def _course(healthy: Training, now: Training) -> Iterator[Broken]:
    old, new = by_place(healthy), by_place(now)
    if old and new and course(old[0].values).kind == "falling":
        went = course(new[0].values)
        if went.kind in ("flat", "rising"):
            values = {"first": number(went.begin), "last": number(went.end)}
            yield Broken(message(f"compare.{went.kind}", **values), new[0].place)


def _cleared(healthy: Training, now: Training) -> Iterator[Broken]:
    for old, new in zip(healthy.optimizers, now.optimizers):
        if not old.uncleared and new.uncleared > 2:
            yield Broken(message("compare.cleared", type=new.type, count=amount(new.uncleared)), new.step_place)


def _kept(healthy: Training, now: Training) -> Iterator[Broken]:
    held = [kept for kept in now.kept if kept.steps > 2]
    if held and not any(kept.steps > 2 for kept in healthy.kept):
        most = max(held, key=lambda kept: kept.alive)
        yield Broken(message("compare.kept", count=amount(most.alive), steps=amount(most.steps)), most.place)


def _modes(healthy: Training, now: Training) -> Iterator[Broken]:
    def evaluated_in_training(training: Training) -> list[tuple[str, int, Place]]:
        return [
            (module.type, site.training, site.place)
            for module in training.modules
            for site in module.sites
            if module.root and module.modes and not site.grad and site.training
        ]

    found = evaluated_in_training(now)
    if found and not evaluated_in_training(healthy):
        name, calls, place = found[0]
        yield Broken(message("compare.modes", name=name, count=amount(calls)), place)


def _inputs(healthy: Training, now: Training) -> Iterator[Broken]:
    def spread(training: Training) -> tuple[float, float, Place | None] | None:
        for batches in training.batches:
            known = [s for s in batches.samples if s.mean is not None and s.std is not None and "float" in s.dtype]
            if batches.role == "input" and known:
                return median(s.mean or 0.0 for s in known), median(s.std or 0.0 for s in known), batches.place
        return None

    old, new = spread(healthy), spread(now)
    if old is None or new is None or old[1] == 0:
        return
    if abs(new[0] - old[0]) > 2 * old[1] or not old[1] / 4 <= new[1] <= 4 * old[1]:
        values = {"mean": number(new[0]), "std": number(new[1]), "old_mean": number(old[0]), "old_std": number(old[1])}
        yield Broken(message("compare.inputs", **values), new[2])


def _costs(healthy: Training, now: Training) -> Iterator[Broken]:
    old, new = step_time(healthy), step_time(now)
    if old and new and new > 1.5 * old and new - old > 2e-3:
        yield Broken(message("compare.slower", now=seconds(new), before=seconds(old), change=share(new / old - 1)))
    held, holds = peak_memory(healthy), peak_memory(now)
    if held and holds and holds > 1.3 * held and holds - held > 32 << 20:
        yield Broken(message("compare.memory", now=size(holds), before=size(held), change=share(holds / held - 1)))


_HELD: tuple[Callable[[Training, Training], Iterator[Broken]], ...] = (
    _finite, _parameters, _cleared, _course, _kept, _modes, _inputs, _costs,
)  # fmt: skip


# what has changed


def _mapping(found: object) -> Mapping[str, object]:
    """The content of a report, which may be of another version."""
    return found if isinstance(found, Mapping) else {}


def versions(before: Json, now: Json) -> tuple[tuple[str, str, str], ...]:
    """Names, versions before and now of what is another one: Python, libraries, devices, script and arguments aside."""

    def flat(report: Json) -> dict[str, str]:
        found = _mapping(report.get("versions"))
        plain = {name: found.get(name) for name in ("python", "platform", "threads", "cuda")}
        devices = as_kind(found.get("devices"), list, tuple)
        named = ", ".join(map(str, devices)) if devices is not None else None
        return {
            name: str(value)
            for name, value in {**plain, "devices": named, **_mapping(found.get("libraries"))}.items()
            if value not in (None, "")
        }

    old, new = flat(before), flat(now)
    return tuple(
        (name, old.get(name, "–"), new.get(name, "–"))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    )


def code(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The files that differ, each with its lines as in a unified diff."""
    found = []
    for path in dict.fromkeys([*now, *before]):
        old, new = before.get(path, ""), now.get(path, "")
        if old != new:
            lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2))[2:]
            found.append((path, (*lines[:MAX_DIFF], *(("…",) if len(lines) > MAX_DIFF else ()))))
    return tuple(found)


def shown_code(changes: tuple[tuple[str, tuple[str, ...]], ...], root: str) -> list[Json]:
    """Differences of files for the page, with paths relative to a folder where they lie in it."""
    inside = root + os.sep
    return [{"path": path.removeprefix(inside), "lines": list(lines)} for path, lines in changes]

"""The evidence for verdicts: the record of a training with what follows from it, and the texts of the user's files."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from torchsleuth.syntax.text import SourceText
from torchsleuth.training import Batches, BatchSample, Loss, Module, Optimizer, Parameter, Place, Series, Training

Sources = Callable[[str], SourceText]
ENOUGH = 3
"""Steps, or looks, that have to show a fault."""
TOO_LARGE = 1.0
"""Norm of an update, relative to that of the parameters: all of them are thrown over in one step."""


@dataclass(frozen=True)
class Finding:
    """A verdict. Of those with a `rank` above 0 only the lowest one is told, and only if none without a rank explains it:
    what is measured further down follows from what is wrong further up. `mild`: explains nothing else."""

    code: str
    place: Place | None
    text: str
    rank: int = 0
    mild: bool = False


@dataclass(frozen=True)
class Step:
    """All parameters in one step that was looked at: their norm, and those of their update and of their gradient, relative to
    it."""

    number: int
    norm: float
    update: float
    gradient: float


@dataclass(frozen=True)
class Course:
    """The losses of one line, in the order of the steps."""

    loss: Loss
    values: tuple[float, ...]
    bad: int
    first_bad: int | None
    count: int

    @property
    def early(self) -> float:
        """The median of the first tenth."""
        return median(self.values[: max(1, len(self.values) // 10)])

    @property
    def late(self) -> float:
        """The median of the last quarter."""
        return median(self.values[-max(1, len(self.values) // 4) :])


class Evidence:
    def __init__(self, training: Training, sources: Sources) -> None:
        self.training = training
        self.sources = sources
        self._trees: dict[str, ast.Module] = {}

    def tree(self, path: str) -> ast.Module:
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(self.sources(path).text)
            except (SyntaxError, ValueError, RecursionError):
                self._trees[path] = ast.Module([], [])
        return self._trees[path]

    def text(self, place: Place | None) -> str:
        """The expression at a place; its line where the columns are not known."""
        if place is None:
            return ""
        source = self.sources(place.path)
        if place.span is None:
            return source.line(place.line)
        start, end = (source.from_utf8(*place.span[index : index + 2]) for index in (0, 2))
        return source.slice(start, end)

    @cached_property
    def courses(self) -> tuple[Course, ...]:
        """The losses by line, those that were called for most often first."""
        by_line: dict[tuple[str, int] | None, list[Loss]] = {}
        for loss in self.training.losses:
            by_line.setdefault((loss.place.path, loss.place.line) if loss.place is not None else None, []).append(loss)
        return tuple(sorted((_course(losses) for losses in by_line.values()), key=lambda course: -course.count))

    @cached_property
    def stepped(self) -> tuple[Optimizer, ...]:
        """The optimizers that made steps; those that were made again for the same parameters count once."""
        return tuple(one for one in self.training.optimizers if one.steps and not one.again)

    @property
    def course(self) -> Course | None:
        """The losses, where there is one line of them and one optimizer, or none: a training of one thing."""
        by_hand = not self.training.optimizers and self.training.steps > 0
        single = len(self.stepped) == 1 and not self.stepped[0].closure
        simple = len(self.courses) == 1 and (single or by_hand)
        return self.courses[0] if simple and self.courses[0].values else None

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps that were looked at, with what all parameters together did."""
        return self.steps_of(self.training.parameters)

    def steps_of(self, parameters: Iterable[Parameter]) -> tuple[Step, ...]:
        """The steps in which some parameters were looked at, with what they did together."""
        sums: dict[int, list[float]] = {}
        for parameter in parameters:
            for sample in parameter.samples:
                if sample.norm is not None and sample.update is not None:
                    found = sums.setdefault(sample.step, [0.0, 0.0, 0.0])
                    found[0] += sample.norm**2
                    found[1] += (sample.norm * min(sample.update, 1e12)) ** 2
                    found[2] += min(sample.gradient or 0.0, 1e100) ** 2
        return tuple(
            Step(number, math.sqrt(norm), math.sqrt(update / norm), math.sqrt(gradient / norm))
            for number, (norm, update, gradient) in sorted(sums.items())
            if norm
        )

    def parameters_of(self, number: int) -> list[Parameter]:
        """The parameters that the optimizer with a number has."""
        return [one for one in self.training.parameters if one.optimizer == number]

    @property
    def norms(self) -> list[float]:
        """The norm of all parameters in the steps that were looked at."""
        return [step.norm for step in self.steps]

    @property
    def largest_update(self) -> float:
        return max((step.update for step in self.steps), default=0.0)

    def batches(self, role: str) -> tuple[Batches, ...]:
        return tuple(one for one in self.training.batches if one.role == role and one.samples)

    def samples(self, role: str) -> tuple[BatchSample, ...]:
        return tuple(sample for one in self.batches(role) for sample in one.samples)

    @cached_property
    def shares_of_labels(self) -> dict[str, float]:
        """The share of each class in the labels that were looked at."""
        return shares_of([one for one in self.samples("target") if one.labels])

    @property
    def guess(self) -> float:
        """The loss of a classifier that knows no more than how often each class occurs; 0 without labels."""
        return -sum(share * math.log(share) for share in self.shares_of_labels.values() if share > 0)

    @cached_property
    def roots(self) -> tuple[Module, ...]:
        """Modules that are part of no other one and were called or have parameters."""
        return tuple(one for one in self.training.modules if one.root and (one.calls or one.elements))

    def root_of(self, module: Module) -> Module:
        for _ in range(40):
            if module.parent is None or not 0 <= module.parent < len(self.training.modules):
                break
            module = self.training.modules[module.parent]
        return module

    @property
    def loss_place(self) -> Place | None:
        return self.courses[0].loss.place if self.courses else None

    @property
    def optimizer_place(self) -> Place | None:
        return self.stepped[0].place if self.stepped else None

    @property
    def update_place(self) -> Place | None:
        """Where the size of the steps is chosen: where the optimizer is made, or the loss of a script that updates by itself."""
        return self.optimizer_place if self.stepped else self.loss_place


def shares_of(samples: list[BatchSample]) -> dict[str, float]:
    counts: dict[str, float] = {}
    for one in samples:
        for label, count in (one.labels or {}).items():
            counts[label] = counts.get(label, 0.0) + count
    total = sum(counts.values()) or 1.0
    return {label: count / total for label, count in counts.items()}


def _course(losses: list[Loss]) -> Course:
    points = sorted((step, value) for loss in losses for step, value in loss.values.points if value is not None)
    bad = [loss.values.first_bad for loss in losses if loss.values.first_bad is not None]
    return Course(
        max(losses, key=lambda loss: loss.values.count),
        tuple(value for _, value in points),
        sum(loss.values.bad for loss in losses),
        min(bad, default=None),
        sum(loss.values.count for loss in losses),
    )


def falls_to(series: Series, share: float) -> bool:
    """Whether a series ends at a part of where it began, which is also its lowest."""
    first, last, low = series.first, series.last, series.low
    return first is not None and last is not None and low is not None and last <= share * first and last <= 4 * low

"""The record of a training as scalars, for those who have their dashboards in TensorBoard."""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.report.eventfiles import Scalar, written
from torchsleuth.report.losses import by_place
from torchsleuth.training import Series, Training

NAME = "events.out.tfevents.0.torchsleuth"


def event_file(training: Training | None) -> bytes:
    """An event file with all that was recorded over the steps."""
    return written(scalars(training) if training is not None else ())


def scalars(training: Training) -> Iterator[Scalar]:
    """In the order of the page: losses, learning rates, norms, memory, time, then parameters and activations."""
    for index, loss in enumerate(by_place(training)):
        yield from _of(f"loss/{loss.kind or 'loss'}" + (f"_{index}" if index else ""), loss.values)
    for number, optimizer in enumerate(training.optimizers):
        for index, group in enumerate(optimizer.groups):
            yield from _of(f"learning_rate/{optimizer.type}_{number}/group_{index}", group.rates)
    series = {
        "gradient_norm": training.gradient_norm,
        "scale": training.scale,
        "memory/process": training.memory,
        "memory/device": training.device_memory,
        "seconds/step": training.step_seconds,
    }
    for tag, values in {**series, **{f"seconds/{name}": one for name, one in training.phase_series.items()}}.items():
        yield from _of(tag, values)
    for parameter in training.parameters:
        for sample in parameter.samples:
            for tag, value in (("gradient_norm", sample.gradient), ("update_ratio", sample.update)):
                if value is not None and parameter.name:
                    yield Scalar(f"{tag}/{parameter.name}", sample.step, value)
    for activation in training.activations:
        for unit in activation.samples:
            for tag in ("mean", "std", "zeros", "dead", "saturated"):
                value = getattr(unit, tag)
                if value is not None:
                    yield Scalar(f"activation_{tag}/{activation.after or activation.function}", unit.step, value)


def _of(tag: str, series: Series) -> Iterator[Scalar]:
    for step, value in series.points:
        yield Scalar(tag, step, float("nan") if value is None else value)

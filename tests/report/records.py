"""Reports of runs that nobody has to run: records made by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from torchsleuth.runtime.report import RunReport
from torchsleuth.schema import Diagnostic, Position, Severity
from torchsleuth.training import (
    Activation,
    Batches,
    BatchSample,
    Group,
    Loader,
    Loss,
    Module,
    ModuleSample,
    Optimizer,
    Parameter,
    ParameterSample,
    Place,
    Series,
    Training,
)

SCRIPT = "/work/train.py"
PLACE = Place(SCRIPT, 3, (3, 4, 3, 20), "main")


def series(values: list[float]) -> Series:
    """A series whose steps are counted from 1."""
    finite = [value for value in values if math.isfinite(value)]
    bad = [step for step, value in enumerate(values, 1) if not math.isfinite(value)]
    return Series(
        len(values),
        1,
        tuple((step, value if math.isfinite(value) else None) for step, value in enumerate(values, 1)),
        values[0] if math.isfinite(values[0]) else None,
        values[-1] if math.isfinite(values[-1]) else None,
        min(finite, default=None),
        max(finite, default=None),
        values.index(min(finite)) + 1 if finite else None,
        values.index(max(finite)) + 1 if finite else None,
        len(bad),
        bad[0] if bad else None,
    )


def falling(count: int = 40) -> list[float]:
    return [1.5 * 0.95**step + 0.1 for step in range(count)]


def sound(values: list[float] | None = None, **changes: Any) -> Training:
    """A training of two layers as it should be."""
    values = falling() if values is None else values
    samples = tuple(ParameterSample(step, 0.5 / step, 0.0, True, True, 2.0, 1e-3) for step in (1, 2, 4, 8, 16, 32))
    parameters = tuple(
        Parameter(name, shape, True, 0, module, 6, 6, 6, 6, True, samples)
        for name, shape, module in [("0.weight", (8, 4), 1), ("0.bias", (8,), 1), ("2.weight", (3, 8), 3)]
    )
    batch = BatchSample(1, (16, 4), "float32", 0.01, 0.98, -2.5, 2.6)
    labels = BatchSample(1, (16,), "int64", 1.0, 0.8, 0, 2, labels={"0": 5, "1": 6, "2": 5})
    activation = tuple(ModuleSample(step, 0.4, 0.6, 0.0, 3.0, 0.5, 0.1) for step in (1, 2, 4))
    return replace(
        Training(
            steps=len(values),
            backwards=len(values),
            seconds=2.0,
            losses=(Loss(PLACE, series(values), "cross_entropy"),),
            optimizers=(Optimizer("SGD", PLACE, PLACE, (Group(3, 64, series([0.1] * len(values))),), len(values)),),
            parameters=parameters,
            modules=(
                Module("Sequential", "Sequential", PLACE, True, 67, 67, calls=len(values), optimized=True),
                Module("0", "Linear", PLACE, False, 40, 40, calls=len(values), optimized=True, parent=0),
                Module("1", "ReLU", PLACE, False, calls=len(values), parent=0),
                Module("2", "Linear", PLACE, False, 27, 27, calls=len(values), optimized=True, parent=0),
            ),
            activations=(Activation("relu", "0", PLACE, 0, activation),),
            batches=(Batches("input", PLACE, (batch,)), Batches("target", PLACE, (labels,))),
            loaders=(Loader(PLACE, "TensorDataset", 640, 16, 0, False, True, 1, 40, 40, 0.1),),
            gradient_norm=series([1.0 / step for step in range(1, len(values) + 1)]),
            step_seconds=series([0.01] * len(values)),
            phases={"data": 0.1, "forward": 0.2, "backward": 0.3, "optimizer": 0.1, "evaluation": 0.0, "other": 0.0},
            memory=series([3e8, 3.01e8, 3.01e8]),
            seeded=True,
        ),
        **changes,
    )


def finding(
    message: str = "wrong", path: str = SCRIPT, line: int = 3, code: str = "TS501", severity: Severity = "warning"
) -> Diagnostic:
    return Diagnostic(
        path, code, "missing-zero-grad", severity, message, Position(line, 1), Position(line, 9), layer="run"
    )


def report(training: Training | None = None, *diagnostics: Diagnostic, **changes: Any) -> RunReport:
    """A report of a run that ended well."""
    versions = {
        "python": "3.11.7",
        "executable": "/usr/bin/python3",
        "platform": "Linux",
        "libraries": {"torch": "2.13"},
    }
    made = RunReport(SCRIPT, 0, False, None, diagnostics, (), 2.5, (SCRIPT,), recorded=training, versions=versions)
    return replace(made, **changes)

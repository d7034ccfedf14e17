"""The models of torchvision and timm: what the analysis says of a call, against what the call returns."""

from __future__ import annotations

import contextlib
import fnmatch
import gc
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from torchsleuth.worker.engine import Engine

MAX_PARAMETERS = 100_000_000
"""Larger models are not executed."""
_SIZES = (224, 256, 299, 384, 64)
"""Heights and widths of the pictures, the first of them that the model accepts."""


@dataclass(frozen=True)
class Outcome:
    """One model. `stated`: the shape that the analysis gives, None where it gives none; `seconds` that it took."""

    name: str
    stated: tuple[Any, ...] | None
    returned: tuple[int, ...]
    seconds: float
    findings: tuple[str, ...]


def builders(package: str, pattern: str) -> list[str]:
    """Expressions that build the models of a package whose names match."""
    if package == "timm":
        import timm

        return [f"timm.create_model({name!r})" for name in timm.list_models(pattern)]
    from torchvision import models

    listed = fnmatch.filter(models.list_models(module=models), pattern)
    return [f"models.get_model({name!r})" for name in listed]


def compare(package: str, pattern: str, every: int) -> Iterator[Outcome]:
    """Every Nth model of a package, in evaluation mode."""
    engine = Engine()
    head = "import timm\n" if package == "timm" else "from torchvision import models\n"
    for builder in builders(package, pattern)[::every]:
        executed = _executed(head, builder)
        if executed is None:
            continue
        size, returned = executed
        text = f"import torch\n{head}model = {builder}.eval()\ny = model(torch.randn(2, 3, {size}, {size}))\n"
        began = time.perf_counter()
        found = engine.analyze("model.py", text)
        taken = time.perf_counter() - began
        stated = next((fact.shape for fact in found.facts if fact.expression == "y"), None)
        yield Outcome(builder, stated, returned, taken, tuple(item.message for item in found.diagnostics))


def _executed(head: str, builder: str) -> tuple[int, tuple[int, ...]] | None:
    """The size of the pictures and the shape of the result; None where it is not executed, or is no tensor."""
    names: dict[str, Any] = {}
    exec(head, names)
    model = eval(builder, names).eval()
    if sum(parameter.numel() for parameter in model.parameters()) > MAX_PARAMETERS:
        return None
    try:
        for size in _SIZES:
            with contextlib.suppress(Exception), torch.no_grad():
                value = model(torch.randn(2, 3, size, size))
                return (size, tuple(value.shape)) if isinstance(value, torch.Tensor) else None
    finally:
        del model
        gc.collect()
    return None


def report(package: str, pattern: str, every: int) -> int:
    """Print each model that is not as it should be, and the sums; how many are wrong."""
    outcomes = []
    for outcome in compare(package, pattern, every):
        outcomes.append(outcome)
        if outcome.stated != outcome.returned or outcome.findings:
            print(f"{outcome.name}: {json.dumps(outcome.stated)}, returned {outcome.returned} {outcome.findings}")
    decided = [outcome for outcome in outcomes if outcome.stated is not None]
    wrong = [outcome for outcome in decided if outcome.stated != outcome.returned]
    flagged = [outcome for outcome in outcomes if outcome.findings]
    times = sorted(outcome.seconds for outcome in outcomes) or [0.0]
    print(f"{package}: {len(outcomes)} models, {len(decided)} decided, {len(wrong)} wrong, {len(flagged)} flagged")
    print(f"first analysis of a script of one: median {times[len(times) // 2]:.2f} s, at most {times[-1]:.2f} s")
    return len(wrong) + len(flagged)


def main() -> None:
    import argparse

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", choices=("torchvision", "timm"))
    parser.add_argument("--pattern", default="*")
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    raise SystemExit(bool(report(given.package, given.pattern, given.every)))


if __name__ == "__main__":
    main()

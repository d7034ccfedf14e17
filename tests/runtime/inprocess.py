"""Runs source text in this process, rewritten and recorded, so that a crash costs no new interpreter."""

from __future__ import annotations

import builtins
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from torchsleuth.errors.diagnose import crash_diagnostic
from torchsleuth.runtime.crash import CrashReporter
from torchsleuth.runtime.recorder import Recorder
from torchsleuth.runtime.registry import ConstructorRegistry
from torchsleuth.runtime.report import Collector, RunReport, read_sources
from torchsleuth.runtime.rewrite import (
    CALLED,
    CAUGHT,
    DIFFERENTIATED,
    GRADIENTS,
    IMPORTED,
    LOSS,
    RECORDER,
    Site,
    rewrite,
)
from torchsleuth.runtime.watch import TrainingWatch
from torchsleuth.schema import Diagnostic


class MemoryStream:
    """Takes events as the pipe would: through JSON."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def send(self, kind: str, **fields: Any) -> bool:
        self.events.append(json.loads(json.dumps({"event": kind, **fields}, default=str)))
        return True


class Observed:
    """One execution: what was recorded, the error that ended it, and its report."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
        self.error: BaseException | None = None
        self.stream = MemoryStream()
        self.training: dict[str, Any] | None = None

    def report(self) -> RunReport:
        collector = Collector()
        for event in self.stream.events:
            collector.add(event)
        return collector.report(str(self.path), 1 if self.error else 0, False, 0.0)

    @property
    def diagnostic(self) -> Diagnostic:
        crash = next(event for event in self.stream.events if event["event"] == "crash")
        found = crash_diagnostic(crash, read_sources(crash["sources"]))
        assert found is not None
        return found

    @property
    def crash(self) -> dict[str, Any]:
        return next(event for event in self.stream.events if event["event"] == "crash")


@contextmanager
def recording(
    record: Callable[[int, Any], Any], see_loss: Callable[[Any], Any] = lambda value: value
) -> Iterator[None]:
    setattr(builtins, RECORDER, record)
    setattr(builtins, LOSS, see_loss)
    setattr(builtins, CALLED, lambda name, value: value)
    setattr(builtins, DIFFERENTIATED, lambda pair: pair)
    setattr(builtins, GRADIENTS, lambda found: found)
    setattr(builtins, IMPORTED, lambda: None)
    setattr(builtins, CAUGHT, lambda last: None)
    try:
        yield
    finally:
        delattr(builtins, RECORDER)
        delattr(builtins, LOSS)
        delattr(builtins, CALLED)
        delattr(builtins, DIFFERENTIATED)
        delattr(builtins, GRADIENTS)
        delattr(builtins, IMPORTED)
        delattr(builtins, CAUGHT)


def execute(path: Path, text: str, *, careful: bool = False) -> Observed:
    """Write a script and run it here as a run process would."""
    path.write_text(text)
    observed = Observed(path)
    sites: list[Site] = []
    texts = {str(path): text.encode()}

    def owns(file: str) -> bool:
        return file == str(path)

    recorder = Recorder(sites, observed.stream)  # type: ignore[arg-type]
    registry = ConstructorRegistry(owns)
    registry.install(torch)
    watch = TrainingWatch()
    watch.install(torch, sys.modules["torch.optim.optimizer"])
    recorder.install(torch, sys.modules["torch.optim.optimizer"])
    try:
        with recording(recorder.make_record(torch, careful=careful), watch.see_loss):
            exec(rewrite(text, str(path), sites), observed.namespace)
    except Exception as error:
        observed.error = error
        traceback = error.__traceback__.tb_next if error.__traceback__ is not None else None
        reporter = CrashReporter(owns, registry, recorder, texts)
        observed.stream.send("crash", **reporter.report(error, traceback))
    finally:
        watch.remove()
        recorder.samples.remove()
        registry.remove()
        recorder.flush()
    observed.training = watch.result()
    return observed

"""Asks the analysis about a crash: how ``torchsleuth run`` and ``torchsleuth fix`` get its explanation and its fixes."""

from __future__ import annotations

import os
from types import TracebackType

from torchsleuth.runtime.session import RunReport
from torchsleuth.schema import Diagnostic
from torchsleuth.syntax.files import Unreadable, read_source
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable


class Explainer:
    """A worker that is started when a script has crashed, and ends with the block."""

    def __init__(self, interpreter: str) -> None:
        self._worker = WorkerClient(interpreter)

    def __enter__(self) -> Explainer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._worker.close()

    def explain(self, report: RunReport) -> RunReport:
        """The report with what the analysis knows; as it was where the interpreter cannot analyse."""
        found: list[Diagnostic] = []
        try:
            for path in report.crashed_files:
                found += self._worker.analyze(path, read_source(path), roots=(os.getcwd(),)).diagnostics
        except (WorkerUnavailable, Unreadable):
            return report
        return report.explained(found)

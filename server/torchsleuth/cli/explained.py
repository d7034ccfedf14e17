"""Asks the analysis about a run: how ``torchsleuth run`` and ``torchsleuth fix`` get the explanation and the fixes of a crash, and
what the text tells of a training."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from types import TracebackType

from torchsleuth.cli.output import complain
from torchsleuth.cli.render import source_reader
from torchsleuth.control.configuration import Configurations
from torchsleuth.control.selection import ConfigurationError
from torchsleuth.control.shown import shown
from torchsleuth.runtime.session import RunReport
from torchsleuth.schema import Diagnostic, Json
from torchsleuth.syntax.files import Unreadable, read_source
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable


class Explainer:
    """A worker that is started when a script has made tensors, or crashed, and ends with the block."""

    def __init__(self, interpreter: str) -> None:
        self._worker = WorkerClient(interpreter)
        self._starting: threading.Thread | None = None

    def follow(self, event: Json) -> None:
        """The worker starts beside a run that has made tensors, so that nobody waits for it when the run has ended."""
        if event.get("event") == "facts" and self._starting is None:
            self._starting = threading.Thread(target=self._start, daemon=True)
            self._starting.start()

    def _start(self) -> None:
        with contextlib.suppress(WorkerUnavailable):
            self._worker.start()

    def __enter__(self) -> Explainer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._worker.close()

    def explain(self, report: RunReport) -> RunReport:
        """The report with what the analysis knows, of files that are still what ran; as it was where the interpreter cannot
        analyse."""
        began = time.time() - report.seconds
        found: list[Diagnostic] = []
        try:
            for path in report.analysed_files:
                if os.path.isfile(path) and os.stat(path).st_mtime <= began:
                    found += self._worker.analyze(path, read_source(path), roots=(os.getcwd(),)).diagnostics
        except (WorkerUnavailable, Unreadable, OSError):
            return report
        return report.explained(found).with_text(_wanted(found))


def _wanted(found: list[Diagnostic]) -> list[Diagnostic]:
    """Those that the user wants to see."""
    try:
        return shown(found, Configurations().of, source_reader({}))
    except ConfigurationError as error:
        complain(str(error))
        return []

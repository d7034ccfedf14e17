"""The other end of the worker: starts it, asks it, kills it when it takes too long, starts it again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from torchsleuth.schema import FileAnalysis
from torchsleuth.worker.wire import Message, read, write

StateListener = Callable[[str, str], None]
"""Called with (state, detail); states: starting, ready, busy, restarting, unavailable, stopped."""

START_SECONDS = 120.0
"""Time a new worker has to import torch."""
MAX_RESTARTS = 5
"""Deaths in a row, without a single answer in between, after which the worker is given up."""
_ROOT = str(Path(__file__).resolve().parents[2])


class WorkerUnavailable(Exception):
    """The interpreter cannot run the analysis; the message says why."""


class WorkerClient:
    """One worker process. Thread-safe: requests are served one after the other."""

    def __init__(self, interpreter: str | None = None, listener: StateListener | None = None) -> None:
        self.interpreter = interpreter or sys.executable
        self.torch: str | None = None
        self.python: str | None = None
        self._listener = listener or (lambda state, detail: None)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[Message | None] = queue.Queue()
        self._deadly: set[str] = set()
        self._deaths = 0
        self._next = 0
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Process id of the running worker."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start the worker and wait until it is ready. Raises WorkerUnavailable."""
        with self._lock:
            self._ensure()

    def analyze(
        self,
        path: str,
        text: str,
        overlay: Mapping[str, str] | None = None,
        roots: tuple[str, ...] = (),
        verify: bool = True,
        budget_s: float = 60.0,
    ) -> FileAnalysis:
        """The analysis of a document. A worker that dies of it or exceeds the budget is replaced, and that very text
        is not tried again: the answer is then empty and says so in `stats["incomplete"]`. Raises
        WorkerUnavailable if the interpreter cannot run the analysis at all."""
        with self._lock:
            fingerprint = hashlib.sha256(f"{path}\0{text}".encode(errors="replace")).hexdigest()
            if fingerprint in self._deadly:
                return _empty(path, "this text made the analysis fail before; it is tried again when it changes")
            self._ensure()
            self._listener("busy", path)
            self._next += 1
            parameters = {"path": path, "text": text, "overlay": dict(overlay or {}), "roots": roots, "verify": verify}
            answer = self._ask({"id": self._next, "method": "analyze", "params": parameters}, budget_s)
            if answer is None:
                self._deadly.add(fingerprint)
                self._deaths += 1
                self._kill()
                if not self._closed:
                    self._listener("restarting", "the analysis did not answer in time or ended unexpectedly")
                return _empty(path, "the analysis did not finish and was stopped")
            self._deaths = 0
            self._listener("ready", self._detail())
            if "error" in answer:
                return _empty(path, str(answer["error"]).strip().splitlines()[-1], str(answer["error"]))
            return FileAnalysis.from_json(answer["result"])

    def close(self) -> None:
        """End the worker, even in the middle of an analysis."""
        self._closed = True
        self._kill()
        self._listener("stopped", "")

    def _detail(self) -> str:
        return f"torch {self.torch}, Python {self.python}"

    def _ask(self, request: Message, budget_s: float) -> Message | None:
        process = self._process
        assert process is not None and process.stdin is not None
        try:
            write(process.stdin, request)
        except OSError:
            return None
        try:
            return self._answers.get(timeout=budget_s)
        except queue.Empty:
            return None

    def _ensure(self) -> None:
        if self._closed:
            raise WorkerUnavailable("the analysis was stopped")
        if self._process is not None and self._process.poll() is None:
            return
        if self._deaths >= MAX_RESTARTS:
            raise WorkerUnavailable(f"the analysis ended unexpectedly {self._deaths} times in a row")
        self._kill()
        self._listener("starting", self.interpreter)
        self._answers = queue.Queue()
        environment = {**os.environ, "PYTHONPATH": _python_path(), "PYTHONUNBUFFERED": "1"}
        try:
            self._process = subprocess.Popen(
                [self.interpreter, "-m", "torchsleuth.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            reason = f"{self.interpreter} cannot be started: {error.strerror or error}"
            self._listener("unavailable", reason)
            raise WorkerUnavailable(reason) from error
        assert self._process.stdout is not None
        threading.Thread(target=_pump, args=(self._process.stdout, self._answers), daemon=True).start()
        try:
            hello = self._answers.get(timeout=START_SECONDS)
        except queue.Empty:
            hello = None
        if hello is None or hello.get("method") != "ready":
            parameters = (hello or {}).get("params", {})
            reason = parameters.get("reason", f"{self.interpreter} ended before the analysis was ready")
            self._kill()
            self._listener("unavailable", reason)
            raise WorkerUnavailable(reason)
        self.torch, self.python = hello["params"]["torch"], hello["params"]["python"]
        self._listener("ready", self._detail())

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        for stream in (process.stdin,):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()


def _python_path() -> str:
    """The folder of this package first, then whatever the user's environment has."""
    rest = os.environ.get("PYTHONPATH")
    return os.pathsep.join([_ROOT, *([rest] if rest else [])])


def _pump(stream: IO[bytes], answers: queue.Queue[Message | None]) -> None:
    """Move answers from the pipe to the queue; None when the worker is gone."""
    with stream:
        while (message := read(stream)) is not None:
            answers.put(message)
    answers.put(None)


def _empty(path: str, reason: str, details: str | None = None) -> FileAnalysis:
    stats = {"incomplete": reason} if details is None else {"incomplete": reason, "traceback": details}
    return FileAnalysis(path, stats=stats)

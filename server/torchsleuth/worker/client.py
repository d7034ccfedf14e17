"""The other end of the worker: starts it, asks it, kills it when it takes too long, starts it again."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO

from torchsleuth.messages import message
from torchsleuth.schema import FileAnalysis
from torchsleuth.worker import bootstrap
from torchsleuth.worker.wire import SYNTAX, Message, read, write

StateListener = Callable[[str, str], None]
"""Called with (state, detail); states: starting, ready, busy, restarting, unavailable, stopped."""

START_SECONDS = 120.0
"""Time a new worker has to import torch."""
MAX_DEATHS = 8
"""Deaths in a row, without a single answer in between, after which the worker is given up."""
LONGEST_PAUSE_SECONDS = 30.0
"""Pause before a restart: none after the first death in a row, then 1 s, 2 s, 4 s … up to this."""


class WorkerUnavailable(Exception):
    """The interpreter cannot run the analysis; the message says why."""


class WorkerClient:
    """One worker process. Thread-safe: requests are served one after the other."""

    def __init__(
        self,
        interpreter: str | None = None,
        listener: StateListener | None = None,
        command: list[str] | None = None,
        syntax: bool = False,
    ) -> None:
        """`syntax`: without PyTorch, and only the rules that need none."""
        self.interpreter = interpreter or sys.executable
        self.torch: str | None = None
        self.python: str | None = None
        self.vocabulary: frozenset[str] = frozenset()
        """Attributes of the libraries that are installed there."""
        self._command = command or bootstrap.command(self.interpreter, "torchsleuth.worker")
        if syntax:
            self._command = [*self._command, SYNTAX]
        self._listener = listener or (lambda state, detail: None)
        self._requests = threading.Lock()
        self._processes = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[Message | None] = queue.Queue()
        self._deadly: set[str] = set()
        self._deaths = 0
        self._next = 0
        self._unavailable: str | None = None
        self._busy = False
        self._closed = threading.Event()

    @property
    def pid(self) -> int | None:
        """Process id of the running worker."""
        process = self._process
        return process.pid if process is not None else None

    def start(self) -> None:
        """Start the worker and wait until it is ready. Raises WorkerUnavailable."""
        with self._requests:
            self._ensure()

    def analyze(
        self,
        path: str,
        text: str,
        overlay: Mapping[str, str] | None = None,
        roots: tuple[str, ...] = (),
        verify: bool = True,
        codes: Sequence[str] | None = None,
        budget_s: float = 60.0,
    ) -> FileAnalysis:
        """The analysis of a document. A worker that dies of it or exceeds the budget is replaced, and that very text
        is not tried again: the answer is then empty and says so in `stats["incomplete"]`. Raises
        WorkerUnavailable if the interpreter cannot run the analysis at all."""
        parameters = {"path": path, "text": text, "overlay": dict(overlay or {}), "roots": roots, "verify": verify}
        return self._served("analyze", parameters, codes, budget_s)

    def repair(
        self,
        path: str,
        text: str,
        overlay: Mapping[str, str] | None = None,
        roots: tuple[str, ...] = (),
        codes: Sequence[str] | None = None,
        seconds: float = math.inf,
        budget_s: float = 60.0,
    ) -> FileAnalysis:
        """The analysis with verified fixes, as many as were verified within about `seconds`; `stats["unverified"]` says
        whether there is more to do. Otherwise as `analyze`."""
        parameters = {"path": path, "text": text, "overlay": dict(overlay or {}), "roots": roots, "seconds": seconds}
        return self._served("repair", parameters, codes, budget_s)

    def _served(self, method: str, parameters: Message, codes: Sequence[str] | None, budget_s: float) -> FileAnalysis:
        path, text = parameters["path"], parameters["text"]
        if codes is not None:
            parameters["codes"] = list(codes)
        with self._requests:
            fingerprint = hashlib.sha256(f"{method}\0{path}\0{text}".encode(errors="replace")).hexdigest()
            if fingerprint in self._deadly:
                return _empty(path, message("worker.deadly_text"))
            process = self._ensure()
            self._listener("busy", path)
            self._next += 1
            answer = self._ask(process, {"id": self._next, "method": method, "params": parameters}, budget_s)
            if answer is None:
                if self._closed.is_set():
                    raise WorkerUnavailable(message("worker.closed"))
                self._deadly.add(fingerprint)
                self._deaths += 1
                self._kill()
                self._listener("restarting", message("worker.died", path=path))
                return _empty(path, message("worker.unfinished"))
            self._deaths = 0
            self._listener("ready", self._detail())
            if "error" in answer:
                return _empty(path, str(answer["error"]).strip().splitlines()[-1], str(answer["error"]))
            return FileAnalysis.from_json(answer["result"])

    def interrupt(self) -> None:
        """Give up the analysis that runs now; it answers as one that exceeded its budget."""
        if self._busy:
            self._signal()

    def close(self) -> None:
        """End the worker for good, even in the middle of an analysis."""
        self._closed.set()
        self._kill()
        self._listener("stopped", "")

    def _detail(self) -> str:
        return message("worker.ready", torch=self.torch, python=self.python)

    def _ask(self, process: subprocess.Popen[bytes], request: Message, budget_s: float) -> Message | None:
        """The answer; None when the worker died or was killed for exceeding the budget."""
        assert process.stdin is not None
        with self._budget(budget_s):
            self._busy = True
            try:
                write(process.stdin, request)
                return self._answers.get()
            except (OSError, ValueError):  # ValueError: closed meanwhile, by close()
                return None
            finally:
                self._busy = False

    @contextlib.contextmanager
    def _budget(self, seconds: float) -> Iterator[None]:
        """Kill the worker after `seconds`: that ends a blocked write and a missing answer alike."""
        timer = threading.Timer(seconds, self._signal)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _ensure(self) -> subprocess.Popen[bytes]:
        """A worker that is ready. Raises WorkerUnavailable, and remembers it: no start is tried twice in vain."""
        if self._closed.is_set():
            raise WorkerUnavailable(message("worker.closed"))
        if self._unavailable is not None:
            raise WorkerUnavailable(self._unavailable)
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._kill()
        if self._deaths >= MAX_DEATHS:
            raise self._give_up(message("worker.given_up", count=self._deaths))
        if self._deaths > 1:
            self._closed.wait(min(2.0 ** (self._deaths - 2), LONGEST_PAUSE_SECONDS))
        self._listener("starting", self.interpreter)
        process = self._spawn()
        with self._budget(START_SECONDS):
            hello = self._answers.get()
        if self._closed.is_set():
            raise WorkerUnavailable(message("worker.closed"))
        if hello is None or hello.get("method") != "ready":
            reason = (hello or {}).get("params", {}).get("reason")
            self._kill()
            raise self._give_up(reason or message("worker.no_start", python=self.interpreter))
        self.torch, self.python = hello["params"]["torch"], hello["params"]["python"]
        self.vocabulary = frozenset(hello["params"]["words"])
        self._listener("ready", self._detail())
        return process

    def _give_up(self, reason: str) -> WorkerUnavailable:
        self._unavailable = reason
        self._listener("unavailable", reason)
        return WorkerUnavailable(reason)

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self._processes:
            if self._closed.is_set():
                raise WorkerUnavailable(message("worker.closed"))
            try:
                process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                detail = getattr(error, "strerror", None) or error
                raise self._give_up(message("worker.cannot_start", python=self.interpreter, error=detail)) from error
            self._process = process
        self._answers = queue.Queue()
        assert process.stdout is not None
        arguments = (process.stdout, self._answers)
        threading.Thread(target=_pump, args=arguments, name="torchsleuth-answers", daemon=True).start()
        return process

    def _signal(self) -> None:
        """Kill the worker's whole process group."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)

    def _kill(self) -> None:
        self._signal()
        with self._processes:
            process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        process.wait()


def _pump(stream: IO[bytes], answers: queue.Queue[Message | None]) -> None:
    """Move answers from the pipe to the queue; None when the worker is gone."""
    with stream:
        while (answer := read(stream)) is not None:
            answers.put(answer)
    answers.put(None)


def _empty(path: str, reason: str, details: str | None = None) -> FileAnalysis:
    stats = {"incomplete": reason} if details is None else {"incomplete": reason, "traceback": details}
    return FileAnalysis(path, stats=stats)

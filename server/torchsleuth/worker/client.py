"""The other end of the worker: starts it, asks it, kills it when it takes too long, starts it again."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

from torchsleuth.messages import message
from torchsleuth.schema import FileAnalysis
from torchsleuth.sifting import as_kind
from torchsleuth.worker import bootstrap
from torchsleuth.worker.blame import Blame, Death
from torchsleuth.worker.progress import VARIABLE, Record
from torchsleuth.worker.request import Analyzer, Request
from torchsleuth.worker.structure import structure
from torchsleuth.worker.wire import SYNTAX, Message, read, write

StateListener = Callable[[str, str], None]
"""Called with (state, detail); states: starting, ready, busy, restarting, unavailable, stopped."""

START_SECONDS = 120.0
"""Time a new worker has to import torch."""
START_DEATHS = 8
"""Deaths in a row of a worker that is starting, after which those who wait for it are told. It is tried again later."""
LONGEST_PAUSE_SECONDS = 30.0
"""Pause before a restart: none after the first death in a row, then 1 s, 2 s, 4 s … up to this."""
ENDING_SECONDS = 2.0
"""Time a worker has to end that has closed its pipe."""
STILL = 0.02
"""The part of the processor below which a worker is not working. It waits for something, or is kept from saying how long it has
worked, which only what hangs does for so long."""
_FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
"""Signals that somebody sends; others a program brings upon itself."""


class WorkerUnavailable(Exception):
    """The interpreter cannot run the analysis now; the message says why."""


class _Died(Exception):
    """The worker was killed before it was ready."""


class WorkerClient(Analyzer):
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
        self.search_path: tuple[str, ...] = ()
        """Where the interpreter looks for modules."""
        self.problem: str | None = None
        """The problem of the interpreter, where it says so itself: the name of the message, such as ``no_torch``."""
        self.site: tuple[str, ...] = ()
        """Where libraries are installed in such an interpreter."""
        self._command = command or bootstrap.command(self.interpreter, "torchsleuth.worker.__main__")
        if syntax:
            self._command = [*self._command, SYNTAX]
        self._listener = listener or (lambda state, detail: None)
        self._requests = threading.Lock()
        self._processes = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._record: Record | None = None
        self._answers: queue.Queue[Message | None] = queue.Queue()
        self._blame = Blame()
        self._deaths = 0
        """In a row, without an answer in between."""
        self._failures = 0
        """Starts in a row that were in vain."""
        self._next = 0
        self._withdrawable = 0
        """The number of the request that can be withdrawn, 0 where there is none."""
        self._unavailable: str | None = None
        self._not_before = 0.0
        self._lasting = False
        self._busy = False
        self._interrupted = False
        self._signalled = False
        self._ready = False
        self._closed = threading.Event()

    @property
    def pid(self) -> int | None:
        """Process id of the running worker."""
        process = self._process
        return process.pid if process is not None else None

    @property
    def retry_seconds(self) -> float | None:
        """When it is worth while to ask an unavailable worker again: after so much time, or None: when something may have
        changed. Before that, nothing is tried."""
        if self._unavailable is None:
            return 0.0
        return None if self._lasting else max(0.0, self._not_before - time.monotonic())

    def start(self) -> None:
        """Start the worker and wait until it is ready. Raises WorkerUnavailable."""
        with self._requests:
            self._ensure()

    def ask(
        self,
        request: Request,
        budget_s: float | None = None,
        patient: bool = True,
        wanted: Callable[[], bool] | None = None,
    ) -> FileAnalysis:
        """The answer to a request. A worker that dies of it or exceeds the budget is replaced, and asked again; what it dies of
        twice is left out from then on, and `stats["incomplete"]` says so. Unless `patient`, an answer with `stats["died"]`
        comes instead of asking again. With `wanted`, the request can be withdrawn: where it is false before the worker is
        asked, and by `withdraw` from then on, an answer with `stats["withdrawn"]` comes at once. Raises WorkerUnavailable if
        the interpreter cannot run the analysis."""
        budget_s = request.seconds_at_most if budget_s is None else budget_s
        with self._requests:
            while True:
                analysis = self._attempt(request, budget_s, wanted)
                if not (patient and analysis.stats.get("died")):
                    return analysis

    def withdraw(self) -> None:
        """Do without the answer to the request that is being served, if it can be withdrawn. Never waits."""
        number, record = self._withdrawable, self._record
        if number and record is not None:
            record.withdraw(number)

    def _attempt(self, asked: Request, budget_s: float, wanted: Callable[[], bool] | None) -> FileAnalysis:
        path, text = asked.path, asked.text
        if self._blame.refuses(path, text):
            return _empty(path, message("worker.deadly_text"))
        process = self._ensure()
        self._next += 1
        if wanted is None:
            self._listener("busy", path)
        else:
            # In this order: whoever withdraws it either finds the number, or is found here.
            self._withdrawable = self._next
            if not wanted():
                self._withdrawable = 0
                return FileAnalysis(path, stats={"withdrawn": True})
        request = {"id": self._next, "method": asked.method, "params": asked.to_json()}
        if self._blame.left_out:
            request["left_out"] = self._blame.left_out
        answer = self._ask(process, request, budget_s)
        self._withdrawable = 0
        if answer is None:
            if self._closed.is_set():
                raise WorkerUnavailable(message("worker.closed"))
            interrupted, self._interrupted = self._interrupted, False
            ours = self._signalled or not _ends(process)
            self._kill()
            if interrupted:
                self._listener("restarting", message("worker.interrupted"))
                return _empty(path, message("worker.interrupted"))
            self._deaths += 1
            running = self._record.running(self._next) if self._record is not None else ()
            # Where the request had not begun, the death has nothing to do with this document.
            killed = running is None or (not ours and _was_killed(process.returncode))
            self._blame.died(path, text, Death(running or (), killed))
            self._listener("restarting", message("worker.died", path=path))
            return _empty(path, message("worker.unfinished"), died=True)
        self._deaths = 0
        self._blame.answered(path)
        self._listener("ready", self._detail())
        if "error" in answer:
            details = str(answer["error"])
            return _empty(path, details.strip().splitlines()[-1], traceback=details)
        return structure(answer["result"], FileAnalysis)

    def interrupt(self) -> None:
        """Give up the analysis that runs now; its answer is empty and says so."""
        if self._busy:
            self._interrupted = True
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
        record = self._record
        with self._budget(budget_s, lambda: 0.0 if record is None else record.used):
            self._busy = True
            try:
                write(process.stdin, request)
                return self._answers.get()
            except (OSError, ValueError):  # ValueError: closed meanwhile, by close()
                return None
            finally:
                self._busy = False

    @contextlib.contextmanager
    def _budget(self, seconds: float, used: Callable[[], float] = lambda: 0.0) -> Iterator[None]:
        """Kill the worker when it has taken `seconds`: that ends a blocked write and a missing answer alike. On a busy machine it
        has longer, as long as it works: `used` tells its seconds of the processor."""
        done = threading.Event()

        def watch() -> None:
            if is_overdue(seconds, used, done.wait):
                self._signal()

        threading.Thread(target=watch, name="torchsleuth-budget", daemon=True).start()
        try:
            yield
        finally:
            done.set()

    def _ensure(self) -> subprocess.Popen[bytes]:
        """A worker that is ready. Raises WorkerUnavailable; for a while after that, nothing is tried."""
        if self._process is not None and self._process.poll() is None and not self._closed.is_set():
            return self._process
        if self._unavailable is not None and time.monotonic() < self._not_before:
            raise WorkerUnavailable(self._unavailable)
        self._deaths += self._process is not None
        for attempt in range(START_DEATHS):
            self._kill()
            if self._deaths + attempt > 1:
                self._closed.wait(_pause(self._deaths + attempt - 2))
            if self._closed.is_set():
                raise WorkerUnavailable(message("worker.closed"))
            if self._unavailable is None:
                self._listener("starting", self.interpreter)
            try:
                return self._start()
            except _Died:
                if self._unavailable is None:
                    self._listener("restarting", message("worker.died_starting", python=self.interpreter))
        raise self._give_up(message("worker.given_up", count=START_DEATHS))

    def _start(self) -> subprocess.Popen[bytes]:
        """A worker that said that it is ready. Raises WorkerUnavailable, or _Died if somebody killed it."""
        process = self._spawn()
        with self._budget(START_SECONDS):
            hello = self._answers.get()
        if self._closed.is_set():
            raise WorkerUnavailable(message("worker.closed"))
        said = _said(hello)
        if hello is None or hello.get("method") != "ready" or not _HELLO <= said.keys():
            reason, self.problem, self.site = said.get("reason"), said.get("problem"), tuple(said.get("site", ()))
            # Late, or it goes on without its pipe: then it is we who end it.
            ours = self._signalled or (hello is None and not _ends(process))
            self._kill()
            if hello is None and not ours and _was_killed(process.returncode):
                raise _Died
            raise self._give_up(reason or message("worker.no_start", python=self.interpreter), reason is not None)
        self.torch, self.python = said["torch"], said["python"]
        self.vocabulary = frozenset(said["words"])
        self.search_path = tuple(said.get("search_path", ()))
        self._unavailable, self._failures, self._ready = None, 0, True
        self._listener("ready", self._detail())
        return process

    def _give_up(self, reason: str, lasting: bool = False) -> WorkerUnavailable:
        """For now. `lasting`: it will not get better by itself."""
        if reason != self._unavailable:
            self._listener("unavailable", reason)
        self._unavailable, self._lasting = reason, lasting
        self._not_before = time.monotonic() + _pause(self._failures)
        self._failures += 1
        return WorkerUnavailable(reason)

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self._processes:
            if self._closed.is_set():
                raise WorkerUnavailable(message("worker.closed"))
            self._answers, self._signalled, self._ready = queue.Queue(), False, False
            self._record = _record()
            started: queue.Queue[subprocess.Popen[bytes] | Exception] = queue.Queue()
            arguments = (self._command, self._record, started, self._answers, self._ended)
            threading.Thread(target=_keep, args=arguments, name="torchsleuth-worker-process", daemon=True).start()
            process = started.get()
            if isinstance(process, Exception):
                detail = getattr(process, "strerror", None) or process
                reason = message("worker.cannot_start", python=self.interpreter, error=detail)
                raise self._give_up(reason) from process
            self._process = process
            return process

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        """A worker is gone, for whatever reason."""
        if process is self._process and self._ready and not (self._busy or self._signalled or self._closed.is_set()):
            self._listener("restarting", message("worker.died_idle"))

    def _signal(self) -> None:
        """Kill the worker that is running, if one is."""
        process = self._process
        if process is not None:
            self._signal_to(process)

    def _signal_to(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a worker's whole process group."""
        if process.poll() is not None:
            return
        self._signalled = True
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)

    def _kill(self) -> None:
        with self._processes:  # one that is being started just now is waited for, and killed too
            process, self._process = self._process, None
        if process is None:
            return
        self._signal_to(process)
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        process.wait()


_HELLO = {"torch", "python", "words"}
"""Parts of the least that a worker says of itself when it is ready."""


def _said(hello: Message | None) -> Message:
    """The words of a process about itself; nothing where it is no worker."""
    said = as_kind((hello or {}).get("params"), dict)
    return said if said is not None else {}


def is_overdue(seconds: float, used: Callable[[], float], wait: Callable[[float], bool]) -> bool:
    """Whether something hangs: it has taken `seconds` of the processor, or next to nothing of it for so long. False when it is
    done before. `wait`: waits until it is done, at most so many seconds, and says whether it is."""
    before = 0.0
    while not wait(seconds):
        now = used()
        if now >= seconds or now - before < STILL * seconds:
            return True
        before = now
    return False


def _keep(
    command: list[str],
    record: Record | None,
    started: queue.Queue[subprocess.Popen[bytes] | Exception],
    answers: queue.Queue[Message | None],
    ended: Callable[[subprocess.Popen[bytes]], None],
) -> None:
    """Start a worker and move its answers from the pipe to the queue; None when it is gone. On a thread of its own, for a
    worker ends with the thread that started it (see `lifetime`)."""
    environment = bootstrap.environment()
    if record is not None:
        environment[VARIABLE] = record.name
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment,
            pass_fds=record.descriptors if record is not None else (),
        )
    except (OSError, ValueError) as error:
        started.put(error)
        return
    finally:
        if record is not None:
            record.inherited()
    started.put(process)
    stream = process.stdout
    assert stream is not None
    with stream:
        while (answer := read(stream)) is not None:
            answers.put(answer)
    answers.put(None)
    process.wait()
    ended(process)


def _record() -> Record | None:
    """The memory that a worker writes its progress into; None where there is no memory to share."""
    try:
        return Record()
    except OSError:
        return None


def _ends(process: subprocess.Popen[bytes]) -> bool:
    """Whether a worker that has closed its pipe ends by itself."""
    try:
        process.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _was_killed(status: int | None) -> bool:
    """Whether a process ended of a signal that somebody sent it."""
    return status is not None and status < 0 and -status in {getattr(signal, name, 0) for name in _FROM_OUTSIDE}


def _pause(number: int) -> float:
    """Seconds: 1, 2, 4 …"""
    return float(min(2.0 ** min(number, 30), LONGEST_PAUSE_SECONDS))


def _empty(path: str, reason: str, **more: object) -> FileAnalysis:
    return FileAnalysis(path, stats={"incomplete": reason, **more})

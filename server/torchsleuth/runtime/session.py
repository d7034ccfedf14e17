"""One run of a script under instrumentation, for the command line and the editor alike.

    report = run("train.py", ("--epochs", "3"), interpreter=sys.executable)

    job = Run("train.py", interpreter=python, on_output=terminal.write)   # `job.cancel()` from another thread
    report = job.execute()

The script gets a process group of its own, and ends with this process, as does everything that it started: see
`supervisor`. Without `on_output` it inherits the standard streams and the terminal untouched, and is in front of it, so that
Ctrl-C and Ctrl-Z reach it as they reach a plain one. Signals that this process gets are handed on, each time, when `execute`
is called from the main thread: what the script does with them is its own business.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import IO, Any

from torchsleuth.runtime import page, where
from torchsleuth.runtime.children import VARIABLE, read_events
from torchsleuth.runtime.events import DESCRIPTOR
from torchsleuth.runtime.limits import VARIABLE as VARIABLE_LIMITS
from torchsleuth.runtime.limits import Limits
from torchsleuth.runtime.prepare import CELLS
from torchsleuth.runtime.project import Project
from torchsleuth.runtime.report import Collector, RunReport, read_sources
from torchsleuth.runtime.tracebacks import VARIABLE as TRACEBACK
from torchsleuth.schema import Json
from torchsleuth.syntax.files import read_source
from torchsleuth.syntax.notebooks import beginnings, is_notebook

__all__ = ["Run", "RunReport", "read_sources", "run"]

_SUPERVISOR = str(Path(__file__).resolve().with_name("supervisor.py"))
_ENTRY = str(Path(__file__).resolve().with_name("__main__.py"))
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTSTP", "SIGCONT", "SIGWINCH")
GRACE_SECONDS = 3.0
"""Time a cancelled script has to end after SIGINT before its process group is killed."""
_POLL_SECONDS = 0.05
Listener = Callable[[Json], None]


@dataclass
class Run:
    """A run that may be cancelled from another thread. Use `run` unless you need that.

    `on_event` gets every event of the run as it comes (see `runtime.events`), `on_output` standard output and error
    as text, both from a thread of the run. `environment` is the script's, this process's own by default. `script` is a
    file, a folder with a ``__main__.py``, or, with `module`, the name of a module; `flags` are options of the interpreter. After `timeout`
    seconds it is cancelled, and when nothing has moved for `stall` seconds after the first step or batch: no recorded place,
    optimizer step or batch. With `folded` the traceback of an uncaught exception shows frames of libraries in a row as one,
    unless the environment says ``TORCHSLEUTH_TRACEBACK=full``.
    """

    script: str
    arguments: tuple[str, ...] = ()
    interpreter: str = "python3"
    cwd: str | None = None
    on_event: Listener | None = None
    on_output: Callable[[str], None] | None = None
    environment: dict[str, str] | None = None
    module: bool = False
    flags: tuple[str, ...] = ()
    limits: Limits | None = None
    timeout: float | None = None
    stall: float | None = None
    folded: bool = False
    _stopped: str | None = None
    _folder: str | None = None
    _process: subprocess.Popen[bytes] | None = None
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _lifeline: int | None = None
    _holding: threading.RLock = field(default_factory=threading.RLock)
    """Of the lifeline. One signal may come while another one is being handed on."""
    _failure: OSError | None = None
    _killed: bool = False

    def execute(self) -> RunReport:
        """Run to the end. Raises OSError if the interpreter cannot be started, and Unreadable for a notebook that is none."""
        with tempfile.TemporaryDirectory(prefix="torchsleuth-", ignore_cleanup_errors=True) as folder:
            return self._execute(folder)

    def _execute(self, folder: str) -> RunReport:
        began = time.monotonic()
        self._folder = folder
        reader, writer = os.pipe()
        try:
            process = self._start(writer, folder)
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        self._process = process
        # Asked for before there was a process?
        if self._killed:
            self._let_go()
        elif self._cancelled.is_set():
            self.cancel()
        collector = Collector()
        output = self._pump_in_background(process)
        timer = threading.Timer(self.timeout or 0, self.time_out)
        timer.daemon = True
        if self.timeout is not None:
            timer.start()
        with self._forwarding(process):
            self._read_events(process, reader, collector, Activity(folder, self.stall))
            code = process.wait()
        timer.cancel()
        self._let_go()
        if self._failure is not None:
            raise self._failure
        if output is not None:
            output.join(timeout=GRACE_SECONDS)  # a child that outlives the script may hold the stream open
        for events in read_events(folder):
            collector.add_process(events)
        seconds = round(time.monotonic() - began, 3)
        if self.on_event is not None:
            self.on_event({"event": "finished", "exit_code": code, "seconds": seconds})
        script = os.path.abspath(os.path.join(self.cwd or os.getcwd(), self.script))
        ended = self._stopped
        beside = os.path.join(os.path.abspath(self.cwd or os.getcwd()), "__main__.py")
        project = Project(beside if self.module else script)
        collector.look_together(folder, project, code, None if ended is None else round(time.monotonic() - began))
        target = self.script if self.module else script
        report = collector.report(target, code, self._cancelled.is_set(), seconds, ended)
        return replace(report, arguments=self.arguments)

    def cancel(self) -> None:
        """End the script and everything it started: SIGINT first, SIGKILL after a grace period."""
        self._cancelled.set()
        process = self._process
        if process is None or process.poll() is not None:
            return
        self._signal(signal.SIGINT)
        timer = threading.Timer(GRACE_SECONDS, self._kill_if_running, (process,))
        timer.daemon = True
        timer.start()

    def time_out(self, why: str = "timeout") -> None:
        """End it as when its time is over. `why`: ``timeout``, or ``stall``."""
        self._stopped = why
        if self._folder is not None:
            where.ask(self._folder)
        self.cancel()

    def kill(self) -> None:
        """End the script and everything it started, at once."""
        self._cancelled.set()
        self._killed = True
        self._let_go()

    def _let_go(self) -> None:
        """The supervisor kills whatever still runs, and ends."""
        with self._holding:
            lifeline, self._lifeline = self._lifeline, None
        if lifeline is not None:
            os.close(lifeline)

    def send_input(self, text: str) -> None:
        """Text for the script's standard input (only with `on_output`)."""
        process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(text.encode())
                process.stdin.flush()

    def _start(self, writer: int, folder: str) -> subprocess.Popen[bytes]:
        given = os.environ if self.environment is None else self.environment
        environment = {**given, DESCRIPTOR: str(writer), VARIABLE: folder}
        if self.folded:
            environment.setdefault(TRACEBACK, "short")
        if self.limits is not None:
            environment.update({**self.limits.environment(), VARIABLE_LIMITS: self.limits.to_text()})
        if not self.module and is_notebook(self.script):
            environment[CELLS] = self._cells(folder)
        captured = subprocess.PIPE if self.on_output is not None else None
        if captured is not None:
            environment.setdefault("PYTHONUNBUFFERED", "1")  # so that output comes as it is written
        reader, lifeline = os.pipe()
        target = ("-m", self.script) if self.module else (self.script,)
        command = [self.interpreter, *self.flags, _ENTRY, *target, *self.arguments]
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", _SUPERVISOR, str(reader), str(writer), *([] if captured else ["job"])],
                stdin=captured,
                stdout=captured,
                stderr=subprocess.STDOUT if captured else None,
                cwd=self.cwd,
                env=environment,
                pass_fds=(reader, writer),
                start_new_session=captured is not None,
            )
        except BaseException:
            os.close(lifeline)
            raise
        finally:
            os.close(reader)
        self._lifeline = lifeline
        with contextlib.suppress(OSError):
            told = b"\0".join(map(os.fsencode, command))
            os.write(lifeline, b"%d\n" % len(told) + told)
        return process

    def _cells(self, folder: str) -> str:
        """A file with what the cells of a notebook are together. Raises Unreadable."""
        text = read_source(os.path.join(self.cwd or os.getcwd(), self.script))
        path = os.path.join(folder, "cells.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump([text, beginnings(text)], file)
        return path

    def _read_events(
        self, process: subprocess.Popen[bytes], reader: int, collector: Collector, activity: Activity
    ) -> None:
        """Read until the script has ended. Children that outlive it may keep the descriptor open, so the end of the
        process counts, not the end of the stream."""
        with os.fdopen(reader, "rb", buffering=0) as stream:
            os.set_blocking(reader, False)
            rest, open_ended = b"", True
            while open_ended:
                ended = process.poll() is not None
                if activity.stalled() and self._stopped is None:
                    self.time_out("stall")
                ready, _, _ = select.select([reader], [], [], 0 if ended else _POLL_SECONDS)
                if ready:
                    chunk = stream.read(1 << 16)
                    *lines, rest = (rest + (chunk or b"")).split(b"\n")
                    for line in lines:
                        self._take(line, collector)
                    open_ended = bool(chunk)
                elif ended:
                    open_ended = False

    def _take(self, line: bytes, collector: Collector) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            return
        if event.get("event") == "failed":
            number = int(event["errno"])
            self._failure = OSError(number, os.strerror(number), self.interpreter)
            return
        collector.add(event)
        if self.on_event is not None:
            self.on_event(event)

    def _pump_in_background(self, process: subprocess.Popen[bytes]) -> threading.Thread | None:
        if process.stdout is None:
            return None
        thread = threading.Thread(target=self._pump, args=(process.stdout,), daemon=True)
        thread.start()
        return thread

    def _pump(self, stream: IO[bytes]) -> None:
        assert self.on_output is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while chunk := os.read(stream.fileno(), 1 << 16):
            if text := decoder.decode(chunk):
                self.on_output(text)

    @contextlib.contextmanager
    def _forwarding(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """While it runs, signals go to the script. Only the main thread may set signal handlers."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def forward(number: int, frame: FrameType | None) -> None:
            self._signal(number)

        before: dict[int, Any] = {}
        for name in _FORWARDED:
            if hasattr(signal, name):
                number = getattr(signal, name)
                if signal.getsignal(number) is not signal.SIG_IGN:  # the script is to ignore it, too
                    before[number] = signal.signal(number, forward)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _kill_if_running(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            self._let_go()

    def _signal(self, number: int) -> None:
        """Send a signal to the script."""
        with self._holding, contextlib.suppress(OSError):
            if self._lifeline is not None:
                os.write(self._lifeline, bytes([number]))


def collected(folder: str, on_damaged: Callable[[str], None] = lambda process: None) -> RunReport:
    """The report of processes that left theirs in a folder that ``TORCHSLEUTH_RUN`` named, without a run of ours around them.
    `on_damaged`: told of each process whose events have another form than ours; they are left out."""
    processes = list(read_events(folder))
    sound = [events for events in processes if _is_sound(folder, events)]
    for events in processes:
        if events not in sound:
            on_damaged(str(events[0].get("pid")))
    return _collected(folder, sound)


def _is_sound(folder: str, events: list[Json]) -> bool:
    """Whether a report can be made of what a process left: it may be of another version, or of a disk that was full."""
    try:
        json.dumps(_collected(folder, [events]).to_json())
    except Exception:
        return False
    return True


def _collected(folder: str, processes: list[list[Json]]) -> RunReport:
    collector = Collector()
    for events in processes:
        collector.add_process(events)
    collector.look_together(folder, Project(os.path.join(os.getcwd(), "__main__.py")), 1, None)
    return collector.report(folder, 1, False, 0.0)


class Activity:
    """Whether anything moves in the processes of a run."""

    def __init__(self, folder: str, limit: float | None) -> None:
        self._folder = folder
        self._limit = limit
        self._before: list[page.Page] = []
        self._since = time.monotonic()

    def stalled(self) -> bool:
        """Whether the pages of the processes have been the same for so long. Called again and again."""
        if self._limit is None:
            return False
        now = list(page.read(self._folder))
        begun = any(item.steps or item.batches for item in now)  # what is imported before takes its time
        if now != self._before or not begun:
            self._before, self._since = now, time.monotonic()
        return time.monotonic() - self._since > self._limit


def run(
    script: str,
    arguments: tuple[str, ...] = (),
    *,
    interpreter: str,
    cwd: str | None = None,
    on_event: Listener | None = None,
    on_output: Callable[[str], None] | None = None,
    environment: dict[str, str] | None = None,
) -> RunReport:
    """Run a script under instrumentation. Raises OSError if the interpreter cannot be started."""
    return Run(script, arguments, interpreter, cwd, on_event, on_output, environment).execute()

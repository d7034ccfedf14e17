"""One run of a script under instrumentation, for the command line and the editor alike."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import tokenize
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from torchsleuth.errors.diagnose import crash_diagnostic
from torchsleuth.runtime.events import DESCRIPTOR
from torchsleuth.schema import Diagnostic, Json, TensorFact
from torchsleuth.syntax.text import SourceText

_ROOT = str(Path(__file__).resolve().parents[2])
GRACE_SECONDS = 3.0
"""Time a cancelled script has to end after SIGINT before its process group is killed."""
Listener = Callable[[Json], None]


@dataclass(frozen=True)
class RunReport:
    """What a run showed. `exit_code` is the script's own; negative is the signal that ended it."""

    script: str
    exit_code: int
    cancelled: bool
    crash: Json | None
    diagnostics: tuple[Diagnostic, ...]
    facts: tuple[TensorFact, ...]

    def to_json(self) -> Json:
        return {
            "script": self.script,
            "exit_code": self.exit_code,
            "cancelled": self.cancelled,
            "crash": self.crash,
            "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics],
            "facts": [fact.to_json() for fact in self.facts],
        }


@dataclass
class Run:
    """A run that may be cancelled from another thread. Use `run` unless you need that."""

    script: str
    arguments: tuple[str, ...] = ()
    interpreter: str = "python3"
    cwd: str | None = None
    on_event: Listener | None = None
    on_output: Callable[[str], None] | None = None
    _process: subprocess.Popen[bytes] | None = None
    _cancelled: threading.Event = field(default_factory=threading.Event)

    def execute(self) -> RunReport:
        """Run to the end. Without `on_output` the script inherits the standard streams. Raises OSError if the
        interpreter cannot be started."""
        reader, writer = os.pipe()
        environment = {**os.environ, DESCRIPTOR: str(writer), "PYTHONPATH": _python_path()}
        if self.on_output is not None:
            environment.setdefault("PYTHONUNBUFFERED", "1")
        captured = subprocess.PIPE if self.on_output is not None else None
        script = os.path.abspath(self.script)
        try:
            process = subprocess.Popen(
                [self.interpreter, "-m", "torchsleuth.runtime", script if self.cwd else self.script, *self.arguments],
                stdin=captured,
                stdout=captured,
                stderr=subprocess.STDOUT if captured else None,
                cwd=self.cwd,
                env=environment,
                pass_fds=(writer,),
                start_new_session=self.on_output is not None,
            )
        except OSError:
            os.close(reader)
            os.close(writer)
            raise
        os.close(writer)
        self._process = process
        output = None
        if process.stdout is not None:
            output = threading.Thread(target=self._pump_output, args=(process.stdout,), daemon=True)
            output.start()
        events: list[Json] = []
        pump = threading.Thread(target=self._pump_events, args=(reader, events), daemon=True)
        pump.start()
        code = self._wait(process)
        # Children of the script may keep the descriptors open: what the script itself sent is there by now.
        pump.join(timeout=2.0)
        if output is not None:
            output.join(timeout=2.0)
        return build_report(script, code, self._cancelled.is_set(), list(events))

    def _wait(self, process: subprocess.Popen[bytes]) -> int:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                # The terminal sent it to the script too; let it finish its own way, and again if asked again.
                self._cancelled.set()

    def _pump_output(self, stream: IO[bytes]) -> None:
        while chunk := stream.read1(65536):  # type: ignore[attr-defined]
            if self.on_output is not None:
                self.on_output(chunk.decode(errors="replace"))

    def _pump_events(self, descriptor: int, events: list[Json]) -> None:
        with os.fdopen(descriptor, "rb") as stream:
            for line in stream:
                with contextlib.suppress(ValueError):
                    event = json.loads(line)
                    events.append(event)
                    if self.on_event is not None:
                        self.on_event(event)

    def send_input(self, text: str) -> None:
        """Text for the script's standard input (only with `on_output`)."""
        process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(text.encode())
                process.stdin.flush()

    def cancel(self) -> None:
        """End the script and everything it started: SIGINT first, SIGKILL after a grace period."""
        self._cancelled.set()
        process = self._process
        if process is None or process.poll() is not None:
            return
        self._signal(process, signal.SIGINT)
        timer = threading.Timer(GRACE_SECONDS, self._signal, (process, signal.SIGKILL))
        timer.daemon = True
        timer.start()

    def _signal(self, process: subprocess.Popen[bytes], number: int) -> None:
        with contextlib.suppress(OSError):
            if self.on_output is not None and hasattr(os, "killpg"):
                os.killpg(process.pid, number)
            elif process.poll() is None:
                process.send_signal(number)


def run(
    script: str,
    arguments: tuple[str, ...] = (),
    *,
    interpreter: str,
    cwd: str | None = None,
    on_event: Listener | None = None,
    on_output: Callable[[str], None] | None = None,
) -> RunReport:
    """Run a script under instrumentation. Raises OSError if the interpreter cannot be started."""
    return Run(script, arguments, interpreter, cwd, on_event, on_output).execute()


def _python_path() -> str:
    rest = os.environ.get("PYTHONPATH")
    return os.pathsep.join([_ROOT, *([rest] if rest else [])])


def read_sources() -> Callable[[str], SourceText]:
    """Sources by path, decoded as Python does."""
    cache: dict[str, SourceText] = {}

    def read(path: str) -> SourceText:
        if path not in cache:
            try:
                with tokenize.open(path) as file:
                    cache[path] = SourceText(path, file.read())
            except (OSError, SyntaxError, UnicodeDecodeError):
                cache[path] = SourceText(path, "")
        return cache[path]

    return read


def build_report(script: str, code: int, cancelled: bool, events: list[Json]) -> RunReport:
    """The report of a run from its events."""
    sources = read_sources()
    crash: Json | None = None
    facts: dict[tuple[Any, ...], TensorFact] = {}
    for event in events:
        if event["event"] == "crash" and not cancelled:
            crash = event
        elif event["event"] == "facts":
            for item in event["facts"]:
                for fact in _facts(item, sources):
                    facts[(fact.path, fact.start, fact.end)] = fact
    diagnostics: tuple[Diagnostic, ...] = ()
    if crash is not None:
        found = crash_diagnostic(crash, sources)
        diagnostics = (found,) if found is not None else ()
    ordered = sorted(facts.values(), key=lambda fact: (fact.path, fact.start, fact.end))
    return RunReport(script, code, cancelled, crash, diagnostics, tuple(ordered))


def _facts(item: Json, sources: Callable[[str], SourceText]) -> list[TensorFact]:
    """The fact about an expression, and the one about the name it is assigned to."""
    source = sources(item["path"])
    found: list[TensorFact] = []
    spans = [(item["span"], None)]
    if item["binding"]:
        spans.append((item["binding"][1:], item["binding"][0]))
    for span, binding in spans:
        start, end = source.from_utf8(span[0], span[1]), source.from_utf8(span[2], span[3])
        shape = item["shape"]
        found.append(
            TensorFact(
                source.path,
                start,
                end,
                source.slice(start, end),
                None if shape is None else tuple(shape),
                item["dtype"],
                item["device"],
                item["requires_grad"],
                binding,
                layer="run",
            )
        )
    return found

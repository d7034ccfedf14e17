"""Runs the user's script in this process as ``python SCRIPT ARGS…`` would, and reports what it does.

The script's standard streams, arguments, working directory, environment and exit status are its own.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import io
import os
import sys
import types
from collections.abc import Callable
from types import TracebackType
from typing import Any

from torchsleuth.runtime.crash import CrashReporter
from torchsleuth.runtime.events import DESCRIPTOR, EventStream
from torchsleuth.runtime.imports import ImportHook
from torchsleuth.runtime.project import Project
from torchsleuth.runtime.recorder import Recorder, unrecorded
from torchsleuth.runtime.registry import ConstructorRegistry
from torchsleuth.runtime.rewrite import LOSS, RECORDER, Site, rewrite
from torchsleuth.runtime.watch import TrainingWatch

_OWN_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


class Launch:
    """The instrumentation of this process."""

    def __init__(self, script: str, descriptor: int) -> None:
        self.path = os.path.abspath(script)
        self.project = Project(script)
        self.stream = EventStream(descriptor)
        self.sites: list[Site] = []
        self.texts: dict[str, bytes] = {}
        self.recorder = Recorder(self.sites, self.stream)
        self.registry = ConstructorRegistry(self.project.owns)
        self.watch = TrainingWatch()
        self.crash = CrashReporter(self.project.owns, self.registry, self.recorder, self.texts)
        self._process = os.getpid()
        self._ended = False

    def install(self) -> None:
        set_record(unrecorded)
        setattr(builtins, LOSS, self.watch.see_loss)
        after: dict[str, Callable[[Any], None]] = {
            "torch": self._torch_imported,
            "torch._dynamo": self._tracers_imported,
            "torch.fx.experimental.symbolic_shapes": self._tracers_imported,
        }
        sys.meta_path.insert(0, ImportHook(self.project.owns, self.compile, after))
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: set_record(unrecorded))
        leave = os._exit

        def _exit(status: int) -> None:
            self.end()
            leave(status)

        os._exit = _exit  # type: ignore[assignment]

    def compile(self, source: bytes, path: str) -> types.CodeType:
        """The rewritten code of one of the user's files."""
        self.texts[path] = source
        self.stream.send("loaded", path=path)
        return rewrite(source, path, self.sites)

    def _torch_imported(self, torch: Any) -> None:
        self.registry.install(torch.nn.Module)
        self.watch.install(torch, sys.modules["torch.optim.optimizer"])
        careful = "torch.fx.experimental.symbolic_shapes" in sys.modules or "torch._dynamo" in sys.modules
        set_record(self.recorder.make_record(torch, careful=careful))

    def _tracers_imported(self, module: Any) -> None:
        if getattr(builtins, RECORDER) is not unrecorded:
            set_record(self.recorder.make_record(sys.modules["torch"], careful=True))

    def end(self) -> None:
        """Send what has not been sent; once, and not from a forked child."""
        if self._ended or os.getpid() != self._process:
            return
        self._ended = True
        try:
            self.recorder.flush()
            trained = self.watch.result()
        except Exception:
            return  # the end of the user's process is no place for an error of ours
        if trained is not None:
            self.stream.send("training", **trained)

    def report(self, error: BaseException, traceback: TracebackType | None) -> None:
        if os.getpid() != self._process:
            return
        try:
            self.recorder.flush()
            self.stream.send("crash", **self.crash.report(error, traceback))
        except Exception:
            return  # the script's own error is what has to reach the user


def set_record(record: Callable[[int, Any], Any]) -> None:
    setattr(builtins, RECORDER, record)


def main(script: str, arguments: list[str]) -> int:
    descriptor = int(os.environ.pop(DESCRIPTOR))
    os.set_inheritable(descriptor, False)
    launch = Launch(script, descriptor)
    try:
        with io.open_code(launch.path) as file:
            source = file.read()
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"{sys.executable}: can't open file {launch.path!r}: {reason}", file=sys.stderr)
        return 2
    module = _main_module(launch.path)
    sys.argv = [script, *arguments]
    sys.orig_argv = [sys.executable, script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
    launch.stream.send("started", pid=os.getpid(), script=launch.path, python=sys.version.split()[0])
    launch.install()
    try:
        exec(launch.compile(source, launch.path), module.__dict__)
    except SystemExit as stop:
        _report_hidden(launch, stop)
        raise
    except BaseException as error:
        return _uncaught(launch, error)
    finally:
        launch.end()
    return 0


def _main_module(path: str) -> types.ModuleType:
    """``__main__`` as the interpreter makes it for a script."""
    module = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    module.__dict__.update({"__builtins__": builtins, "__file__": path, "__cached__": None, "__loader__": loader})
    if sys.version_info < (3, 14):
        module.__dict__["__annotations__"] = {}
    sys.modules["__main__"] = module
    return module


def _report_hidden(launch: Launch, stop: SystemExit) -> None:
    """A script that catches its crash and then exits with a failure: the crash is the context of the exit."""
    failed = stop.code not in (None, 0)
    cause = stop.__context__
    if failed and isinstance(cause, RuntimeError | ValueError | IndexError | TypeError):
        launch.report(cause, cause.__traceback__)


def _uncaught(launch: Launch, error: BaseException) -> int:
    """Handle an exception that nobody caught as the interpreter does."""
    traceback = error.__traceback__ = _without_own_frames(error.__traceback__)
    if not isinstance(error, KeyboardInterrupt):
        launch.report(error, traceback)
    launch.end()
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, traceback
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    try:
        sys.excepthook(type(error), error, traceback)
    except SystemExit:
        raise
    except BaseException as second:
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(second), second, _without_own_frames(second.__traceback__))
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, traceback)
    if isinstance(error, KeyboardInterrupt):
        # The interpreter ends itself with SIGINT after its clean-up; it shall not print the traceback again.
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt
    return 1


def _without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package, and without those of the import system that led to them."""
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    kept: list[TracebackType] = []
    for entry in entries:
        if entry.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER):
            while kept and kept[-1].tb_frame.f_code.co_filename.startswith("<frozen importlib"):
                kept.pop()
        else:
            kept.append(entry)
    for entry, following in zip(kept, [*kept[1:], None]):
        entry.tb_next = following
    return kept[0] if kept else None

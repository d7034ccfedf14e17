"""Runs of scripts that start as forks of a process that has imported torch, which saves seconds each time."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import importlib
import json
import multiprocessing.util
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import types
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

from torchsleuth.runtime import prepare
from torchsleuth.runtime.children import VARIABLE, read_events
from torchsleuth.runtime.project import Project
from torchsleuth.runtime.report import Collector, RunReport

SECONDS = 120


def warm_up() -> None:
    """Import what the forks need."""
    for module in ("numpy", "torch", "torch._dynamo", "torch.utils.data", "torchsleuth.runtime.launch"):
        importlib.import_module(module)


def execute(root: Path, main: str) -> tuple[RunReport, str]:
    """Run the script `main` in the folder `root` under instrumentation; the report, and what it printed. Beside `root`, a
    folder ``events`` is made."""
    reader, writer = os.pipe()
    collector = Collector()
    folder = root.parent / "events"

    def start() -> int:
        os.close(reader)
        os.environ[VARIABLE] = str(folder)
        code = prepare._script_code(main, prepare.Channel(writer, None), [], [main])
        module = types.ModuleType("__main__")
        module.__dict__.update(__builtins__=builtins, __file__="", __cached__=None, __loader__=None, __annotations__={})
        sys.modules["__main__"] = module
        sys.argv = [tempfile.mkstemp()[1]]  # the compiled file, which is forgotten
        sys.path.insert(0, "")
        exec(code, module.__dict__)
        return 0

    folder.mkdir()
    began = time.monotonic()
    child = Fork(start, root)
    os.close(writer)
    with open(reader, encoding="utf-8") as events:
        for line in events:
            collector.add(json.loads(line))
    code = child.wait()
    for found in read_events(str(folder)):
        collector.add_process(found)
    script = str(root / main)
    collector.look_together(str(folder), Project(script), code, None)
    return collector.report(script, code, False, time.monotonic() - began), child.output()


class Fork:
    """A function in a process of its own, in a folder, with its output kept; what it started ends with it."""

    def __init__(self, function: Callable[[], int], folder: Path) -> None:
        self._kept = tempfile.TemporaryFile("w+")  # noqa: SIM115  # read when the process has ended
        sys.stdout.flush()
        self._pid = os.fork()
        if self._pid == 0:
            self._become(function, folder)

    def _become(self, function: Callable[[], int], folder: Path) -> None:
        code: object = 1
        try:
            atexit._clear()  # the folders of the parent are not this process's to remove
            atexit.register(multiprocessing.util._exit_function)  # type: ignore[attr-defined]
            os.setsid()
            for stream in (1, 2):
                os.dup2(self._kept.fileno(), stream)
            os.chdir(folder)
            signal.alarm(SECONDS)
            code = function()
        except SystemExit as stop:
            code = stop.code
        except BaseException:
            traceback.print_exc()
        finally:
            _at_exit()
            os._exit(code if isinstance(code, int) else 1 if code else 0)

    def wait(self) -> int:
        code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        with contextlib.suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)
        return code

    def output(self) -> str:
        self._kept.seek(0)
        return self._kept.read()


def _at_exit() -> None:
    """What the interpreter does at its end, for a process that does not come to it."""
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()

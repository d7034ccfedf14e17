"""The recorder in the processes that a script starts: forked ones, Python programs of its own, workers and ranks.

A run has a folder (``TORCHSLEUTH_RUN``). Each process writes its events to a file of its own there, once it has something to
say; the parent reads them (`read_events`). A forked process has the recorder of the one it comes from. A Python interpreter
that is started gets it by `start/sitecustomize.py`: where it is to run a script of the project, as ranks are, it becomes one that
runs it rewritten, as the run itself is (`become`). Neither ``os.environ`` nor ``sys.path`` of anybody shows it: the variables
are added to the environment of a Python program in the moment in which it is started.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any

from torchsleuth.runtime import where
from torchsleuth.runtime.events import DESCRIPTOR
from torchsleuth.runtime.limits import VARIABLE as LIMITS
from torchsleuth.runtime.limits import Limits
from torchsleuth.runtime.project import Project

if TYPE_CHECKING:
    from torchsleuth.runtime.launch import Launch

VARIABLE = "TORCHSLEUTH_RUN"
"""The folder of the run; in the environment of a process only until its recorder has started."""
_SEARCH = "PYTHONPATH"
_START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start")
_SCRIPT = "script"
"""A file of the folder: the path of the script that was run, for processes without one of their own."""
_SUFFIX = ".events"
_ENDING = ("multiprocessing.process", "_bootstrap")
_PASSING = {
    _ENDING,
    ("multiprocessing.pool", "__init__"),
    ("concurrent.futures.process", "__init__"),
    ("torch.multiprocessing.spawn", "_wrap"),
    ("torch._utils", "__init__"),
}
"""Modules and functions that turn an exception into text, because the process ends, or sends it to another one."""


def announce(folder: str, script: str, limits: Limits | None) -> None:
    """Have Python programs that this process starts from now on find the folder, and keep to the limits."""
    name = os.path.join(folder, _SCRIPT)
    if not os.path.exists(name):
        with open(name, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(script)
    _pass_on(folder, limits)


def _pass_on(folder: str, limits: Limits | None) -> None:
    """A probe is for the process that it was given to alone."""
    added = {VARIABLE: folder}
    if limits is not None and limits.probe is None:
        added[LIMITS] = limits.to_text()
    try:
        import _posixsubprocess
    except ImportError:
        return
    fork_exec = _posixsubprocess.fork_exec

    def starting(arguments: Any, executables: Any, *rest: Any) -> Any:
        # rest: close_fds, pass_fds, cwd, environment, …
        if len(rest) > 3 and _reads_variables(arguments) and any(_is_python(item) for item in executables):
            rest = (*rest[:3], _with(added, rest[3]), *rest[4:])
        return fork_exec(arguments, executables, *rest)

    _posixsubprocess.fork_exec = starting
    subprocess = sys.modules.get("subprocess")
    if subprocess is not None and getattr(subprocess, "_fork_exec", None) is fork_exec:
        subprocess._fork_exec = starting  # type: ignore[attr-defined]


def _reads_variables(arguments: Any) -> bool:
    """Whether the options of an interpreter let it look at its environment, and execute a sitecustomize."""
    for item in map(os.fsencode, arguments[1:]):
        if not item.startswith(b"-") or item.startswith((b"--", b"-c", b"-m")) or item == b"-":
            return True
        if not item.startswith((b"-W", b"-X")) and not set(item).isdisjoint(b"IES"):
            return False
    return True


def _is_python(executable: Any) -> bool:
    """Whether a program is a Python interpreter, or a script for one such as torchrun."""
    path = os.fsencode(executable)
    if os.path.basename(os.path.realpath(path)).startswith(b"python"):
        return True
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def _with(added: dict[str, str], environment: Any) -> list[bytes]:
    """An environment for ``execve`` with these variables, in which the interpreter finds `start/sitecustomize.py` first; as it is
    for what belongs to another run, which this process starts."""
    if environment is None:
        environment = [name + b"=" + value for name, value in os.environb.items()]
    if any(item.startswith(os.fsencode(DESCRIPTOR) + b"=") for item in environment):
        return list(environment)
    search = os.fsencode(_SEARCH) + b"="
    before = next((item[len(search) :] for item in environment if item.startswith(search)), b"")
    found = os.fsencode(_START) + (os.fsencode(os.pathsep) + before if before else b"")
    given = {os.fsencode(name): os.fsencode(value) for name, value in added.items()}
    kept = [item for item in environment if item.partition(b"=")[0] not in (os.fsencode(_SEARCH), *given)]
    return [*kept, *(name + b"=" + value for name, value in given.items()), search + found]


def become(folder: str) -> None:
    """Where this interpreter was started for a script of the project, it becomes one that runs it rewritten, which begins anew with
    `launch.begin`. Called before anything else of the user's runs."""
    number = len(sys.orig_argv) - len(sys.argv)
    program = sys.orig_argv[number] if number > 0 and sys.argv[:1] == sys.orig_argv[number : number + 1] else ""
    if not os.path.isfile(program) or not Project(_script(folder)).owns(os.path.abspath(program)):
        return
    from torchsleuth.runtime import prepare

    flags = sys.orig_argv[1:number]
    prepare.become_child(folder, os.environ.pop(LIMITS, None), flags, sys.orig_argv[number:])


def enter(folder: str) -> None:
    """Start the recorder in this process, which an instrumented one has started."""
    from torchsleuth.runtime.launch import Launch

    folder = os.path.abspath(folder)
    script = _script(folder)
    own = next((item for item in sys.orig_argv[1:] if item.endswith(".py") and os.path.isfile(item)), None)
    given = os.environ.pop(LIMITS, None)
    limits = None if given is None else Limits.of_text(given)
    launch = Launch(own or script, ChildStream(folder), limits=limits)
    launch.install()
    keep_last_lines(folder)
    _tell_of_torch(launch)
    if any("multiprocessing" in item for item in sys.orig_argv[1:]):
        _rewrite_main_of_spawned(launch)
    _pass_on(folder, limits)
    watch_what_is_passed_on(launch)

    def end() -> None:
        error = getattr(sys, "last_value", None)
        if isinstance(error, Exception):
            launch.report(error, error.__traceback__, ends=False)
        launch.end()

    atexit.register(end)


def _rewrite_main_of_spawned(launch: Launch) -> None:
    """A process that multiprocessing starts reads the main program as runpy does, which is no import."""
    import runpy

    read: Callable[..., Any] = runpy._get_code_from_file  # type: ignore[attr-defined]

    def _get_code_from_file(*given: Any) -> Any:
        found = read(*given)
        path = os.path.abspath(given[-1])
        code = found[0] if isinstance(found, tuple) else found
        if launch.project.owns(path):
            try:
                with open(path, "rb") as file:
                    code = launch.compile(file.read(), path, code)
            except Exception:  # what cannot be watched must not keep the script from running
                return found
        return (code, *found[1:]) if isinstance(found, tuple) else code

    runpy._get_code_from_file = _get_code_from_file  # type: ignore[attr-defined]


def _script(folder: str) -> str:
    """The script of the run; of one that somebody has begun by the variable alone, what stands for it in this process."""
    try:
        with open(os.path.join(folder, _SCRIPT), encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        os.makedirs(folder, exist_ok=True)
        return os.path.join(os.getcwd(), "__main__.py")


def _tell_of_torch(launch: Launch) -> None:
    """The main program of a child is not rewritten, and so does not say when it has imported torch."""
    execute = SourceFileLoader.exec_module

    def exec_module(self: SourceFileLoader, module: ModuleType) -> None:
        execute(self, module)
        if module.__name__ == "torch":
            sys.modules["torch"].__spec__._initializing = False  # type: ignore[union-attr]  # as it is in a moment
            launch.imported()

    exec_module.__code__ = exec_module.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
    SourceFileLoader.exec_module = exec_module  # type: ignore[method-assign, assignment]


class ChildStream:
    """Events of a process into a file of the run's folder, made with the first one."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._process = 0
        self._descriptor = -1
        self._writing = threading.Lock()

    def send(self, kind: str, **fields: Any) -> bool:
        """Whether the event was sent. False while another thread, or the code that a signal interrupted, is writing."""
        if not self._writing.acquire(blocking=False):
            return False
        try:
            if self._process != os.getpid():
                self._open()
            self._write({"event": kind, **fields})
        except OSError:
            return True  # the folder is gone: nobody listens any more
        finally:
            self._writing.release()
        return True

    def _open(self) -> None:
        self._process = os.getpid()
        name = os.path.join(self.folder, f"{self._process}-{time.time_ns()}{_SUFFIX}")
        self._descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        rank = os.environ.get("RANK", "") if type(os.environ) is os._Environ else ""
        process = {"pid": self._process, "parent": os.getppid(), "rank": int(rank) if rank.isdigit() else None}
        self._write({"event": "process", "time": time.time(), "name": _name(), **process})

    def _write(self, event: dict[str, Any]) -> None:
        line = json.dumps(event, default=str).encode() + b"\n"
        while line:
            line = line[os.write(self._descriptor, line) :]


def _name() -> str | None:
    """The name that multiprocessing gives this process."""
    module = sys.modules.get("multiprocessing.process")
    process = module.current_process() if module is not None else None
    return None if process is None or process.name == "MainProcess" else str(process.name)


def watch_what_is_passed_on(launch: Launch) -> None:
    """In a child: report the exceptions that are turned into text to be printed at its end, or sent to its parent."""
    import traceback

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def print_or_format(*args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(1)
            where = (caller.f_globals.get("__name__"), caller.f_code.co_name)
            error = sys.exc_info()[1] if where in _PASSING else None
            if isinstance(error, Exception):
                launch.report(error, error.__traceback__, ends=where == _ENDING)
            return function(*args, **kwargs)

        print_or_format.__wrapped__ = function  # type: ignore[attr-defined]
        return print_or_format

    for name in ("print_exc", "format_exc", "format_exception"):
        function = getattr(traceback, name)
        if not hasattr(function, "__wrapped__"):
            setattr(traceback, name, watched(function))


def keep_last_lines(folder: str) -> None:
    """Have the lines that run written down if this process dies of a fault in C, unless somebody else wants them, and when
    `where.ask` asks for them."""
    import faulthandler

    descriptor = where.lines(folder)
    if not faulthandler.is_enabled():
        faulthandler.enable(file=descriptor, all_threads=True)
        _seems_disabled(faulthandler)
    if where.SIGNAL is not None:
        faulthandler.register(where.SIGNAL, file=descriptor, all_threads=True)


def _seems_disabled(faulthandler: ModuleType) -> None:
    """Until somebody else enables it: what is there then is the genuine one."""
    names = ("enable", "disable", "is_enabled")
    genuine = {name: getattr(faulthandler, name) for name in names}

    def enable(*args: Any, **kwargs: Any) -> Any:
        vars(faulthandler).update(genuine)
        return genuine["enable"](*args, **kwargs)

    seeming: dict[str, Callable[..., Any]] = {"enable": enable, "disable": bool, "is_enabled": bool}
    vars(faulthandler).update(seeming)


def read_events(folder: str) -> Iterator[list[dict[str, Any]]]:
    """The events of each process of a run that had something to say, the first to start first."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIX))
    except OSError:
        return
    found = []
    for path in filter(os.path.isfile, (os.path.join(folder, name) for name in names)):
        with open(path, encoding="utf-8", errors="replace") as file:
            events = [event for line in file if (event := _event(line)) is not None]
        if events and events[0].get("event") == "process" and isinstance(events[0].get("time"), int | float):
            found.append(events)
    yield from sorted(found, key=lambda events: events[0]["time"])


def _event(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None  # the process was killed while it wrote
    return event if isinstance(event, dict) else None

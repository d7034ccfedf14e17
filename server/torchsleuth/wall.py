"""The second wall: what a process that reads the user's code may not do once it has started, whatever was let through.

The first wall of the worker is `oracle.gate`: only listed operators are called. This one is held by the interpreter itself,
with an audit hook (PEP 578) that cannot be taken back: no processes, no sockets, no libraries and no code but those of the
interpreter's own folders, and no writing outside of the store. It is no sandbox against machine code; it is what turns a
mistake in the first wall into an error message.
"""

from __future__ import annotations

import contextlib
import importlib._bootstrap
import os
import signal
import site
import sys
import sysconfig
import tempfile
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

HEADROOM_BYTES = 8 << 30
"""Address space that the process may use beyond what it has when it is closed."""
MAX_FILE_BYTES = 1 << 26
"""Size of the largest file that the process may write."""

_FAMILIES = frozenset(
    "_posixsubprocess _winapi ctypes dbm fcntl ftplib http imaplib msvcrt nntplib os pdb poplib pty resource setopencodehook "
    "shutil signal smtplib socket sqlite3 subprocess syslog telnetlib tempfile urllib webbrowser winreg".split()
)
"""Events that begin with one of these modules are refused but for `_HARMLESS` and `_CHECKED`."""
_REFUSED = frozenset(
    "builtins.breakpoint builtins.input code.__new__ cpython.run_command cpython.run_file cpython.run_interactivehook "
    "cpython.run_module cpython.run_startup cpython.run_stdin pickle.find_class sys.addaudithook sys.setprofile sys.settrace "
    "sys.remote_exec cpython.remote_debugger_script gc.get_objects gc.get_referents gc.get_referrers".split()
)
_HARMLESS = frozenset("os.listdir os.scandir os.walk os.fwalk os.getxattr os.listxattr ctypes.set_errno".split())
_PACKAGE_FOLDERS = tuple(path for path in sys.path if path.rstrip("/\\").endswith(("site-packages", "dist-packages")))
"""Folders of installed packages, also of the user's own; taken when the process starts."""
_IMPORTED = ("torch", "numpy", "sympy", "jedi", "parso")
"""Packages whose own code may come from wherever they were imported from."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset("os.mkdir os.rename os.remove os.chmod os.truncate os.utime os.rmdir".split())
"""Events that change files and folders, by paths that are the first arguments; allowed in the store's folder."""


_SEARCHED = tuple("PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH DYLD_FRAMEWORK_PATH".split())
"""Variables with folders in which programs and libraries are looked for."""


def environment() -> dict[str, str]:
    """The environment of this process for one that reads the user's code: without the folders that depend on the working
    folder, such as the empty one that ``LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/usr/lib`` leaves."""
    found = dict(os.environ)
    for name in _SEARCHED:
        if name in found:
            found[name] = os.pathsep.join(filter(os.path.isabs, found[name].split(os.pathsep)))
            if not found[name]:
                del found[name]  # empty, it would be the working folder again
    return found


class Refused(PermissionError):
    """The process was asked for something that the analysis never needs."""


_refusals: list[str] = []


def refusals() -> tuple[str, ...]:
    """The refusals since this was asked last."""
    found = tuple(_refusals)
    _refusals.clear()
    return found


def close(store: Path | None) -> None:
    """Close the wall for the rest of the process's life. `store`: the folder that it may write to, None for none."""
    # What is imported later is not compiled to files: the analysis writes nothing.
    sys.dont_write_bytecode = True
    # Libraries ask for it when they are first used; the first answer is found by writing to folders, and then kept.
    with contextlib.suppress(OSError):
        tempfile.gettempdir()
    _limit_resources()
    sys.addaudithook(_Guard(_resolved([] if store is None else [store]), installed_folders()))


def installed_folders() -> tuple[str, ...]:
    """The folders that code may come from: the standard library, what is installed beside this interpreter, and the packages
    that were imported when it started, wherever these lie."""
    paths: list[str | None] = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [*site.getsitepackages(), *_PACKAGE_FOLDERS]
    paths.append(str(Path(__file__).parent))
    paths += [_folder_of(sys.modules.get(name)) for name in _IMPORTED]
    return _resolved(path for path in paths if path)


def is_installed(path: str) -> bool:
    """Whether a file lies beside the interpreter, and not in a folder of the user's."""
    return _below(path, installed_folders())


def _below(path: object, folders: tuple[str, ...]) -> bool:
    """Whether a path lies in one of some folders, as it is written and when all links in it are followed."""
    if isinstance(path, bytes | os.PathLike):
        path = os.fsdecode(path)
    if not isinstance(path, str):
        return False
    return os.path.abspath(path).startswith(folders) and os.path.realpath(path).startswith(folders)


def _folder_of(package: Any) -> str | None:
    origin = getattr(package, "__file__", None)
    return os.path.dirname(origin) if isinstance(origin, str) else None


def _resolved(paths: Iterable[str | Path]) -> tuple[str, ...]:
    """Folders as they are written and as they are, each with a separator at its end."""
    found: dict[str, None] = {}
    for path in paths:
        for spelled in (os.path.abspath(path), os.path.realpath(path)):
            found[os.path.join(spelled, "")] = None
    return tuple(found)


class _Guard:
    """The audit hook. Events are judged once by their name; those that may be harmless, each time by their arguments.

    `stores`: folders in which it may write; `installed`: folders whose code it may run, each with a separator at its end.
    """

    __slots__ = ("_checked", "_installed", "_own_group", "_refused", "_stores")

    def __init__(self, stores: tuple[str, ...], installed: tuple[str, ...]) -> None:
        self._stores = stores
        self._installed = installed
        self._own_group = os.getpgrp() if sys.platform != "win32" else -1
        self._refused: dict[str, bool] = {}
        self._checked: dict[str, Callable[[str, tuple[Any, ...]], None]] = {
            "open": self._open,
            "exec": self._exec,
            "import": self._import,
            "ctypes.dlopen": self._load_library,
            "sqlite3.connect": self._connect,
            "sqlite3.connect/handle": self._connect,
            "os.killpg": self._kill,
            **dict.fromkeys(_CHANGES, self._change),
        }

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "builtins.id":
            return
        check = self._checked.get(event)
        if check is not None:
            check(event, arguments)
            return
        refused = self._refused.get(event)
        if refused is None:
            family = event.partition(".")[0]
            refused = event in _REFUSED or (family in _FAMILIES and event not in _HARMLESS)
            self._refused[event] = refused
        if refused:
            _refuse(event, *_told(arguments))

    def _open(self, event: str, arguments: tuple[Any, ...]) -> None:
        path, mode, flags = (*arguments, None, None, None)[:3]
        writes = bool(isinstance(flags, int) and flags & _WRITING)
        writes = writes or (isinstance(mode, str) and any(letter in mode for letter in "wax+"))
        # A number is a descriptor that is open already.
        if writes and not isinstance(path, int) and not _below(path, self._stores) and path != os.devnull:
            _refuse(event, path)

    def _exec(self, event: str, arguments: tuple[Any, ...]) -> None:
        name = getattr(arguments[0], "co_filename", "") if arguments else ""
        # Generated code (dataclasses, named tuples, sympy) has a name in brackets, frozen modules too.
        if not (name.startswith("<") and name.endswith(">")) and not _below(name, self._installed):
            _refuse(event, name)

    def _import(self, event: str, arguments: tuple[Any, ...]) -> None:
        # Only libraries of machine code come with their file here; the code of the others is executed.
        file = arguments[1] if len(arguments) > 1 else None
        if file and not _below(file, self._installed):
            _refuse(event, arguments[0], file)

    def _load_library(self, event: str, arguments: tuple[Any, ...]) -> None:
        name = arguments[0] if arguments else None
        # Modules, all of them installed, may load libraries of the system while they are imported, by their names.
        if isinstance(name, str) and os.path.basename(name) == name and _is_importing():
            return
        if name is not None and not _below(name, self._installed):
            _refuse(event, name)

    def _change(self, event: str, arguments: tuple[Any, ...]) -> None:
        paths = arguments[:2] if event == "os.rename" else arguments[:1]
        # The folder itself may be made.
        inside = (
            isinstance(path, str | os.PathLike) and _below(os.path.join(path, "_"), self._stores) for path in paths
        )
        if not all(inside):
            _refuse(event, *paths)

    def _connect(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "sqlite3.connect" and not _below(arguments[0], self._stores):
            _refuse(event, *arguments[:1])

    def _kill(self, event: str, arguments: tuple[Any, ...]) -> None:
        """The process may end its own group."""
        if arguments != (self._own_group, signal.SIGKILL) or self._own_group != os.getpid():
            _refuse(event)


def _is_importing() -> bool:
    """Whether this thread is executing a module that is being imported."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals is vars(importlib._bootstrap):
            return True
        frame = frame.f_back
    return False


def _refuse(event: str, *told: object) -> NoReturn:
    what = " ".join([event, *(str(part)[:200] for part in told)])
    _refusals.append(what)
    raise Refused(what)


def _told(arguments: Sequence[object]) -> list[object]:
    """The arguments of an event that say what was asked for; nothing of a user's is called to show them."""
    return [part for part in arguments if isinstance(part, str | bytes | int | float)]


def _limit_resources() -> None:
    """A value that is too large is a MemoryError, and not the end of the machine. Where the system has no such limits, or
    does not let them be set, there are none."""
    if sys.platform == "win32":
        return
    import resource

    used = _address_space()
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: MAX_FILE_BYTES}
    if used is not None:
        limits[resource.RLIMIT_AS] = used + HEADROOM_BYTES
    for kind, wanted in limits.items():
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.getrlimit(kind)
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (soft, hard))


def _address_space() -> int | None:
    """Bytes of address space that the process has mapped; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


__all__ = ["Refused", "close", "environment", "installed_folders", "is_installed", "refusals"]

"""Exceptions of the program that is analysed: what is raised, and which handler takes it.

They are followed only where something may catch them (`Catching`): elsewhere the analysis goes on behind what raises, which
is the reader's view of a script that works.
"""

from __future__ import annotations

import builtins
import dataclasses
import json
import pickle
import queue
import subprocess
import zipfile

from torchsleuth.interp.interface import Interpreter
from torchsleuth.sifting import as_kind
from torchsleuth.tensors.spec import Native
from torchsleuth.values import UNKNOWN, ClassValue, Instance, LibraryObject, Site, Value, is_plain, is_unknown

_BUILTINS = "builtins."
FROZEN = "dataclasses.FrozenInstanceError"
_OF_LIBRARIES: dict[str, type[BaseException]] = {
    FROZEN: dataclasses.FrozenInstanceError,
    "json.JSONDecodeError": json.JSONDecodeError,
    "json.decoder.JSONDecodeError": json.JSONDecodeError,
    "queue.Empty": queue.Empty,
    "queue.Full": queue.Full,
    "subprocess.CalledProcessError": subprocess.CalledProcessError,
    "subprocess.TimeoutExpired": subprocess.TimeoutExpired,
    "pickle.UnpicklingError": pickle.UnpicklingError,
    "zipfile.BadZipFile": zipfile.BadZipFile,
}
"""Exceptions of Python's own modules."""


class Thrown(Exception):
    """An exception of the program on its way to what catches it. `value`: what is raised, UNKNOWN where that is not known."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


def class_named(path: str) -> type[BaseException] | None:
    """The class of exceptions of that path: a builtin one, or one of Python's modules."""
    if path in _OF_LIBRARIES:
        return _OF_LIBRARIES[path]
    found = getattr(builtins, path.removeprefix(_BUILTINS), None) if path.startswith(_BUILTINS) else None
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def made(path: str, args: tuple[Value, ...], site: Site | None = None) -> LibraryObject:
    """``ValueError("…")``"""
    value = LibraryObject(path, args, {}, site)
    value.slots["args"] = args
    return value


def of_python(error: BaseException) -> LibraryObject:
    """An exception that Python itself has raised."""
    plain = tuple(one if is_plain(one) else UNKNOWN for one in error.args)
    known = (path for path, kind in _OF_LIBRARIES.items() if kind is type(error))
    return made(next(known, f"{_BUILTINS}{type(error).__name__}"), plain)


def is_exception(value: Value) -> bool:
    if isinstance(value, LibraryObject):
        return class_named(value.path) is not None
    return isinstance(value, Instance) and _base(value.cls) is not None


def _base(cls: ClassValue) -> type[BaseException] | None:
    """The builtin class of exceptions that a class of the user's derives from."""
    for base in cls.mro():
        found = class_named(base.path) if isinstance(base, Native) else None
        if found is not None:
            return found
    return None


def class_of(value: Value) -> type[BaseException] | None:
    """The builtin class that an exception, or a class of exceptions, is or derives from."""
    if isinstance(value, LibraryObject | Native):
        return class_named(value.path)
    cls = as_kind(value.cls if isinstance(value, Instance) else value, ClassValue)
    return _base(cls) if cls is not None else None


def catches(kind: Value, raised: Value) -> bool | None:
    """Whether ``except kind`` takes what is raised, None where that is not known."""
    if isinstance(kind, tuple):
        verdicts = [catches(one, raised) for one in kind]
        return True if True in verdicts else None if None in verdicts else False
    actual = class_of(raised)
    if actual is None or is_unknown(kind):
        return None
    cls = raised.cls if isinstance(raised, Instance) else None
    if isinstance(kind, ClassValue):
        return kind in cls.mro() if cls is not None and not cls.opaque else False if cls is None else None
    wanted = class_of(kind)
    if wanted is None:
        return False if isinstance(kind, Native) and not (cls is not None and cls.opaque) else None
    return issubclass(actual, wanted) or (None if cls is not None and cls.opaque else False)


def throw(interp: Interpreter, value: Value) -> None:
    """Raise an exception of the program, where something may catch it."""
    if interp.catching.at(interp.uncertain):
        raise Thrown(value)


__all__ = ["Thrown", "catches", "class_named", "class_of", "is_exception", "made", "of_python", "throw"]

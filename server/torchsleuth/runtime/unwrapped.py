"""Looks through what hides a crash: chains and groups of exceptions, tracebacks that came as text, places in messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from torchsleuth.runtime.rewrite import Span

MAX_DEPTH = 20
"""Exceptions of a chain, and groups inside of groups."""
_TRACEBACK = "Traceback (most recent call last):\n"
_ENTRY = re.compile(r'^ *File "([^"]+)", line (\d+)(?:, in (\S+))?\n( *)(\S.*)\n(?: *([~^]+) *\n)?', re.MULTILINE)
_SCRIPTED = re.compile(
    r'^ *File "([^"]+)", line (\d+)(?:, in (\S+))?\n((?:.*\n){1,12}?)( *)(~[~.]*)( <--- HERE)', re.MULTILINE
)
_INSIDE = re.compile(r"got (\w+)\((['\"])(.*?)\2\)", re.DOTALL)
_TRACED = re.compile(r"FakeTensor\([^()]*?size=\(([\d, ]*)\)")
_UNSENT = re.compile(r"Error sending result: .*Reason: '(\w+)\(([\"'])(.*)\2,?\)'\s*\Z", re.DOTALL)
"""What a pool says of a result that its worker could not send back."""
_LAST = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?\Z", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"DataLoader worker process (\d+)")


class Place(NamedTuple):
    """A line that a text names; with the text that carets or tildes mark in it, and how far they are indented."""

    path: str
    line: int
    function: str
    text: str
    marked: tuple[int, int] | None


class Told(NamedTuple):
    """The error that a message is about: its type, its own message, and its places, the outermost first."""

    type: str
    message: str
    places: tuple[Place, ...]
    worker: bool
    shapes: tuple[tuple[int, ...], ...] = ()
    """Those of the operands that a compiler was tracing with."""


def innermost(error: BaseException, is_origin: Callable[[BaseException], bool]) -> BaseException:
    """The exception that the others only pass on: of a group the first, of a chain the last that `is_origin` accepts."""
    found = error
    current: BaseException | None = error
    for _ in range(MAX_DEPTH):
        if current is None:
            break
        inner = getattr(current, "exceptions", None)
        if isinstance(inner, tuple) and inner and all(isinstance(item, BaseException) for item in inner):
            found = current = next((item for item in inner if is_origin(item)), inner[0])
            continue
        cause = current.__cause__
        if cause is None and not current.__suppress_context__:
            cause = current.__context__
        if cause is not None and is_origin(cause):
            found = cause
        current = cause
    return found


def told(error: BaseException, message: str, forward: str | None = None) -> Told | None:
    """The real error according to the message of another one, or to the text that came with it from another process. `forward`:
    the stack of the operation whose gradient it is about."""
    if forward is not None:
        return Told(type(error).__name__, message, tuple(_places(forward)), False)
    remote = getattr(error.__cause__, "tb", None)
    if isinstance(remote, str) and _TRACEBACK in remote:
        return _of_traceback(remote)
    if _TRACEBACK in message:
        return _of_traceback(message)
    if type(error).__name__ == "MaybeEncodingError" and (unsent := _UNSENT.search(message)) is not None:
        return Told(unsent[1], unsent[3], (), True)
    if " <--- HERE" in message:
        return _of_script(error, message)
    if "from user code:" in message:
        return _of_compiler(error, message)
    return None


def _of_traceback(text: str) -> Told | None:
    """The innermost error of a printed chain: that of the first traceback, unless others happened while it was handled."""
    blocks = text.split(_TRACEBACK)[1:]
    block = blocks[0]
    if "During handling of the above exception" in block:
        block = blocks[-1]
    block = re.split(r"\n\s*\n(?:The above exception was|During handling)", block)[0].strip().strip('"').rstrip()
    last = _LAST.search(block)
    if last is None:
        return None
    own = (last[1].rsplit(".", 1)[-1], (last[2] or "").strip())
    inner = _of_compiler_text(own[1]) or _of_script_text(own[1])
    if inner is not None:
        return Told(inner.type or own[0], inner.message, (*_places(block[: last.start()]), *inner.places), True)
    return Told(*own, tuple(_places(block)), True)


def _places(text: str) -> Iterator[Place]:
    for match in _ENTRY.finditer(text + "\n"):
        marks = match[6]
        marked = None
        if marks:
            column = match[0].splitlines()[2].index(marks[0]) - len(match[4])
            marked = (column, column + len(marks))
        yield Place(match[1], int(match[2]), match[3] or "", match[5], marked)


def _of_script(error: BaseException, message: str) -> Told | None:
    found = _of_script_text(message)
    return found and Told(found.type or type(error).__name__, found.message, found.places, False)


def _of_script_text(message: str) -> Told | None:
    """An error of ``torch.jit.script``, or of the interpreter that runs what it made."""
    places = []
    for match in _SCRIPTED.finditer(message):
        text = match[4].splitlines()[-1] if match[4].strip() else ""
        indent = len(text) - len(text.lstrip())
        start = len(match[5]) - indent
        marked = (start, start + len(match[6])) if start >= 0 else None
        places.append(Place(match[1], int(match[2]), match[3] or "", text.strip(), marked))
    if not places:
        return None
    if "is being compiled since it was called from" in message:
        places.reverse()  # the innermost stands first there
    last = _LAST.search(message.strip())
    if "Traceback of TorchScript" in message and last is not None:
        return Told(last[1].rsplit(".", 1)[-1], (last[2] or "").strip(), tuple(places), False)
    return Told("", message.split("\n  File ", 1)[0].strip().rstrip(":"), tuple(places), False)


def _of_compiler(error: BaseException, message: str) -> Told | None:
    found = _of_compiler_text(message)
    return found and found._replace(type=found.type or type(error).__name__)


def _of_compiler_text(message: str) -> Told | None:
    """An error that ``torch.compile`` or ``torch.export`` met while it traced the user's code."""
    if "from user code:" not in message:
        return None
    before, _, after = message.partition("from user code:")
    places = tuple(_places(after))
    inside = _INSIDE.search(before)
    if inside is None:
        return Told("", before.strip(), places, False)
    operands = before[: inside.start()]
    shapes = tuple(tuple(map(int, re.findall(r"\d+", sizes))) for sizes in _TRACED.findall(operands))
    return Told(inside[1], inside[3].encode().decode("unicode_escape", "replace"), places, False, shapes)


def place_span(place: Place, source: str) -> Span | None:
    """The columns of what is marked in a place, as `ast` counts them."""
    lines = source.splitlines()
    if place.marked is None or not 0 < place.line <= len(lines):
        return None
    line = lines[place.line - 1]
    indent = len(line) - len(line.lstrip())
    start, end = (len(line[: indent + column].encode()) for column in place.marked)
    return (place.line, start, place.line, end)


def worker_of(message: str) -> int | None:
    """The number of the loader's worker that a message is about."""
    found = _ITEM.search(message)
    return int(found[1]) if found is not None else None

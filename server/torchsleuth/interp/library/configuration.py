"""Paths, and the configuration files that lie beside the script: JSON, YAML and TOML are read as the data that they are.

Only what stands in the folder of the file that reads it, or below a root of the workspace, is looked at. Of a file that the script
itself writes, the text is what it writes there. A file that is missing, large or not plain is unknown.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import dictionaries, files
from torchsleuth.interp.models import Model, method, models
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import plain_yaml
from torchsleuth.syntax.files import Unreadable, read_bytes
from torchsleuth.tensors.spec import Native
from torchsleuth.values import UNKNOWN, LibraryObject, Scalar, Value, is_object, is_unknown
from torchsleuth.values.frames import Frame

FILE = "io.TextIOWrapper"
"""A configuration that was opened, or a file that the script writes. Slot `text`: what was written so far, None where that is not
known; there is none in one that lies on the disk."""
MAX_SIZE = 100_000
_KINDS = (".json", ".yaml", ".yml", ".toml")


def _toml(text: str) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib

        return tomllib.loads(text)
    raise ValueError("nothing of Python's own reads TOML before 3.11")


_READERS: dict[str, Callable[[str], Any]] = {
    "json.load": json.loads,
    "yaml.safe_load": plain_yaml.load,
    "yaml.full_load": plain_yaml.load,
    "yaml.load": plain_yaml.load,
    "tomllib.load": _toml,
    "tomli.load": _toml,
    "toml.load": _toml,
}


def opened(interp: Interpreter, given: Value, mode: Value, call: Arguments) -> Value:
    """``open(path)``: the file, if it is a configuration that lies there."""
    path = given if isinstance(given, str) else files.path_text(given)
    key = files.key_of(interp, given)
    if not isinstance(mode, str) or set(mode) & set("wax+"):
        if path is not None:
            interp.heap.set(interp.files.slots, _written_key(path), True)
        return _begun(interp, given, key, mode, call)
    written = interp.files.slots.get(("text", key))
    if written is not None:
        known = written_text(interp, written) if set(mode) <= set("rt") else None
        return UNKNOWN if known is None else _file(interp, given, known, call)
    if path is None or not path.endswith(_KINDS):
        return UNKNOWN
    return LibraryObject(FILE, (path,), {}, interp.site(call.node, call.frame))


def _begun(interp: Interpreter, given: Value, key: object, mode: Value, call: Arguments) -> Value:
    """A file that is opened for writing."""
    if key is None:
        return UNKNOWN
    made = _file(interp, given, "" if mode in ("w", "x", "wt", "xt") else None, call)
    interp.heap.set(interp.files.slots, ("text", key), made)
    return made


def _file(interp: Interpreter, given: Value, text: str | None, call: Arguments) -> LibraryObject:
    made = LibraryObject(FILE, (given,), {}, interp.site(call.node, call.frame))
    made.slots["text"] = text
    return made


def written_text(interp: Interpreter, file: Value) -> str | None:
    """The text that the script has written into a file, if nothing that is not known may have written there, too."""
    if not is_object(file, FILE) or file.identity in interp.trace.escaped:
        return None
    return as_kind(file.slots.get("text"), str)


def write(interp: Interpreter, file: Value, text: Value) -> None:
    """Text that is put at the end of a file; None where it is not known."""
    if is_object(file, FILE) and "text" in file.slots:
        before, more = as_kind(file.slots["text"], str), as_kind(text, str)
        whole = before + more if before is not None and more is not None else None
        interp.heap.set(file.slots, "text", None if whole is None or len(whole) > MAX_SIZE else whole)


def text_of(interp: Interpreter, path: str, call: Arguments) -> str | None:
    """The text of a configuration."""
    if interp.files.slots.get(_written_key(path)):
        return None
    folder = os.path.dirname(os.path.abspath(interp.site(call.node, call.frame).span.path))
    for top in (folder, *interp.workspace.roots):
        file, inside = os.path.realpath(os.path.join(top, path)), (folder, *interp.workspace.roots)
        if not file.endswith(_KINDS) or not any(_is_below(file, os.path.realpath(place)) for place in inside):
            continue
        try:
            content = read_bytes(file)
            return content.decode("utf-8") if len(content) <= MAX_SIZE else None
        except (Unreadable, UnicodeDecodeError):
            continue
    return None


def _is_below(file: str, folder: str) -> bool:
    return os.path.dirname(folder) != folder and file.startswith(folder.rstrip(os.sep) + os.sep)


def _written_key(path: str) -> tuple[str, str]:
    return ("written", os.path.basename(path))


@models("os.path.abspath", "os.path.realpath")
def _absolute(interp: Interpreter, call: Arguments) -> Value:
    """Paths are followed as they are written; where a relative one leads is not known."""
    given = call.given(0, "path")
    path = given if isinstance(given, str) else files.path_text(given)
    return os.path.normpath(path) if path is not None and os.path.isabs(path) else Scalar("str")


@models("io.open", "codecs.open")
def _open(interp: Interpreter, call: Arguments) -> Value:
    return opened(interp, call.given(0, "file"), call.given(1, "mode", "r"), call) if call.exact else UNKNOWN


@models(*_READERS)
def _read(interp: Interpreter, call: Arguments) -> Value:
    given = call.args[0] if call.args and call.exact else None
    text = given if isinstance(given, str) and call.path != "json.load" else None
    if is_object(given, FILE) and "text" in given.slots:
        text = written_text(interp, given)
    elif is_object(given, FILE) and isinstance(given.args[0], str):
        text = text_of(interp, given.args[0], call)
    elif text is not None and call.path == "toml.load":
        text = text_of(interp, text, call)
    return UNKNOWN if text is None else parsed(call.path, text)


def parsed(reader: str, text: str) -> Value:
    """The data that a reader, such as ``yaml.safe_load``, gives for a text; unknown where it refuses it."""
    if len(text) > MAX_SIZE:
        return UNKNOWN
    try:
        return dictionaries.from_json(_READERS[reader](text))
    except (ValueError, RecursionError):
        return UNKNOWN


_DUMPS = {"json.dump": (), "yaml.dump": ("sort_keys", "default_flow_style", "indent"), "yaml.safe_dump": ()}
"""Functions that write data into a file, and options of theirs that leave the data as it is."""


@models(*_DUMPS)
def _dump(interp: Interpreter, call: Arguments) -> Value:
    """The data are written as JSON, which YAML takes, too."""
    file = call.given(1, "fp" if call.name == "dump" and call.path.startswith("json") else "stream")
    if not is_object(file, FILE):
        return UNKNOWN
    plain = call.exact and call.kwargs.keys() <= {"fp", "stream", "indent", "sort_keys", "default_flow_style"}
    dumps = Native("json.dumps", "function")
    text = interp.call(dumps, Arguments(call.args[:1], {}, call.node, call.frame)) if plain else None
    write(interp, file, text)
    return None


@models(FILE)
class ConfigurationFile(Model):
    """A configuration that was opened for reading, or a file that the script writes."""

    @method
    def write(self, call: Arguments) -> Value:
        write(self.interp, self.value, call.args[0] if call.exact and len(call.args) == 1 else None)
        return self.interp.fresh_size("?", positive=False)

    @method
    def read(self, call: Arguments) -> Value:
        if "text" in self.value.slots:
            text = written_text(self.interp, self.value)
            return UNKNOWN if text is None or call.args else text
        path = as_kind(self.value.args[0], str)
        text = text_of(self.interp, path, call) if path is not None and not call.args else None
        return UNKNOWN if text is None else text

    @method("close", "flush")
    def close(self, call: Arguments) -> Value:
        return None

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        text = written_text(self.interp, self.value) if "text" in self.value.slots else None
        if text is None:
            return super().iterate(node, frame)
        return Iteration(tuple(text.splitlines(keepends=True)), exact=True)

    def other(self, call: Arguments) -> Value:
        write(self.interp, self.value, None)
        return super().other(call)


def _path_method(interp: Interpreter, owner: LibraryObject, name: str, call: Arguments) -> Value:
    """``path.open()`` and ``path.read_text()``, and what writes there."""
    path = files.path_text(owner)
    key = files.key_of(interp, owner)
    if name == "write_text":
        write(interp, _begun(interp, owner, key, "w", call), call.args[0] if call.exact and call.args else None)
    if name == "open":
        return opened(interp, owner, call.given(0, "mode", "r"), call)
    if name == "read_text" and (written := interp.files.slots.get(("text", key))) is not None:
        text = written_text(interp, written)
        return UNKNOWN if text is None else text
    if path is None:
        return UNKNOWN
    if name in ("resolve", "absolute") and os.path.isabs(path):
        return LibraryObject(files.PATH, (os.path.normpath(path),), {}, None)
    if name in ("write_text", "write_bytes", "touch"):
        interp.heap.set(interp.files.slots, _written_key(path), True)
    if name == "read_text":
        text = text_of(interp, path, call) if path.endswith(_KINDS) else None
        return UNKNOWN if text is None else text
    return UNKNOWN


@models(files.PATH, "pathlib.PurePath", "pathlib.PurePosixPath")
class Path(Model):
    """A path, by its parts."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        return LibraryObject(files.PATH, call.args, call.kwargs, interp.site(call.node, call.frame))

    def get(self, node: ast.AST, frame: Frame) -> Value:
        part = files.path_attribute(self.value, self.name)
        return super().get(node, frame) if part is None else part

    def run(self, call: Arguments) -> Value:
        value = files.path_method(self.interp, self.value, self.name, call)
        if is_unknown(value):
            value = _path_method(self.interp, self.value, self.name, call)
        return self.other(call) if is_unknown(value) else value


__all__ = ["FILE", "opened", "parsed", "text_of", "write", "written_text"]

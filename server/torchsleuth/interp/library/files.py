"""torch.save and torch.load: what a script writes into a file, it reads from there again."""

from __future__ import annotations

import operator
import os.path
from collections.abc import Callable
from pathlib import PurePosixPath

from torchsleuth.interp import exceptions, misuse
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import copies, parameters
from torchsleuth.interp.models import Model, attribute, method, models
from torchsleuth.sifting import all_are, any_are
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    Array,
    DictValue,
    Entries,
    Instance,
    LibraryObject,
    ListValue,
    Maybe,
    Scalar,
    Several,
    Site,
    Tensor,
    Value,
    is_int,
    is_module,
    is_object,
)
from torchsleuth.values.frames import Frame

PATH = "pathlib.Path"
FOLDER = "tempfile.TemporaryDirectory"
OBJECTS = frozenset({PATH, "io.BytesIO", "io.StringIO", "tempfile.NamedTemporaryFile", "tempfile.TemporaryFile"})
"""The classes of what is a file, or says where one is."""
PICKLED = "torch.load.object"
"""The path of an object in a file that is no tensor, number, string or container of these: what it is, is its argument. Its site: the
call that wrote it."""
_SAVED_FOLDER = "torch.save.folder"
"""The path of what stands for a folder that a library writes; its argument is the file in it that holds the weights, if that is
known."""
_WEIGHTS = "pytorch_model.bin"
_REFUSED = ("argparse.Namespace", PATH)
"""Classes whose objects a file of weights may not hold, beside those of scikit-learn and the user's own."""


@models("torch.save")
def save(interp: Interpreter, call: Arguments) -> None:
    given = call.given(0, "obj")
    held = (given.items or {}).values() if isinstance(given, DictValue) else ()
    for part in (given, *held):
        misuse.needs_result(interp, part, call.node, call.frame)
    contents = written(interp, given, interp.site(call.node, call.frame))
    key = key_of(interp, call.given(1, "f")) if call.exact else None
    if key is not None:
        interp.heap.set(interp.files.slots, key, contents)
        return
    # It may be any of those that were written before.
    for other in list(interp.files.slots):
        interp.heap.set(interp.files.slots, other, UNKNOWN)


@models("torch.load")
def load(interp: Interpreter, call: Arguments) -> Value:
    key = key_of(interp, call.given(0, "f")) if call.exact else None
    held = interp.files.slots.get(key, UNKNOWN) if key is not None else UNKNOWN
    _finds_none(interp, key, call)
    given = call.kwargs.get("weights_only")
    pickled = list(_pickled(held))
    if pickled and given in (None, True):
        misuse.refused(interp, pickled[0], call.node, call.frame)
        return UNKNOWN
    return _elsewhere(held)


def made_folder(interp: Interpreter, path: Value, call: Arguments, weights: str | None = None) -> None:
    """A library writes a folder. `weights`: the file in it that holds the weights of a model, if it is one."""
    key = key_of(interp, path)
    if key is not None:
        made = LibraryObject(_SAVED_FOLDER, (weights,), {}, interp.site(call.node, call.frame))
        interp.heap.set(interp.files.slots, key, made)


def _finds_none(interp: Interpreter, key: object, call: Arguments) -> None:
    """A path that is read is a folder, or a file of weights that has another name in the folder that was written."""
    slots = interp.files.slots
    if not isinstance(key, str):
        return
    if is_object(slots.get(key), _SAVED_FOLDER):
        misuse.refuses(interp, "torch.load", call, "IsADirectoryError", f"[Errno 21] Is a directory: {key!r}")
        return
    folder, _, name = key.rpartition("/")
    held = slots.get(folder)
    if name == _WEIGHTS and key not in slots and is_object(held, _SAVED_FOLDER) and held.args[0] not in (None, name):
        misuse.refuses(
            interp,
            "torch.load",
            call,
            "FileNotFoundError",
            f"[Errno 2] No such file or directory: {key!r}; {held.args[0]} is in this folder",
        )


def joined(left: Value, right: Value) -> Value | None:
    """``path / name``, None for other values."""
    if is_object(left, PATH):
        return LibraryObject(PATH, (left, right), {}, None)
    return None


@models(FOLDER)
class TemporaryFolder(Model):
    """A folder whose name is made up."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        made = super().made(interp, call)
        if isinstance(made, LibraryObject):
            made.slots["name"] = Scalar("str")
        return made

    @method
    def cleanup(self, call: Arguments) -> Value:
        return None

    @attribute("name")
    def told(self, node: object, frame: Frame) -> Value:
        return self.value.slots["name"]


@models("os.path.join")
def _join(interp: Interpreter, call: Arguments) -> Value:
    parts = [path_text(part) or part for part in call.args]
    if call.exact and parts and all_are(parts, str):
        return os.path.join(*map(str, parts))
    return Scalar("str", made_of=tuple(parts) if call.exact else ())


_ATTRIBUTES = frozenset("name stem suffix suffixes parts".split())


def path_attribute(owner: LibraryObject, name: str) -> Value | None:
    """An attribute of a path: a part of its text, or another path; None for methods."""
    if owner.path != PATH or name not in (*_ATTRIBUTES, "parent", "parents", "anchor", "root", "drive"):
        return None
    parts = _parts(owner)
    if parts is None or name not in (*_ATTRIBUTES, "parent", "parents"):
        return UNKNOWN
    made = getattr(PurePosixPath(*parts), name)
    if name == "parents":
        return tuple(LibraryObject(PATH, (str(one),), {}, None) for one in made)
    if isinstance(made, PurePosixPath):
        return LibraryObject(PATH, (str(made),), {}, None)
    return ListValue(tuple(made)) if isinstance(made, list) else made


def path_text(owner: Value) -> str | None:
    """``str(path)``, None where it is not known."""
    parts = _parts(owner) if is_object(owner, PATH) else None
    return None if parts is None else str(PurePosixPath(*parts))


def path_method(interp: Interpreter, owner: LibraryObject, name: str, call: Arguments) -> Value:
    """A method that makes a path of another; UNKNOWN for others."""
    parts = _parts(owner)
    if name == "joinpath":
        return LibraryObject(PATH, (owner, *call.args), {}, None)
    args = [path_text(one) or one for one in call.args]
    plain = parts is not None and all_are(args, str) and not call.kwargs
    if not plain or name not in _METHODS:
        return UNKNOWN
    try:
        made = getattr(PurePosixPath(*(parts or ())), name)(*args)
    except ValueError as error:
        exceptions.throw(interp, exceptions.of_python(error))
        return UNKNOWN
    return LibraryObject(PATH, (str(made),), {}, None) if isinstance(made, PurePosixPath) else made


_METHODS = frozenset("with_suffix with_name with_stem as_posix relative_to is_relative_to match is_absolute".split())


def compared(name: str, left: Value, right: Value) -> bool | None:
    """A comparison of two paths whose texts are known; None for other values."""
    one, two = path_text(left), path_text(right)
    if one is None or two is None:
        return None
    verdict: bool = getattr(operator, name)(PurePosixPath(one), PurePosixPath(two))
    return verdict


def key_of(interp: Interpreter, value: Value) -> object:
    """The identity of a file among others, None where it is not known."""
    match value:
        case str():
            return value
        case LibraryObject() if value.path in OBJECTS:
            parts = _parts(value)
            if parts is not None:
                return "/".join(parts)
            composed = tuple(key_of(interp, part) for part in value.args) if value.path == PATH else ()
            return composed if composed and None not in composed else value.identity
        case Scalar(type="str"):
            composed = tuple(key_of(interp, part) if isinstance(part, str | Scalar) else None for part in value.made_of)
            if composed and None not in composed:
                return composed
            # Each evaluation of an expression gives a string of its own; it is kept, so that no other gets its identity.
            interp.kept.append(value)
            return id(value)
    return None


def _parts(value: Value) -> list[str] | None:
    """The parts of a path that is known."""
    if isinstance(value, str):
        return [value]
    if not is_object(value, PATH) or not value.args:
        return None
    found = [_parts(part) for part in value.args]
    return None if None in found else [part for parts in found for part in parts or ()]


def written(interp: Interpreter, value: Value, site: Site) -> Value:
    """The contents of a file: what is changed later is not."""
    value = parameters.as_entries(interp, value)
    match value:
        case DictValue():
            made = DictValue(_each(value.entries, lambda one: written(interp, one, site)))
            made.from_file = True
            made.slots["state"] = value.slots.get("state")
            return made
        case ListValue():
            elements = value.elements
            if elements is None or isinstance(elements, Several):
                return ListValue(None)
            return ListValue(tuple(written(interp, one, site) for one in elements))
    if type(value) is tuple:
        return tuple(written(interp, one, site) for one in value)
    if isinstance(value, Tensor):
        return Tensor(interp.resolved_spec(value.spec).with_(requires_grad=None))
    if _is_of_class(value):
        return LibraryObject(PICKLED, (value,), {}, site)
    return value if isinstance(value, str | int | float | Scalar | type(None)) or is_int(value) else UNKNOWN


def _is_of_class(value: Value) -> bool:
    """Whether it is an object that only its class can make again: a module, one of the user's, an array, a scaler."""
    if isinstance(value, LibraryObject):
        return value.path in _REFUSED or value.path.startswith("sklearn.")
    return is_module(value) or isinstance(value, Array) or isinstance(value, Instance) and value.native is None


def _each(entries: Entries | None, change: Callable[[Value], Value]) -> Entries | None:
    """The entries of a dict with each value changed; None where some of them may be missing."""
    if entries is None or any_are(entries.values(), Maybe):
        return None
    return {key: (value[0], change(value[1])) if key is OTHERS else change(value) for key, value in entries.items()}


def _pickled(value: Value) -> list[LibraryObject]:
    """The objects in the contents of a file."""
    if isinstance(value, LibraryObject):
        return [value] if value.path == PICKLED else []
    parts = value.elements if isinstance(value, ListValue | DictValue) else value if type(value) is tuple else ()
    return [found for part in parts or () for found in _pickled(part)]


def _elsewhere(value: Value) -> Value:
    """The contents as new objects, on a device that is not known."""
    match value:
        case DictValue():
            made = DictValue(_each(value.entries, _elsewhere))
            made.from_file = True
            made.slots["state"] = value.slots.get("state")
            return made
        case ListValue():
            return ListValue(None if value.items is None else tuple(_elsewhere(one) for one in value.items))
    if type(value) is tuple:
        return tuple(_elsewhere(one) for one in value)
    if is_object(value, PICKLED):
        return copies.deep(value.args[0])
    return Tensor(value.spec.with_(device=None)) if isinstance(value, Tensor) else value


__all__ = [
    "FOLDER",
    "OBJECTS",
    "PATH",
    "compared",
    "joined",
    "key_of",
    "load",
    "made_folder",
    "path_attribute",
    "path_method",
    "path_text",
    "save",
    "written",
]

"""Checkpoints of Lightning: the files that its trainer writes, and the callbacks that know their paths."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import files, hierarchy, states
from torchsleuth.interp.models import Model, models
from torchsleuth.sifting import of_kind
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    Scalar,
    Site,
    Value,
    elements_of,
)
from torchsleuth.values.frames import Frame

CHECKPOINT = "lightning.pytorch.callbacks.ModelCheckpoint"
_PATHS = ("best_model_path", "last_model_path")


@models(CHECKPOINT, "pytorch_lightning.callbacks.ModelCheckpoint")
class ModelCheckpoint(Model):
    """The callback that writes checkpoints. Its paths are known only after the training; nothing else of it is."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        return _new(call.args, call.kwargs, interp.site(call.node, call.frame))

    def get(self, node: ast.AST, frame: Frame) -> Value:
        found: Value = self.value.slots.get(self.name, UNKNOWN)
        return found


def _new(args: tuple[Value, ...], kwargs: dict[str, Value], site: Site | None) -> LibraryObject:
    made = LibraryObject(CHECKPOINT, args, kwargs, site)
    for name in _PATHS:
        made.slots[name] = Scalar("str")
    return made


def that_save(interp: Interpreter, call: Arguments) -> Value:
    """Those of the callbacks of a trainer that write checkpoints: one of its own where there is none and it is not told to have none."""
    given, enabled = interp.resolved(call.args[0]), interp.resolved(call.args[1])
    held = elements_of(given) if isinstance(given, ListValue | tuple) else (given,)
    found = [one for one in of_kind(held or (), LibraryObject) if one.path == CHECKPOINT]
    if not found and enabled is not False:
        found = [_new((), {}, None)]
    return ListValue(tuple(found))


def contents(interp: Interpreter, call: Arguments) -> Value:
    """The checkpoint of a model: its state, and what callbacks and loops put beside it."""
    model, site = call.first, interp.site(call.node, call.frame)
    if not isinstance(model, Instance) or states.decides(interp, model):
        return UNKNOWN
    state = files.written(interp, LibraryObject(hierarchy.STATE, (model,), {}, site), site)
    return DictValue({OTHERS: (Scalar("str"), UNKNOWN), "state_dict": state})


def saved(interp: Interpreter, call: Arguments) -> Value:
    """A checkpoint that is written by callbacks, or to a path."""
    checkpoint, given = call.args
    written = files.written(interp, checkpoint, interp.site(call.node, call.frame))
    for path in _paths(given):
        key = files.key_of(interp, interp.resolved(path))
        if key is not None:
            interp.heap.set(interp.files.slots, key, written)
    return None


def _paths(given: Value) -> Iterator[Value]:
    if not isinstance(given, ListValue):
        yield given
        return
    for one in of_kind(given.items or (), LibraryObject):
        yield from (one.slots[name] for name in _PATHS)
        folder, name = _argument(one, 0, "dirpath"), _argument(one, 1, "filename")
        folder = files.path_text(folder) or folder
        if isinstance(folder, str):
            names = ("last", name) if one.kwargs.get("save_last") is True else (name,)
            yield from (f"{folder}/{part}.ckpt" for part in names if isinstance(part, str) and "{" not in part)


def _argument(one: LibraryObject, place: int, name: str) -> Value:
    return one.args[place] if place < len(one.args) else one.kwargs.get(name)


__all__ = ["CHECKPOINT", "contents", "saved", "that_save"]

"""OmegaConf: configurations whose entries are attributes as well as items, read from files beside the script as data."""

from __future__ import annotations

import ast
import posixpath
from typing import Any

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import configuration, dictionaries, files
from torchsleuth.interp.models import Model, method, models
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import plain_yaml
from torchsleuth.values import UNKNOWN, Bound, DictValue, LibraryObject, ListValue, Value, is_object, is_unknown
from torchsleuth.values.frames import Frame

CONFIG = "omegaconf.DictConfig"
_DEPTH = 20
_INTERPOLATION = "${"


def config(value: Value, depth: int = _DEPTH) -> Value:
    """A configuration of plain data: dictionaries have attributes, and what refers to something else is not known."""
    if isinstance(value, str) and (_INTERPOLATION in value or value == "???"):
        return UNKNOWN
    if isinstance(value, ListValue) and value.items is not None and depth:
        return ListValue(tuple(config(one, depth - 1) for one in value.items))
    if not isinstance(value, DictValue) or not depth:
        return value
    made = LibraryObject(CONFIG, (), {}, None)
    if value.items is None:
        return UNKNOWN
    made.slots.update({str(key): config(one, depth - 1) for key, one in value.items.items()})
    return made


def plain(value: Value, depth: int = _DEPTH) -> Value:
    """The dictionaries and lists of a configuration."""
    if is_object(value, CONFIG) and depth:
        return DictValue({key: plain(one, depth - 1) for key, one in _entries(value).items()})
    return value


def _entries(value: LibraryObject) -> dict[str, Value]:
    return {key: one for key, one in value.slots.items() if isinstance(key, str)}


@models(CONFIG)
class DictConfig(Model):
    """A configuration."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        return config(call.first) if call.exact and isinstance(call.first, DictValue) else UNKNOWN

    def get(self, node: ast.AST, frame: Frame) -> Value:
        held = self.value.slots
        if self.name in held:
            return held[self.name]
        return Bound(self.value, self.name) if self.name in self.methods else UNKNOWN

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        return self.value.slots.get(key, UNKNOWN) if isinstance(key, str) else UNKNOWN

    @method("get")
    def entry(self, call: Arguments) -> Value:
        key = as_kind(call.first, str)
        if key is None:
            return UNKNOWN
        return self.value.slots[key] if key in self.value.slots else call.given(1, "default_value")

    @method("keys", "values", "items", "copy")
    def as_dictionary(self, call: Arguments) -> Value:
        entries = DictValue(_entries(self.value))
        if self.name == "copy":
            return config(plain(self.value))
        return self.interp.call(Bound(entries, self.name), Arguments((), {}, call.node, call.frame))


@models("omegaconf.OmegaConf.load")
def _load(interp: Interpreter, call: Arguments) -> Value:
    given = call.first
    path = given if isinstance(given, str) else files.path_text(given)
    return _read(interp, path, call) if path is not None and call.exact else UNKNOWN


def _read(interp: Interpreter, path: str, call: Arguments) -> Value:
    data = _data(interp, path, call)
    return UNKNOWN if data is None else config(dictionaries.from_json(data))


def _data(interp: Interpreter, path: str, call: Arguments) -> Any:
    text = configuration.text_of(interp, path, call)
    if text is None or len(text) > configuration.MAX_SIZE:
        return None
    try:
        return plain_yaml.load(text)
    except (ValueError, RecursionError):
        return None


@models("omegaconf.OmegaConf.create")
def _create(interp: Interpreter, call: Arguments) -> Value:
    return config(call.first) if call.exact and isinstance(call.first, DictValue | ListValue) else UNKNOWN


@models("omegaconf.OmegaConf.from_cli")
def _from_cli(interp: Interpreter, call: Arguments) -> Value:
    """Nothing is given: that is one real execution."""
    return config(DictValue({})) if not call.args else UNKNOWN


@models("omegaconf.OmegaConf.merge", "omegaconf.OmegaConf.unsafe_merge")
def _merge(interp: Interpreter, call: Arguments) -> Value:
    merged: Value = DictValue({})
    for part in map(plain, call.args):
        merged = _over(merged, part)
    return config(merged) if call.exact else UNKNOWN


def _over(below: Value, above: Value, depth: int = _DEPTH) -> Value:
    """A dictionary with the entries of another one in their places."""
    if is_unknown(below) or is_unknown(above):
        return UNKNOWN
    if not isinstance(below, DictValue) or not isinstance(above, DictValue) or not depth:
        return above
    if below.items is None or above.items is None:
        return UNKNOWN
    found = dict(below.items)
    for key, one in above.items.items():
        found[key] = _over(found[key], one, depth - 1) if key in found else one
    return DictValue(found)


@models("omegaconf.OmegaConf.to_container", "omegaconf.OmegaConf.to_object")
def _container(interp: Interpreter, call: Arguments) -> Value:
    return plain(call.first) if is_object(call.first, CONFIG) else UNKNOWN


def composed(interp: Interpreter, main: LibraryObject, call: Arguments) -> Value:
    """The configuration of ``@hydra.main(config_path="conf", config_name="config")``, with the defaults that it lists."""
    given = Arguments(main.args, main.kwargs, call.node, call.frame)
    folder, name = given.given(0, "config_path"), given.given(1, "config_name")
    if not isinstance(folder, str) or not isinstance(name, str):
        return UNKNOWN
    data = _composed(interp, folder, name.removesuffix(".yaml"), call)
    return UNKNOWN if data is None else config(data)


def _composed(interp: Interpreter, folder: str, name: str, call: Arguments, depth: int = 5) -> Value:
    """A file and those it lists under ``defaults``; None where one of them is not there."""
    data = _data(interp, posixpath.join(folder, f"{name}.yaml"), call)
    if not isinstance(data, dict) or not depth:
        return None
    listed = data.pop("defaults", [])
    own = dictionaries.from_json(data)
    parts: list[Value] = []
    for one in listed if isinstance(listed, list) else ():
        if one == "_self_":
            parts.append(own)
            continue
        group, _, option = one.rpartition("/") if isinstance(one, str) else ("", "", "")
        if isinstance(one, dict) and len(one) == 1:
            ((group, option),) = one.items()
        if not isinstance(group, str) or "override" in group or "@" in group or not isinstance(option, str):
            return None
        inner = _composed(interp, posixpath.join(folder, group), option, call, depth - 1)
        if inner is None:
            return None
        for step in reversed(group.split("/") if group else ()):
            inner = DictValue({step: inner})
        parts.append(inner)
    if "_self_" not in listed:
        parts.append(own)
    merged: Value = DictValue({})
    for part in parts:
        merged = _over(merged, part)
    return merged


__all__ = ["CONFIG", "composed", "config"]

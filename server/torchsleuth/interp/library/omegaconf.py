"""OmegaConf: configurations whose entries are attributes as well as items, read from files beside the script as data."""

from __future__ import annotations

import ast
import posixpath

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import configuration, files
from torchsleuth.interp.models import Model, method, models
from torchsleuth.sifting import as_kind
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    DictValue,
    LibraryObject,
    ListValue,
    Value,
    is_object,
    is_unknown,
    items_of,
)
from torchsleuth.values.frames import Frame

CONFIG = "omegaconf.DictConfig"
_DEPTH = 20
_INTERPOLATION = "${"
MAX_FILES = 50
"""Files that one configuration is composed of."""


def config(value: Value, depth: int = _DEPTH) -> Value:
    """A configuration of plain data: dictionaries have attributes, and what refers to something else is not known."""
    if isinstance(value, str) and (_INTERPOLATION in value or value == "???"):
        return UNKNOWN
    if isinstance(value, ListValue) and value.items is not None and depth:
        return ListValue(tuple(config(one, depth - 1) for one in value.items))
    if not isinstance(value, DictValue) or not depth:
        return value
    if value.items is None:
        return UNKNOWN
    made = LibraryObject(CONFIG, (), {}, None)
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

    @method
    def copy(self, call: Arguments) -> Value:
        return config(plain(self.value))

    @method("keys", "values", "items")
    def as_dictionary(self, call: Arguments) -> Value:
        entries = DictValue(_entries(self.value))
        return self.interp.call(Bound(entries, self.name), Arguments((), {}, call.node, call.frame))


@models("omegaconf.OmegaConf.load")
def _load(interp: Interpreter, call: Arguments) -> Value:
    given = call.first
    path = given if isinstance(given, str) else files.path_text(given)
    return config(_read(interp, path, call)) if path is not None and call.exact else UNKNOWN


def _read(interp: Interpreter, path: str, call: Arguments) -> Value:
    """The plain data of a YAML file, unknown where there are none."""
    text = configuration.text_of(interp, path, call)
    return UNKNOWN if text is None else configuration.parsed("yaml.safe_load", text)


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
    return config(_Composition(interp, call).of(folder, name.removesuffix(".yaml")))


class _Composition:
    """A configuration of several files, each of which lists others under ``defaults``; unknown where one of them is not there."""

    def __init__(self, interp: Interpreter, call: Arguments) -> None:
        self._interp = interp
        self._call = call
        self._left = MAX_FILES

    def of(self, folder: str, name: str) -> Value:
        self._left -= 1
        data = _read(self._interp, posixpath.join(folder, f"{name}.yaml"), self._call) if self._left >= 0 else UNKNOWN
        if not isinstance(data, DictValue) or data.items is None:
            return UNKNOWN
        own = DictValue({key: one for key, one in data.items.items() if key != "defaults"})
        listed = items_of(data.items.get("defaults", ())) or ()
        parts = [own if one == "_self_" else self._listed(folder, one) for one in listed]
        merged: Value = DictValue({})
        for part in parts if "_self_" in listed else (*parts, own):
            merged = _over(merged, part)
        return merged

    def _listed(self, folder: str, one: Value) -> Value:
        """``model: small``, or ``data``: an entry of the defaults."""
        group: Value
        option: Value
        group, _, option = one.rpartition("/") if isinstance(one, str) else ("", "", None)
        if isinstance(one, DictValue) and one.items is not None and len(one.items) == 1:
            ((group, option),) = one.items.items()
        if not isinstance(group, str) or "override" in group or "@" in group or not isinstance(option, str):
            return UNKNOWN
        inner = self.of(posixpath.join(folder, group), option)
        for step in reversed(group.split("/") if group else ()):
            inner = DictValue({step: inner})
        return inner


__all__ = ["CONFIG", "composed", "config"]

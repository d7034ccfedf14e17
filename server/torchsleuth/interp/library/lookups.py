"""Lookups by text: modules by `importlib`, in `sys.modules`, names by `eval`."""

from __future__ import annotations

import re

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.models import models
from torchsleuth.sifting import as_kind
from torchsleuth.values import UNKNOWN, Namespace, Value, is_unknown
from torchsleuth.values.frames import Frame
from torchsleuth.values.names import Names

_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@models("importlib.import_module")
def _imported(interp: Interpreter, call: Arguments) -> Value:
    """The module of a name, which may be relative to a package."""
    name, package = call.given(0, "name"), as_kind(call.given(1, "package", None), str)
    if not call.exact or not isinstance(name, str):
        return UNKNOWN
    relative = name.lstrip(".")
    level = len(name) - len(relative)
    if level:
        if package is None or level > len(package.split(".")):
            return UNKNOWN
        name = ".".join((*package.split(".")[: len(package.split(".")) - level + 1], relative))
    return _module(interp, name, call)


def imported(interp: Interpreter, call: Arguments) -> Value:
    """``__import__("package.module", fromlist=["name"])``"""
    name, chosen = as_kind(call.given(0, "name"), str), call.given(3, "fromlist", ())
    if not call.exact or name is None or is_unknown(chosen) or call.given(4, "level", 0) != 0:
        return UNKNOWN
    whole = _module(interp, name, call)
    return whole if interp.truth(chosen) else _module(interp, name.partition(".")[0], call)


def _module(interp: Interpreter, name: str, call: Arguments) -> Value:
    if call.node is None or not _DOTTED.fullmatch(name):
        return UNKNOWN
    return interp.import_module(name, call.frame, 0, call.node)


def loaded(interp: Interpreter, name: Value, frame: Frame) -> Value:
    """``sys.modules[name]``"""
    if isinstance(name, str) and isinstance(frame.globals, Names) and name == frame.globals.get("__name__"):
        return Namespace(name, frame.globals)
    return next((module for module in interp.modules.values() if module.name == name), UNKNOWN)


def evaluated(interp: Interpreter, call: Arguments) -> Value:
    """``eval("module.Name")``: a path of names. What is more than that is not followed."""
    text = as_kind(call.given(0, "source"), str)
    if text is None or len(call.args) != 1 or not _DOTTED.fullmatch(text.strip()):
        return UNKNOWN
    first, *others = text.strip().split(".")
    value = interp.lookup(first, call.frame)
    for name in others:
        value = interp.attribute(value, name, call.node, call.frame)
    return value

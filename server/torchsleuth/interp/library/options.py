"""argparse and sys.argv: the options of a script, and what it gets of them. A command line that is written down is read as argparse
reads it, by a parser of its own; where there is none, arguments have their defaults, which is one real execution of the script."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from torchsleuth.interp import exceptions
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import plain, python
from torchsleuth.interp.models import Model, method, models
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    DictValue,
    LibraryObject,
    ListValue,
    Scalar,
    Value,
    is_native,
    is_object,
)
from torchsleuth.values.frames import Frame

PARSER = "argparse.ArgumentParser"
COMMAND_LINE = "sys.argv"
COMMANDS = "argparse._SubParsersAction"
_READ_AS: dict[str, Callable[[str], Any]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": str,
    "builtins.bool": bool,
}
_ACTIONS = ("store", "store_const", "store_true", "store_false", "append", "append_const", "extend", "count")
_SETTINGS = frozenset({"prefix_chars", "fromfile_prefix_chars", "argument_default", "allow_abbrev", "parents"})
"""Arguments of a parser that change how a command line is read."""


def asks_for_more(interp: Interpreter, test: ast.expr, frame: Frame) -> bool:
    """Whether a test is true only of a script that is given arguments: ``len(sys.argv) > 1``."""
    match test:
        case ast.Compare(
            ast.Call(ast.Name("len"), [counted], []), [ast.Gt() | ast.GtE() as op], [ast.Constant(int(least))]
        ):
            return least > isinstance(op, ast.GtE) and is_native(interp.eval(counted, frame), COMMAND_LINE)
    return False


def is_choice_of_values(branch: list[ast.stmt]) -> bool:
    """Whether statements do no more than give names other values: ``path = sys.argv[1]``."""
    inner = [one for statement in branch for one in ast.walk(statement) if isinstance(one, ast.stmt)]
    return all_are(inner, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With, ast.Import, ast.ImportFrom)


@models("types.SimpleNamespace", "argparse.Namespace")
def _made_namespace(interp: Interpreter, call: Arguments) -> Value:
    return UNKNOWN if call.args else namespace(call.path, call.kwargs)


def namespace(path: str, fields: Mapping[str, Value], is_open: bool = False) -> LibraryObject:
    """An object with these attributes. `is_open`: and perhaps others."""
    made = LibraryObject(path, (), {}, None)
    made.slots.update(fields)
    if is_open:
        made.slots[python.OPEN] = True
    return made


@models(PARSER)
class ArgumentParser(Model):
    """A parser. Slots: `fields`, the values of its options where none is given; `options`, the calls that have made it what it
    is; `commands`, what ``add_subparsers()`` gave."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        parser = cls.object(interp, call)
        parents = interp.sequence(call.kwargs.get("parents", ()), call.node, call.frame)
        for parent in parents or ():
            if is_object(parent, PARSER):
                parser.slots["fields"] = {**parser.slots.get("fields", {}), **parent.slots.get("fields", {})}
        if parents is None or not all(is_object(parent, PARSER) for parent in parents):
            parser.slots["open"] = True
        return parser

    @property
    def fields(self) -> dict[str, Value]:
        found: dict[str, Value] = self.value.slots.get("fields", {})
        return found

    @method
    def add_argument(self, call: Arguments) -> Value:
        flags = of_kind(call.args, str)
        long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else None)
        target = as_kind(call.kwargs.get("dest") or (long.lstrip("-").replace("-", "_") if long else None), str)
        if target is not None:
            optional = long is not None and long.startswith("-")
            default = _default(self.interp, call, optional)
            self.interp.heap.set(self.value.slots, "fields", {**self.fields, target: default})
            self._keep(call)
        return UNKNOWN

    def _keep(self, option: Arguments) -> None:
        options = (*self.value.slots.get("options", ()), option)
        self.interp.heap.set(self.value.slots, "options", options)

    @method
    def set_defaults(self, call: Arguments) -> Value:
        if not call.exact:
            return UNKNOWN
        self.interp.heap.set(self.value.slots, "fields", {**self.fields, **call.kwargs})
        self._keep(replace(call, args=()))
        return None

    @method
    def add_subparsers(self, call: Arguments) -> Value:
        made = LibraryObject(COMMANDS, (), call.kwargs, self.interp.site(call.node, call.frame))
        made.slots["parsers"] = ()
        self.interp.heap.set(self.value.slots, "commands", made)
        target = call.kwargs.get("dest")
        if isinstance(target, str):
            self.interp.heap.set(self.value.slots, "fields", {**self.fields, target: UNKNOWN})
        return made

    @method
    def parse_args(self, call: Arguments) -> Value:
        return self._parsed(call)[0]

    @method
    def parse_known_args(self, call: Arguments) -> Value:
        return self._parsed(call)

    def _parsed(self, call: Arguments) -> tuple[Value, Value]:
        """The attributes that a command line gives, and what is left of it."""
        slots = self.value.slots
        given = call.given(1, "namespace")
        is_open = bool(slots.get("open") or slots.get("commands") is not None) or given is not None
        line = call.given(0, "args")
        if (line is None or is_native(line, COMMAND_LINE)) and given is None:
            return namespace("argparse.Namespace", self.fields, is_open), ListValue(None)
        made = _read(self.interp, self.value, call, self.name == "parse_known_args")
        if made is not None:
            return made
        unknown = dict.fromkeys(self.fields, UNKNOWN)
        return namespace("argparse.Namespace", unknown, is_open), ListValue(None)

    @method("add_argument_group", "add_mutually_exclusive_group")
    def group(self, call: Arguments) -> Value:
        return self.value

    def other(self, call: Arguments) -> Value:
        if self.name == "get_default" and isinstance(call.first, str):
            return self.fields.get(call.first, UNKNOWN)
        return super().other(call)


@models(COMMANDS)
class Commands(Model):
    """The result of ``add_subparsers()``. Slot `parsers`: pairs of a name and a parser."""

    @method
    def add_parser(self, call: Arguments) -> Value:
        made = ArgumentParser.made(self.interp, replace(call, args=(), callee=Native(PARSER, "external")))
        pair = (call.given(0, "name"), made)
        self.interp.heap.set(self.value.slots, "parsers", (*self.value.slots["parsers"], pair))
        return made


class _Refused(Exception):
    """A command line that a parser does not take."""


class _Reader(argparse.ArgumentParser):
    """A parser that neither prints nor exits."""

    def error(self, message: str) -> Any:
        raise _Refused(message)


def _read(interp: Interpreter, parser: LibraryObject, call: Arguments, known: bool) -> tuple[Value, Value] | None:
    """``parser.parse_args([…])``, None where that is not known."""
    written = call.given(0, "args")
    items = written.items if isinstance(written, ListValue) else as_kind(written, tuple)
    given = call.given(1, "namespace")
    if items is None or not (given is None or is_object(given, "argparse.Namespace")):
        return None
    # A text that is not known stands for itself: it is what the option gives, unless its type has to read it.
    words = [(f"\0{place}", one) for place, one in enumerate(items)]
    unread = {token: one for token, one in words if isinstance(one, Scalar)}

    def run(bridge: plain.Bridge) -> Any:
        reader = _Reader(add_help=False)
        _fill(bridge, reader, parser)
        start = argparse.Namespace()
        for name, value in given.slots.items() if isinstance(given, LibraryObject) else ():
            setattr(start, str(name), bridge.lower(value))
        line = [token if isinstance(one, Scalar) else bridge.deep(one) for token, one in words]
        try:
            found, left = reader.parse_known_args(line, start)
            if left and not known:
                raise _Refused
        except _Refused:
            exceptions.throw(interp, exceptions.made("builtins.SystemExit", (2,)))
            raise plain.NotPlain from None
        return vars(found), left

    made = plain.tried(interp, call, run)
    if not isinstance(made, tuple) or not isinstance(made[0], DictValue) or made[0].items is None:
        return None
    fields = {key: unread.get(one, one) if isinstance(one, str) else one for key, one in made[0].items.items()}
    if given is not None:
        for name, value in fields.items():
            interp.heap.set(given.slots, name, value)
        return given, made[1]
    return namespace("argparse.Namespace", fields), made[1]


def _fill(bridge: plain.Bridge, reader: argparse.ArgumentParser, parser: LibraryObject) -> None:
    """Give a parser of ours the options of one of the script's."""
    if parser.args[1:] or _SETTINGS & parser.kwargs.keys() or parser.slots.get("open"):
        raise plain.NotPlain
    for option in parser.slots.get("options", ()):
        if not option.exact:
            raise plain.NotPlain
        if not option.args:
            reader.set_defaults(**{key: bridge.lower(value) for key, value in option.kwargs.items()})
            continue
        reader.add_argument(*map(bridge.deep, option.args), **_settings(bridge, option))
    commands = parser.slots.get("commands")
    if commands is None:
        return
    target = commands.kwargs.get("dest", argparse.SUPPRESS)
    required = commands.kwargs.get("required", False)
    if not isinstance(target, str) or not isinstance(required, bool):
        raise plain.NotPlain
    made = reader.add_subparsers(dest=target, required=required, parser_class=_Reader)
    for name, inner in commands.slots["parsers"]:
        if not isinstance(name, str) or not isinstance(inner, LibraryObject):
            raise plain.NotPlain
        _fill(bridge, made.add_parser(name, add_help=False), inner)


def _settings(bridge: plain.Bridge, option: Arguments) -> dict[str, Any]:
    """The keyword arguments of one option, for a parser of ours."""
    left = {key: value for key, value in option.kwargs.items() if key not in ("type", "help", "metavar", "action")}
    given = {key: bridge.deep(value) for key, value in left.items()}
    kind, action = option.kwargs.get("type"), option.kwargs.get("action", "store")
    if is_native(action, "argparse.BooleanOptionalAction"):
        given["action"] = argparse.BooleanOptionalAction
    elif action in _ACTIONS:
        given["action"] = action
    else:
        raise plain.NotPlain
    if kind is not None:
        given["type"] = _READ_AS[kind.path] if is_native(kind, *_READ_AS) else bridge.lower(kind)
    return given


def _default(interp: Interpreter, call: Arguments, optional: bool) -> Value:
    """The value of an argument that is not given. `optional`: it is an option."""
    action = call.kwargs.get("action")
    if "default" not in call.kwargs:
        if action in ("store_true", "store_false"):
            return action == "store_false"
        return None if optional else UNKNOWN
    default = call.kwargs["default"]
    if not isinstance(default, str) or "type" not in call.kwargs:
        return default
    kind = call.kwargs["type"]
    if is_native(kind, *_READ_AS):
        return _converted(default, kind)
    return interp.call(kind, replace(call, args=(default,), kwargs={}))


def _converted(default: str, kind: Native) -> Value:
    """A default that is a text, as the type of its option reads it."""
    try:
        return _READ_AS[kind.path](default)
    except ValueError:
        return UNKNOWN


__all__ = ["namespace"]

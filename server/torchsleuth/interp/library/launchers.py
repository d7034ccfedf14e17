"""Calls of the script's functions by others: processes and threads, coroutines, and frameworks of command lines.

An option that is not given has its default, as with argparse: that is one real execution of the script.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import omegaconf
from torchsleuth.interp.models import Model, method, models
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import by_position
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    ClassValue,
    DictValue,
    Function,
    LibraryObject,
    ListValue,
    Partial,
    Scalar,
    Value,
    is_native,
    is_object,
    items_of,
)

COROUTINE = "types.CoroutineType"
_GIVEN_LATER = ("typer.Option", "typer.Argument")
"""Defaults that say what the default is."""


def _call(
    interp: Interpreter, callee: Value, args: tuple[Value, ...], kwargs: dict[str, Value], at: Arguments
) -> Value:
    return interp.call(callee, Arguments(args, kwargs, at.node, at.frame))


# -- processes and threads -------------------------------------------------------------------------


@models("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes")
def _spawned(interp: Interpreter, call: Arguments) -> Value:
    """``spawn(worker, args=(…), nprocs=2)``: each process calls ``worker(rank, …)``."""
    args = items_of(call.given(1, "args", ()))
    if not call.exact or args is None:
        interp.escape((*call.args, *call.kwargs.values()))
        return UNKNOWN
    _call(interp, call.given(0, "fn"), (interp.fresh_size("rank", positive=False), *args), {}, call)
    return UNKNOWN


@models("threading.Thread", "multiprocessing.Process", "torch.multiprocessing.Process")
class Started(Model):
    """A thread or process, which does what it is for when it is started."""

    @method
    def start(self, call: Arguments) -> Value:
        made = self.value
        given = Arguments(made.args, made.kwargs, call.node, call.frame)
        args = items_of(given.given(3, "args", ()))
        named = as_kind(given.given(4, "kwargs", DictValue({})), DictValue)
        if args is None or named is None or named.items is None:
            return self.other(Arguments((*made.args, *made.kwargs.values()), {}, call.node, call.frame))
        target = given.given(1, "target")
        if target is not None:
            kwargs = {str(name): value for name, value in named.items.items()}
            _call(self.interp, target, tuple(args), kwargs, call)
        return None

    @method("join", "close", "terminate", "kill")
    def end(self, call: Arguments) -> Value:
        return None


_FUTURE = "concurrent.futures.Future"


@models("concurrent.futures.ThreadPoolExecutor")
class Executor(Model):
    """Threads that do what they are given: at once, as far as anybody can see who waits for the result."""

    @method
    def submit(self, call: Arguments) -> Value:
        if not call.exact or not call.args:
            return self.other(call)
        return LibraryObject(_FUTURE, (_call(self.interp, call.first, call.args[1:], call.kwargs, call),), {}, None)

    @method
    def map(self, call: Arguments) -> Value:
        return _call(self.interp, Native("builtins.map", "builtin"), call.args, {}, call) if call.exact else UNKNOWN

    @method
    def shutdown(self, call: Arguments) -> Value:
        return None


@models(_FUTURE)
class Future(Model):
    """The result of what a thread does."""

    @method
    def result(self, call: Arguments) -> Value:
        return self.value.args[0] if self.value.args else UNKNOWN

    @method("done", "running", "cancel", "cancelled")
    def state(self, call: Arguments) -> Value:
        return Scalar("bool")


# -- coroutines ------------------------------------------------------------------------------------


def coroutine(result: Value) -> LibraryObject:
    """The result of a call of an ``async def``, for who waits for it."""
    return LibraryObject(COROUTINE, (result,), {}, None)


def result_of(value: Value) -> Value:
    """The value that waiting for a coroutine of the script's gives."""
    return value.args[0] if is_object(value, COROUTINE) else UNKNOWN


@models("asyncio.run")
def _run_to_its_end(interp: Interpreter, call: Arguments) -> Value:
    return result_of(call.first)


@models("asyncio.wait_for", "asyncio.shield", "asyncio.create_task", "asyncio.ensure_future")
def _still_awaited(interp: Interpreter, call: Arguments) -> Value:
    return call.first


@models("asyncio.gather")
def _gathered(interp: Interpreter, call: Arguments) -> Value:
    if not call.exact:
        return UNKNOWN
    return coroutine(ListValue(tuple(map(result_of, call.args))))


# -- command lines ---------------------------------------------------------------------------------


@models("click.option", "click.argument")
class ClickOption(Model):
    """A decorator that gives a function one of its arguments."""

    decorates: ClassVar[bool] = True

    def called(self, call: Arguments) -> Value:
        given, function = self.value.kwargs, call.first
        name = _option_name(self.value)
        if name is None or not isinstance(function, Function | Partial):
            return UNKNOWN
        default: Value = UNKNOWN
        if _OTHERWISE_READ & given.keys():
            pass
        elif "default" in given:
            default = _converted(self.interp, given["default"], given.get("type"), call)
        elif given.get("is_flag") is True or any("/" in one for one in of_kind(self.value.args, str)):
            default = False
        elif self.value.path.endswith("option") and given.get("required") is not True:
            default = None
        if isinstance(function, Partial):
            return Partial(function.function, function.args, {**function.kwargs, name: default})
        return Partial(function, (), {name: default})


def _option_name(option: LibraryObject) -> str | None:
    """The name of the parameter that an option is for: the one without a dash, else the first of those with most dashes."""
    written = [one.partition("/")[0] for one in of_kind(option.args, str)]
    plain = [one for one in written if one.isidentifier()]
    if plain and option.path.endswith("option"):
        return plain[-1]
    long = max(written, key=lambda one: len(one) - len(one.lstrip("-")), default="")
    return long.lstrip("-").replace("-", "_").lower() or None


_OTHERWISE_READ = frozenset("multiple nargs callback count flag_value prompt cls".split())
"""Arguments of an option with which its parameter is something else than what its type reads."""


@models("click.Choice", "click.Path", "click.IntRange", "click.FloatRange")
class ClickType(Model):
    """The type of an option."""


def _converted(interp: Interpreter, value: Value, kind: Value, call: Arguments) -> Value:
    """A default as the type of its option reads it."""
    if value is None or kind is None or is_native(kind, "builtins.bool"):
        return value
    if is_object(kind, "click.Choice", "click.Path"):
        return value if isinstance(value, str) and not kind.kwargs else UNKNOWN
    if is_object(kind, "click.IntRange", "click.FloatRange"):
        kind = Native("builtins.int" if kind.path == "click.IntRange" else "builtins.float", "class")
    if isinstance(kind, Function) or is_native(kind, "builtins.int", "builtins.float", "builtins.str"):
        return _call(interp, kind, (value,), {}, call)
    return UNKNOWN


@models("click.command", "click.group")
class ClickCommand(Model):
    """A decorator that makes a function the program of a command line."""

    decorates: ClassVar[bool] = True

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        """``@click.command`` without parentheses decorates at once."""
        if isinstance(call.first, Function | Partial):
            return _program(interp, call.first, call)
        return cls.object(interp, call)

    def called(self, call: Arguments) -> Value:
        return _program(self.interp, call.first, call)


_PROGRAM = "click.Command"


def _program(interp: Interpreter, function: Value, call: Arguments) -> Value:
    return LibraryObject(_PROGRAM, (function,), {}, interp.site(call.node, call.frame))


@models(_PROGRAM)
class Program(Model):
    """A function that a command line calls, with the defaults of its options."""

    def called(self, call: Arguments) -> Value:
        _call(self.interp, self.value.args[0], (), {}, call)
        return UNKNOWN

    @method("main", "__call__")
    def run_main(self, call: Arguments) -> Value:
        return self.called(call)

    @method("command", "group")
    def part(self, call: Arguments) -> Value:
        """A command of a group: which one is called is not known."""
        return LibraryObject("click.command", (), {}, self.interp.site(call.node, call.frame))


@models("typer.run", "fire.Fire")
def _run_with_defaults(interp: Interpreter, call: Arguments) -> Value:
    """The function with its defaults; what has none is not known."""
    function = as_kind(call.first, Function)
    if function is None:
        interp.escape((*call.args, *call.kwargs.values()))
        return UNKNOWN
    _call(interp, function, (), dict(_by_default(function)), call)
    return UNKNOWN


def _by_default(function: Function) -> Iterator[tuple[str, Value]]:
    spec = function.node.args
    places = by_position(spec)
    defaults: dict[str, Value] = dict(zip([one.arg for one in places[::-1]], function.defaults[::-1]))
    defaults.update(function.keyword_defaults)
    for parameter in (*places, *spec.kwonlyargs):
        default = defaults.get(parameter.arg, UNKNOWN)
        if is_object(default, *_GIVEN_LATER):
            default = default.args[0] if default.args else default.kwargs.get("default", UNKNOWN)
            default = UNKNOWN if default is ... else default
        if parameter.arg not in defaults and parameter.annotation is not None:
            default = _of_annotation(parameter.annotation)
        yield parameter.arg, default


def _of_annotation(annotation: ast.expr) -> Value:
    text = ast.unparse(annotation)
    return Scalar(text) if text in ("float", "str", "bool") else UNKNOWN


@models("tyro.cli", "simple_parsing.parse", "draccus.parse", "jsonargparse.CLI", "jsonargparse.auto_cli")
def _read_into(interp: Interpreter, call: Arguments) -> Value:
    """``tyro.cli(Config)``: an object of the class with its defaults; a function is called with its own."""
    if isinstance(call.first, Function):
        return _call(interp, call.first, (), dict(_by_default(call.first)), call)
    if isinstance(call.first, ClassValue) and call.first.is_dataclass:
        return _call(interp, call.first, (), {}, call)
    return UNKNOWN


@models("transformers.HfArgumentParser")
class HfArgumentParser(Model):
    """A parser that fills dataclasses."""

    @method("parse_args_into_dataclasses", "parse_dict", "parse_json_file", "parse_yaml_file")
    def fill(self, call: Arguments) -> Value:
        given = self.value.args[0] if self.value.args else self.value.kwargs.get("dataclass_types")
        kinds = (given,) if isinstance(given, ClassValue) else items_of(given)
        if kinds is None or self.name != "parse_args_into_dataclasses":
            return self.other(call)
        return tuple(
            _call(self.interp, kind, (), {}, call) if isinstance(kind, ClassValue) and kind.is_dataclass else UNKNOWN
            for kind in kinds
        )


@models("hydra.main")
class HydraMain(Model):
    """A decorator that calls a function with the configuration that lies beside it."""

    decorates: ClassVar[bool] = True

    def called(self, call: Arguments) -> Value:
        config = omegaconf.composed(self.interp, self.value, call)
        return _program(self.interp, Partial(call.first, (config,), {}), call)


__all__ = ["coroutine", "result_of"]

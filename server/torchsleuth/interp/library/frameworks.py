"""Frameworks that are known by a source of our own, which is read as a file of the workspace is: Lightning, Ignite."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import checkpoints
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import by_position
from torchsleuth.values import UNKNOWN, Bound, Builtin, Function, LibraryObject, Namespace, Value
from torchsleuth.values.join import MISSING

FOLDER = Path(__file__).parents[1] / "frameworks"
_LIGHTNING = ("LightningModule", "LightningDataModule", "Trainer")
_SOURCES = {
    f"{package}.{name}": ("lightning.py", name)
    for package in (
        "lightning",
        "lightning.pytorch",
        "lightning.pytorch.core",
        "pytorch_lightning",
        "pytorch_lightning.core",
    )
    for name in _LIGHTNING
}
_IGNITE = ("Engine", "State", "create_supervised_trainer", "create_supervised_evaluator")
_SOURCES |= {f"ignite.engine.{name}": ("ignite.py", name) for name in _IGNITE}
"""By public name: the file in `FOLDER`, and what it is called there."""


def is_ours(path: str) -> bool:
    """Whether a path is that of a source which the user does not know of."""
    return Path(path).parent == FOLDER


def member(interp: Interpreter, path: str) -> Value:
    """A class of a framework by its public name, MISSING where nothing is known of it."""
    if path not in _SOURCES:
        return MISSING
    file, name = _SOURCES[path]
    place = str(FOLDER / file)
    module = interp.modules.get(place)
    if module is None:
        source = interp.workspace.source(place)
        if source is None:
            return MISSING
        module = interp.execute_module(source, file.removesuffix(".py"))
        for builtin in (
            Builtin("_arguments_of_caller", _arguments),
            Builtin("_with_what_it_takes", partial(_called, interp)),
            Builtin("_that_save", partial(checkpoints.that_save, interp)),
            Builtin("_checkpoint_of", partial(checkpoints.contents, interp)),
            Builtin("_saved", partial(checkpoints.saved, interp)),
        ):
            interp.heap.set(module.slots, builtin.name, builtin)
    return module.slots.get(name, MISSING) if isinstance(module, Namespace) else MISSING


def _called(interp: Interpreter, call: Arguments) -> Value:
    """A call of a hook with those of the arguments that it has parameters for."""
    hook, *given = call.args
    function = as_kind(hook.function if isinstance(hook, Bound) else hook, Function)
    if function is not None and function.node.args.vararg is None:
        named = function.node.args
        given = given[: len(by_position(named)) - isinstance(hook, Bound)]
    return interp.call(hook, replace(call, args=tuple(given)))


def _arguments(call: Arguments) -> Value:
    """The arguments of the constructor that calls ``save_hyperparameters()``, as attributes of one object."""
    caller = call.frame.caller
    function = as_kind(caller.function, Function) if caller is not None else None
    if caller is None or function is None:
        return UNKNOWN
    made = LibraryObject("argparse.Namespace", (), {}, None)
    named = function.node.args
    for argument in (*named.posonlyargs, *named.args[1:], *named.kwonlyargs):
        made.slots[argument.arg] = caller.names.get(argument.arg, UNKNOWN)
    return UNKNOWN if named.kwarg is not None else made

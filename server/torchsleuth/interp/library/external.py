"""Other packages, known by name only: progress bars, copies, clocks, random numbers, paths."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torchsleuth.interp.library import copies, numpy
from torchsleuth.interp.values import (
    UNKNOWN,
    Builtin,
    DictValue,
    Function,
    LibraryObject,
    ListValue,
    Partial,
    Scalar,
    Several,
    Value,
)
from torchsleuth.tensors.spec import Native

if TYPE_CHECKING:
    from torchsleuth.interp.calls import Arguments
    from torchsleuth.interp.interpreter import Interpreter

_PASS_THROUGH = frozenset(
    "tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.autonotebook.tqdm tqdm.tqdm_notebook rich.progress.track "
    "typing.cast fastprogress.progress_bar".split()
)
_FLOATS = frozenset(
    "random.random random.uniform random.gauss random.normalvariate random.betavariate time.time time.perf_counter "
    "time.monotonic time.process_time statistics.mean random.triangular random.expovariate".split()
)
_INTS = frozenset("random.randint random.randrange os.cpu_count time.time_ns os.getpid random.getrandbits".split())
_STRINGS = frozenset(
    "os.path.join os.path.dirname os.path.abspath os.path.basename os.getenv os.getcwd time.strftime os.path.expanduser".split()
)
_NOTHING = frozenset(
    "random.seed os.makedirs warnings.filterwarnings warnings.warn logging.basicConfig time.sleep "
    "random.shuffle gc.collect os.remove sys.stdout.flush".split()
)
_OBJECTS = frozenset({"dataclasses.field", "argparse.ArgumentParser", "enum.auto"})
_CONSTANTS = {"numpy.pi": math.pi, "numpy.e": math.e, "numpy.inf": math.inf, "numpy.newaxis": None}


def constant(path: str) -> Value:
    """An attribute of an external package."""
    if path in _CONSTANTS:
        return _CONSTANTS[path]
    return Native(path, "external")


def call(interp: Interpreter, path: str, call: Arguments) -> Value:
    if path.startswith("numpy."):
        value = numpy.call(interp, path, call)
        if value is UNKNOWN:
            interp.escape((*call.args, *call.kwargs.values()))
        return value
    if path in ("copy.copy", "copy.deepcopy") and call.args:
        return copies.shallow(call.args[0]) if path == "copy.copy" else copies.deep(call.args[0])
    if path in _PASS_THROUGH and call.args:
        return call.args[1] if path == "typing.cast" and len(call.args) > 1 else call.args[0]
    if path in _FLOATS:
        return Scalar("float")
    if path in _INTS:
        return interp.fresh_size("?", positive=False)
    if path in _STRINGS:
        return Scalar("str")
    if path in _NOTHING:
        return None
    if path == "functools.partial" and call.args:
        return Partial(call.args[0], call.args[1:], call.kwargs)
    if path in ("collections.OrderedDict", "collections.defaultdict", "collections.Counter"):
        if path == "collections.OrderedDict":
            from torchsleuth.interp.library.python import call_builtin

            return call_builtin(interp, "dict", call)
        return DictValue(None)
    if path == "collections.deque":
        return ListValue(None)
    if path in ("itertools.chain", "itertools.cycle", "itertools.islice") and call.args:
        if path == "itertools.chain":
            items: list[Value] = []
            for value in call.args:
                more = interp.sequence(value, call.node, call.frame)
                if more is None:
                    return ListValue(None)
                items.extend(more)
            return ListValue(tuple(items))
        iteration = interp.iterate(call.args[0], call.node, call.frame)
        return ListValue(Several(iteration.items), "iterator")
    if path in _OBJECTS:
        return LibraryObject(path, call.args, call.kwargs, interp.site(call.node, call.frame))
    if path.startswith(("functools.wraps", "functools.lru_cache")):
        return Builtin(path, lambda inner: inner.args[0] if inner.args else UNKNOWN)
    interp.escape((*call.args, *call.kwargs.values()))
    return UNKNOWN


def method(interp: Interpreter, receiver: LibraryObject, name: str, call: Arguments) -> Value:
    if receiver.path == "argparse.ArgumentParser":
        return _argparse(interp, receiver, name, call)
    if receiver.path in numpy.GENERATORS:
        return numpy.draw(interp, name, call)
    if receiver.path.startswith("torch.nn.Module."):
        return UNKNOWN
    return UNKNOWN


def _argparse(interp: Interpreter, parser: LibraryObject, name: str, call: Arguments) -> Value:
    """Arguments with their defaults: one real execution of the script."""
    fields: dict[str, Value] = parser.slots.get("fields", {})
    if name == "add_argument":
        flags = [value for value in call.args if isinstance(value, str)]
        long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else None)
        target = call.kwargs.get("dest") or (long.lstrip("-").replace("-", "_") if long else None)
        if isinstance(target, str):
            default = call.kwargs.get("default", MISSING_DEFAULT)
            action = call.kwargs.get("action")
            if default is MISSING_DEFAULT:
                optional = long is not None and long.startswith("-")
                default = None if optional else UNKNOWN
                if action in ("store_true", "store_false"):
                    default = action == "store_false"
            interp.heap.set(parser.slots, "fields", {**fields, target: default})
        return UNKNOWN
    if name in ("parse_args", "parse_known_args"):
        namespace = LibraryObject("argparse.Namespace", (), {}, None)
        for key, value in fields.items():
            namespace.slots[key] = value
        return namespace if name == "parse_args" else (namespace, ListValue(None))
    if name in ("add_argument_group", "add_mutually_exclusive_group"):
        return parser
    return UNKNOWN


MISSING_DEFAULT = object()

__all__ = ["call", "constant", "method", "Function"]

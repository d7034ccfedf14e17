"""Other packages, known by name only: progress bars, copies, clocks, random numbers, paths, images."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping
from dataclasses import replace

from torchsleuth.interp import misuse
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import (
    arrays,
    copies,
    dictionaries,
    draws,
    files,
    numpy,
    optim,
    published,
    records,
    vision,
)
from torchsleuth.tensors import dims
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    Builtin,
    Function,
    LibraryObject,
    ListValue,
    Partial,
    Reason,
    Scalar,
    Several,
    Unknown,
    Value,
    is_int,
    is_unknown,
)
from torchsleuth.values.graph import REDUCES_LISTS, TAKES_ARRAYS, AutogradFault

_PASS_THROUGH = frozenset(
    "tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.autonotebook.tqdm tqdm.tqdm_notebook rich.progress.track "
    "typing.cast fastprogress.progress_bar".split()
)
_FLOATS = frozenset(
    "random.random random.uniform random.gauss random.normalvariate random.betavariate time.time time.perf_counter "
    "time.monotonic time.process_time statistics.mean random.triangular random.expovariate".split()
)
_INTS = frozenset("os.cpu_count time.time_ns os.getpid random.getrandbits".split())
_STRINGS = frozenset(
    "os.path.join os.path.dirname os.path.abspath os.path.basename os.getenv os.getcwd time.strftime os.path.expanduser".split()
)
_NOTHING = frozenset(
    "random.seed os.makedirs warnings.filterwarnings warnings.warn logging.basicConfig time.sleep "
    "gc.collect os.remove sys.stdout.flush".split()
)
_OBJECTS = frozenset(
    {
        "dataclasses.dataclass",
        "dataclasses.field",
        "argparse.ArgumentParser",
        "contextlib.nullcontext",
        "enum.auto",
        "numpy.finfo",
        "random.Random",
    }
)
_SHARDED = ("torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.fully_shard")
_CONSTANTS = {"numpy.pi": math.pi, "numpy.e": math.e, "numpy.inf": math.inf, "numpy.newaxis": None}
MAX_TEXT = 100_000
"""Characters of a text that is parsed."""
_LOOKING_ON = frozenset(
    "wandb torchinfo torchsummary torchviz thop fvcore ptflops calflops mlflow comet_ml neptune logging pickle joblib "
    "collections functools weakref".split()
)
"""Packages that take a model as it is."""
_IMAGES = ("torchvision.", "PIL.", "cv2.")


def constant(path: str) -> Value:
    """An attribute of an external package."""
    if path in _CONSTANTS:
        return _CONSTANTS[path]
    return Native(path, "external")


def call(interp: Interpreter, path: str, call: Arguments) -> Value:
    value = UNKNOWN if not call.exact else _call(interp, path, call)
    if is_unknown(value):
        interp.escape((*call.args, *call.kwargs.values()))
        if path.partition(".")[0] not in _LOOKING_ON:
            interp.may_move((*call.args, *call.kwargs.values()))
    return value


def _call(interp: Interpreter, path: str, call: Arguments) -> Value:
    package, _, name = path.partition(".")
    if package == "numpy" and path not in _OBJECTS:
        if name in TAKES_ARRAYS or (name in REDUCES_LISTS and call.args and isinstance(call.args[0], ListValue)):
            interp.converted_to_arrays(call.args, call.node, call.frame)
        return arrays.of_operands(numpy.call(interp, path, call), *call.args)
    if path.startswith(published.PACKAGES):
        made = published.build(interp, path, call)
        if not is_unknown(made):
            return made
    if path.startswith(_IMAGES):
        return vision.call(interp, path, call)
    if path in files.OBJECTS:
        return LibraryObject(path, call.args, call.kwargs, interp.site(call.node, call.frame))
    if path in ("copy.copy", "copy.deepcopy") and call.args:
        misuse.needs_result(interp, call.args[0], call.node, call.frame)
        if isinstance(call.args[0], Bound):
            return UNKNOWN
        if path == "copy.copy":
            return copies.shallow(call.args[0])
        refused = copies.refused(call.args[0])
        if refused is not None:
            interp.fault(AutogradFault("deepcopy", interp.site(call.node, call.frame), refused))
        return copies.deep(call.args[0])
    if path == "dataclasses.asdict" and len(call.args) == 1:
        return UNKNOWN if call.kwargs else records.as_dict(call.args[0])
    if path in _PASS_THROUGH and call.args:
        return call.args[1] if path == "typing.cast" and len(call.args) > 1 else call.args[0]
    if path in _FLOATS:
        return Scalar("float", arrays.left_graph(call.args))
    if path in _INTS:
        return interp.fresh_size("?", positive=False)
    if path in _STRINGS:
        return Scalar("str")
    if path in _NOTHING:
        return None
    if path == "functools.partial" and call.args:
        return Partial(call.args[0], call.args[1:], call.kwargs)
    if path in ("json.loads", "ast.literal_eval"):
        return _parsed(path, call)
    if path == "functools.reduce" and len(call.args) >= 2:
        return _reduced(interp, call)
    if package == "random":
        return _random(interp, name, call)
    if package == "collections":
        return _collection(interp, name, call)
    if package == "itertools":
        return _iterator(interp, name, call)
    if path in _SHARDED and call.args:
        return call.args[0]
    if path in _OBJECTS:
        return LibraryObject(path, call.args, call.kwargs, interp.site(call.node, call.frame))
    if path in ("types.SimpleNamespace", "argparse.Namespace") and not call.args:
        return _namespace(path, call.kwargs)
    if path.startswith(("functools.wraps", "functools.lru_cache")):
        return Builtin(path, lambda inner: inner.args[0] if inner.args else UNKNOWN)
    return optim.schedule(interp, path, call) or Unknown(Reason.CALL, call.node, call.frame)


def _parsed(path: str, call: Arguments) -> Value:
    """What a constant text says."""
    text = call.args[0] if call.args else None
    if not isinstance(text, str) or call.kwargs or len(text) > MAX_TEXT:
        return UNKNOWN
    try:
        return dictionaries.from_json(json.loads(text) if path == "json.loads" else ast.literal_eval(text))
    except (ValueError, SyntaxError, RecursionError):
        return UNKNOWN


def _reduced(interp: Interpreter, call: Arguments) -> Value:
    """``functools.reduce``"""
    items = interp.sequence(call.args[1], call.node, call.frame)
    if items is None or (not items and len(call.args) < 3):
        return UNKNOWN
    result, *rest = items if len(call.args) < 3 else (call.args[2], *items)
    for item in rest:
        result = interp.call(call.args[0], replace(call, args=(result, item), kwargs={}))
    return result


def _random(interp: Interpreter, name: str, call: Arguments) -> Value:
    """A function of Python's random module, or a method of its generators."""
    if name == "Random":
        return LibraryObject("random.Random", call.args, call.kwargs, interp.site(call.node, call.frame))
    if f"random.{name}" in _FLOATS:
        return Scalar("float")
    bounds = [interp.resolved(value) for value in (*call.args, *call.kwargs.values())]
    if name in ("randint", "randrange"):
        if bounds and all(isinstance(bound, int) for bound in bounds) and len(bounds) <= 2:
            low, high = (0, bounds[0]) if len(bounds) == 1 else bounds
            return draws.draw(interp, low, high if name == "randint" else high - 1)
        if 0 < len(bounds) <= 2 and all(map(is_int, bounds)):
            low, high = (0, bounds[0]) if len(bounds) == 1 else bounds
            return draws.limited(interp, low, high if name == "randint" else dims.subtract(high, 1))
        return interp.fresh_size("?", positive=False)
    if name == "seed":
        return None
    if name == "shuffle" and call.args:
        _shuffle(interp, call.args[0])
        return None
    if name not in ("choice", "sample", "choices") or not call.args:
        return UNKNOWN
    iteration = interp.iterate(call.args[0], call.node, call.frame)
    if not iteration.items or UNKNOWN in iteration.items:
        return UNKNOWN
    if name == "choice":
        return _one_of(interp, iteration)
    count = interp.resolved(call.get(1, "k", 1) if name == "sample" else call.kwargs.get("k", 1))
    element = interp.any_of(iteration.items)
    if isinstance(count, int) and 0 <= count <= 4096:
        return ListValue((element,) * count)
    return ListValue(Several.counted(interp.heap.several((element,)), count if is_int(count) else None))


def _one_of(interp: Interpreter, iteration: Iteration) -> Value:
    """An element drawn at random: a number between the least and the greatest, or what they have in common."""
    items = iteration.items
    if iteration.exact and all(isinstance(item, int) and not isinstance(item, bool) for item in items):
        return draws.draw(interp, min(items), max(items))
    return interp.any_of(items)


def _shuffle(interp: Interpreter, value: Value) -> None:
    """Any element may be anywhere now."""
    if isinstance(value, ListValue) and value.items:
        kinds = interp.heap.several(value.items)
        if len(kinds) > 1:
            interp.heap.set(value.slots, "items", (interp.any_of(kinds),) * len(value.items))


def _collection(interp: Interpreter, name: str, call: Arguments) -> Value:
    if name in ("OrderedDict", "defaultdict", "Counter"):
        return dictionaries.collection(interp, name, call)
    if name == "namedtuple":
        return records.named_tuple(interp, call)
    if name == "deque":
        first = call.get(0, "iterable", ())
        made = ListValue((), "deque")
        limit = interp.resolved(call.get(1, "maxlen"))
        made.slots["maxlen"] = limit if isinstance(limit, int) else None
        iteration = interp.iterate(first, call.node, call.frame)
        known = limit is None or isinstance(limit, int)
        if iteration.exact and known:
            made.slots["items"] = iteration.items[-limit:] if limit else iteration.items
        else:
            made.slots["items"] = None if UNKNOWN in iteration.items else Several(iteration.items)
        return made
    return UNKNOWN


def _iterator(interp: Interpreter, name: str, call: Arguments) -> Value:
    if name == "count":
        start = call.get(0, "start", 0)
        return ListValue(Several((start, interp.fresh_size("?", positive=False))), "iterator")
    if not call.args:
        return UNKNOWN
    if name == "chain":
        items: list[Value] = []
        exact = True
        for value in call.args:
            iteration = interp.iterate(value, call.node, call.frame)
            exact = exact and iteration.exact
            items.extend(iteration.items)
        if exact:
            return ListValue(tuple(items))
        return ListValue(None if UNKNOWN in items else interp.heap.several(tuple(items)), "iterator")
    if name in ("cycle", "islice"):
        iteration = interp.iterate(call.args[0], call.node, call.frame)
        return ListValue(Several(iteration.items), "iterator")
    if name in ("product", "combinations", "permutations", "zip_longest", "accumulate"):
        return ListValue(None)
    return UNKNOWN


def method(interp: Interpreter, receiver: LibraryObject, name: str, call: Arguments) -> Value:
    if receiver.path == "argparse.ArgumentParser":
        return _argparse(interp, receiver, name, call)
    if receiver.path in numpy.GENERATORS:
        return numpy.draw(interp, name, call)
    if receiver.path == "random.Random" and call.exact:
        return _random(interp, name, call)
    if receiver.path == "torch.Generator" and name == "manual_seed":
        return receiver
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
            if isinstance(default, str) and "type" in call.kwargs:
                default = _converted(default, call.kwargs["type"])
            interp.heap.set(parser.slots, "fields", {**fields, target: default})
        return UNKNOWN
    if name in ("parse_args", "parse_known_args"):
        namespace = _namespace("argparse.Namespace", fields)
        return namespace if name == "parse_args" else (namespace, ListValue(None))
    if name in ("add_argument_group", "add_mutually_exclusive_group"):
        return parser
    return UNKNOWN


def _converted(default: str, kind: Value) -> Value:
    """A default that is a text, as the type of its option reads it."""
    name = kind.path if isinstance(kind, Native) else ""
    try:
        return {"builtins.int": int, "builtins.float": float, "builtins.str": str}.get(name, lambda text: UNKNOWN)(
            default
        )
    except ValueError:
        return UNKNOWN


def _namespace(path: str, fields: Mapping[str, Value]) -> LibraryObject:
    """An object with these attributes."""
    made = LibraryObject(path, (), {}, None)
    made.slots.update(fields)
    return made


MISSING_DEFAULT = object()

__all__ = ["call", "constant", "method", "Function"]

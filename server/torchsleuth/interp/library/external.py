"""Other packages, known by name only: progress bars, copies, clocks, random numbers, paths, images."""

from __future__ import annotations

import ast
import datetime
import itertools
import json
import logging
import math
import re
import string
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torchsleuth.interp import exceptions, misuse, special, streams
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import (
    array_dtypes,
    arrays,
    contained,
    contents,
    copies,
    dictionaries,
    draws,
    files,
    numpy,
    optim,
    plain,
    records,
)
from torchsleuth.interp.library.plain import MAX_ITEMS, Known
from torchsleuth.interp.models import Model, method, models, of_function
from torchsleuth.sifting import all_are, any_are, as_kind, of_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    Builtin,
    Chained,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    Partial,
    Proxy,
    Reason,
    Scalar,
    Several,
    Tensor,
    Unknown,
    Value,
    elements_of,
    is_int,
    is_plain,
    is_tuple,
    is_unknown,
    sizes_of,
)
from torchsleuth.values.graph import REDUCES_LISTS, TAKES_ARRAYS, AutogradFault

_PASS_THROUGH = frozenset(
    "tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.autonotebook.tqdm tqdm.tqdm_notebook rich.progress.track "
    "fastprogress.progress_bar".split()
)
_FLOATS = frozenset(
    "random.random random.uniform random.gauss random.normalvariate random.betavariate time.time time.perf_counter "
    "time.monotonic time.process_time statistics.mean random.triangular random.expovariate".split()
)
_INTS = frozenset("os.cpu_count time.time_ns os.getpid random.getrandbits".split())
_STRINGS = frozenset(
    "os.path.dirname os.path.basename os.getenv os.getcwd time.strftime os.path.expanduser tempfile.mkdtemp "
    "tempfile.mktemp tempfile.gettempdir".split()
)
_NOTHING = frozenset(
    "random.seed os.makedirs warnings.filterwarnings warnings.warn logging.basicConfig time.sleep "
    "gc.collect os.remove sys.stdout.flush".split()
)
_OBJECTS = frozenset(
    {
        "dataclasses.dataclass",
        "dataclasses.field",
        "typer.Argument",
        "typer.Option",
        "typing.dataclass_transform",
        "typing_extensions.dataclass_transform",
        "contextlib.nullcontext",
        "contextlib.suppress",
        "contextlib.closing",
        "enum.auto",
    }
)
_SHARDED = ("torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.fully_shard")
_PLAIN_CONSTANTS: dict[str, frozenset[str]] = {
    "string": frozenset(
        "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation whitespace".split()
    ),
    "logging": frozenset("DEBUG INFO WARNING ERROR CRITICAL NOTSET".split()),
    "math": frozenset("pi e tau inf nan".split()),
    "typing": frozenset({"TYPE_CHECKING"}),
    "os": frozenset({"curdir", "pardir", "extsep", "sep", "linesep", "pathsep"}),
    "sys": frozenset({"maxsize"}),
}
"""Attributes of modules that are the same wherever a script runs."""
_CONSTANTS = {
    "numpy.pi": math.pi,
    "numpy.e": math.e,
    **dict.fromkeys(("numpy.inf", "numpy.Inf"), math.inf),
    **dict.fromkeys(("numpy.nan", "numpy.NaN"), math.nan),
    "numpy.newaxis": None,
}
MAX_TEXT = 100_000
"""Characters of a text that is parsed."""
_LOOKING_ON = frozenset(
    "wandb torchinfo torchsummary torchviz thop fvcore ptflops calflops mlflow comet_ml neptune logging pickle joblib "
    "collections functools weakref".split()
)
"""Packages that take a model as it is."""


_FLAGS = frozenset("A ASCII I IGNORECASE M MULTILINE S DOTALL NOFLAG".split())
"""Flags of patterns."""


def constant(path: str) -> Value:
    """An attribute of an external package."""
    if path in _CONSTANTS:
        return _CONSTANTS[path]
    module, _, name = path.rpartition(".")
    if module == "re" and name in _FLAGS and hasattr(re, name):
        return Known(getattr(re, name))
    if path == "datetime.timezone.utc":
        return Known(datetime.timezone.utc)
    if name in _PLAIN_CONSTANTS.get(module, ()):
        return getattr(sys.modules[module], name)
    if name in ("name", "itemsize", "kind") and module.removeprefix("numpy.") in array_dtypes.NUMERIC:
        return array_dtypes.described(module.removeprefix("numpy."), name)
    return Native(path, "external")


def call(interp: Interpreter, call: Arguments) -> Value:
    """A call of something in a package that is known by name only: what is not modelled may do anything to its arguments."""
    model = of_function(call.path) if call.exact else None
    value = UNKNOWN if model is None else model(interp, call)
    if is_unknown(value) and call.exact:
        unknown = Unknown(Reason.CALL, call.node, call.frame) if model is None else value
        value = optim.schedule(interp, call.path, call) or unknown
    if is_unknown(value):
        interp.escape((*call.args, *call.kwargs.values()))
        contained.forget(interp, (*call.args, *call.kwargs.values()))
        if call.path.partition(".")[0] not in _LOOKING_ON:
            interp.may_move((*call.args, *call.kwargs.values()))
            interp.may_fill((*call.args, *call.kwargs.values()))
    return value


@models("numpy.*")
def _numpy(interp: Interpreter, call: Arguments) -> Value:
    name = call.path.partition(".")[2]
    if name in TAKES_ARRAYS or (name in REDUCES_LISTS and call.args and isinstance(call.args[0], ListValue)):
        interp.converted_to_arrays(call.args, call.node, call.frame)
    made = contained.kept(interp, name, call.args, numpy.call(interp, call.path, call))
    made = contents.asked(interp, name, call, made)
    return arrays.of_operands(made, *call.args)


def _copied_by_itself(interp: Interpreter, call: Arguments) -> Value:
    """The copy that ``__copy__`` or ``__deepcopy__`` makes; ABSENT where the class of the object, or of one in it, has none."""
    value = call.first
    if call.name == "copy":
        return special.call(interp, value, "__copy__", (), call.frame)
    own = special.method(interp, value, "__deepcopy__")
    if isinstance(own, Function):
        return special.call(interp, value, "__deepcopy__", (call.given(1, "memo", DictValue({})),), call.frame)
    held = value.items if isinstance(value, ListValue) else as_kind(value, tuple)
    if held and any(isinstance(special.method(interp, one, "__deepcopy__"), Function) for one in held):
        memo = dict[int, Value]()
        for one in of_kind(held, Instance):
            if one.identity not in memo:
                made = _copied_by_itself(interp, replace(call, args=(one, *call.args[1:])))
                memo[one.identity] = copies.deep(one, memo) if made is special.ABSENT else made
        return copies.deep(value, memo)
    return special.ABSENT


@models("sys.exit")
def _exit(interp: Interpreter, call: Arguments) -> Value:
    """``sys.exit()``: a handler of SystemExit goes on; elsewhere, the rest is looked at all the same."""
    error = exceptions.made("builtins.SystemExit", call.args)
    error.slots["code"] = call.args[0] if call.args else None
    exceptions.throw(interp, error)
    return UNKNOWN


@models("copy.copy", "copy.deepcopy")
def _copied(interp: Interpreter, call: Arguments) -> Value:
    if not call.args:
        return UNKNOWN
    misuse.needs_result(interp, call.args[0], call.node, call.frame)
    if isinstance(call.args[0], Bound):
        return UNKNOWN
    own = _copied_by_itself(interp, call)
    if own is not special.ABSENT:
        return own
    if call.name == "copy":
        return copies.shallow(call.args[0])
    refused = copies.refused(call.args[0])
    if refused is not None:
        interp.fault(AutogradFault("deepcopy", interp.site(call.node, call.frame), refused))
    return copies.deep(call.args[0])


@models("logging.getLogger")
def _logger(interp: Interpreter, call: Arguments) -> Value:
    made = LibraryObject("logging.Logger", call.args, call.kwargs, None)
    made.slots["name"] = call.given(0, "name") or "root"
    return made


@models("collections.ChainMap")
def _chained(interp: Interpreter, call: Arguments) -> Value:
    """``ChainMap(one, two)``"""
    maps = of_kind(call.args, DictValue)
    if len(maps) != len(call.args):
        interp.escape(call.args)
        for one in maps:
            interp.heap.set(one.slots, "items", None)
        return UNKNOWN
    return Chained(tuple(maps) or (DictValue({}),))


@models("types.MappingProxyType")
def _proxy(interp: Interpreter, call: Arguments) -> Value:
    return Proxy(call.first) if isinstance(call.first, DictValue) else UNKNOWN


@models("dataclasses.astuple")
def _as_tuple(interp: Interpreter, call: Arguments) -> Value:
    return records.as_tuple(call.args[0]) if call.args else UNKNOWN


@models("dataclasses.replace")
def _replaced(interp: Interpreter, call: Arguments) -> Value:
    return records.replaced(interp, call) if call.args else UNKNOWN


@models("dataclasses.fields")
def _fields(interp: Interpreter, call: Arguments) -> Value:
    return records.described_fields(call.args[0]) if call.args else UNKNOWN


@models("dataclasses.is_dataclass")
def _is_dataclass(interp: Interpreter, call: Arguments) -> Value:
    cls = call.first.cls if isinstance(call.first, Instance) else call.first
    if isinstance(cls, ClassValue):
        return Scalar("bool") if cls.opaque else any(one.is_dataclass for one in of_kind(cls.mro(), ClassValue))
    plain = is_plain(cls) or is_tuple(cls) or isinstance(cls, ListValue | DictValue | Tensor | Function)
    return False if plain else UNKNOWN


@models("dataclasses.asdict")
def _as_dict(interp: Interpreter, call: Arguments) -> Value:
    return records.as_dict(call.args[0]) if len(call.args) == 1 and not call.kwargs else UNKNOWN


@models(*_PASS_THROUGH)
def _passed(interp: Interpreter, call: Arguments) -> Value:
    """A progress bar is what it goes over, and has attributes of its own."""
    over = call.first
    if isinstance(over, LibraryObject):
        interp.heap.set(over.slots, "wrapped", True)
    return ListValue(over) if type(over) is tuple else over


@models("typing.cast")
def _cast(interp: Interpreter, call: Arguments) -> Value:
    return call.args[min(1, len(call.args) - 1)] if call.args else UNKNOWN


@models(*_FLOATS)
def _float(interp: Interpreter, call: Arguments) -> Value:
    return Scalar("float", arrays.left_graph(call.args))


@models(*_INTS)
def _integer(interp: Interpreter, call: Arguments) -> Value:
    return interp.fresh_size("?", positive=False)


@models(*_STRINGS)
def _string(interp: Interpreter, call: Arguments) -> Value:
    return Scalar("str")


@models(*_NOTHING)
def _nothing(interp: Interpreter, call: Arguments) -> Value:
    return None


@models("functools.partial")
def _partial(interp: Interpreter, call: Arguments) -> Value:
    if call.args:
        misuse.misfits_partly(interp, call.args[0], call)
    inner = as_kind(call.first, Partial)
    if inner is not None:
        return Partial(inner.function, (*inner.args, *call.args[1:]), {**inner.kwargs, **call.kwargs})
    return Partial(call.args[0], call.args[1:], call.kwargs) if call.args else UNKNOWN


@models("functools.wraps", "functools.update_wrapper")
def _wraps(interp: Interpreter, call: Arguments) -> Value:
    """``functools.wraps(f)``: a decorator that gives a function the name of another."""
    of = call.first

    def decorate(inner: Arguments) -> Value:
        value = inner.first
        if isinstance(value, Function):
            for name in ("__name__", "__doc__", "__qualname__"):
                value.attributes[name] = interp.attribute(of, name, call.node, call.frame)
            value.attributes["__wrapped__"] = of
        return value

    return Builtin("functools.wraps", decorate)


@models("functools.lru_cache")
def _remembering(interp: Interpreter, call: Arguments) -> Value:
    most = call.given(0, "maxsize", KEPT_RESULTS)

    def remember(inner: Arguments) -> Value:
        value = inner.first
        if isinstance(value, Function):
            value.memo, value.most = {}, as_kind(most, int)
        return value

    return remember(call) if isinstance(most, Function) else Builtin(call.path, remember)


KEPT_RESULTS = 128
"""Results that ``lru_cache`` keeps where it is not told how many."""


@models(*_SHARDED)
def _sharded(interp: Interpreter, call: Arguments) -> Value:
    return call.first


@models(*_OBJECTS, *(files.OBJECTS - {files.PATH}))
class Plain(Model):
    """An object that is known by its arguments alone."""


@models("json.loads", "ast.literal_eval")
def _parsed(interp: Interpreter, call: Arguments) -> Value:
    """The value that a constant text says."""
    text = as_kind(call.first, str)
    if text is None or call.kwargs or len(text) > MAX_TEXT:
        return UNKNOWN
    try:
        return dictionaries.from_json(json.loads(text) if call.name == "loads" else ast.literal_eval(text))
    except (ValueError, SyntaxError, RecursionError):
        return UNKNOWN


@models("functools.reduce")
def _reduced(interp: Interpreter, call: Arguments) -> Value:
    """``functools.reduce``"""
    items = interp.sequence(call.args[1], call.node, call.frame) if len(call.args) >= 2 else None
    if items is None or (not items and len(call.args) < 3):
        return UNKNOWN
    result, *rest = items if len(call.args) < 3 else (call.args[2], *items)
    for item in rest:
        result = interp.call(call.args[0], replace(call, args=(result, item), kwargs={}))
    return result


def _bounds(interp: Interpreter, call: Arguments) -> list[Value]:
    return [interp.resolved(value) for value in (*call.args, *call.kwargs.values())]


def _drawn(interp: Interpreter, bounds: list[Value], inclusive: bool) -> Value:
    """An integer between bounds, of which the lower one is 0 where there is only one."""
    sizes = sizes_of(bounds)
    if sizes is None or not 0 < len(sizes) <= 2:
        return interp.fresh_size("?", positive=False)
    low, high = sizes if len(sizes) == 2 else (0, sizes[0])
    return draws.drawn_between(interp, low, high if inclusive else dims.subtract(high, 1))


class Random(Model):
    """Python's generators of random numbers; the functions of the module are methods of one of them."""

    @classmethod
    def of_module(cls, interp: Interpreter, call: Arguments) -> Value:
        """A function of the module."""
        return cls(interp, None, call.name).run(call) if call.name in cls.methods else UNKNOWN

    def run(self, call: Arguments) -> Value:
        return super().run(call) if call.exact else self.other(call)

    @method(*(name.rpartition(".")[2] for name in _FLOATS if name.startswith("random.")))
    def real(self, call: Arguments) -> Value:
        return Scalar("float")

    @method
    def randint(self, call: Arguments) -> Value:
        return _drawn(self.interp, _bounds(self.interp, call), inclusive=True)

    @method
    def randrange(self, call: Arguments) -> Value:
        return _drawn(self.interp, _bounds(self.interp, call), inclusive=False)

    @method
    def seed(self, call: Arguments) -> Value:
        return None

    @method
    def shuffle(self, call: Arguments) -> Value:
        if not call.args:
            return UNKNOWN
        _shuffle(self.interp, call.args[0])
        return None

    @method
    def choice(self, call: Arguments) -> Value:
        iteration = self._population(call)
        return UNKNOWN if iteration is None else _one_of(self.interp, iteration)

    @method
    def sample(self, call: Arguments) -> Value:
        return self._several(call, call.given(1, "k", 1))

    @method
    def choices(self, call: Arguments) -> Value:
        return self._several(call, call.kwargs.get("k", 1))

    def _several(self, call: Arguments, asked: Value) -> Value:
        iteration, count = self._population(call), self.interp.resolved(asked)
        if iteration is None:
            return UNKNOWN
        element = self.interp.any_of(iteration.items)
        if isinstance(count, int) and 0 <= count <= 4096:
            return ListValue(tuple(self.interp.renewed((element,) * count)))
        return ListValue(Several.counted(self.interp.heap.several((element,)), count if is_int(count) else None))

    def _population(self, call: Arguments) -> Iteration | None:
        """The population that is drawn from, None where it is not known."""
        iteration = self.interp.iterate(call.args[0], call.node, call.frame) if call.args else None
        return iteration if iteration is not None and iteration.items and UNKNOWN not in iteration.items else None


models("random.Random")(Random)
models(*(f"random.{name}" for name in Random.methods if f"random.{name}" not in (*_FLOATS, *_NOTHING)))(
    Random.of_module
)


def _one_of(interp: Interpreter, iteration: Iteration) -> Value:
    """An element drawn at random: a number between the least and the greatest, or what they have in common."""
    items = iteration.items
    if iteration.exact and all_are(items, int) and not any_are(items, bool):
        return draws.draw(interp, min(items), max(items))
    return interp.any_of(items)


def _shuffle(interp: Interpreter, value: Value) -> None:
    """Any element may be anywhere now."""
    if isinstance(value, ListValue) and value.items:
        kinds = interp.heap.several(value.items)
        numbers = all_are(value.items, int, float, str) and len(set(value.items)) > 1
        if len(kinds) > 1 or numbers:
            one = interp.any_of(value.items)
            interp.heap.set(value.slots, "items", tuple(interp.renewed(one) for _ in value.items))


@models("collections.OrderedDict", "collections.defaultdict", "collections.Counter")
def _dictionary(interp: Interpreter, call: Arguments) -> Value:
    return dictionaries.collection(interp, call.name, call)


@models("collections.namedtuple")
def _named_tuple(interp: Interpreter, call: Arguments) -> Value:
    return records.named_tuple(interp, call)


@models("collections.deque")
def _deque(interp: Interpreter, call: Arguments) -> Value:
    first = call.given(0, "iterable", ())
    made = ListValue((), "deque")
    limit = interp.resolved(call.given(1, "maxlen"))
    made.slots["maxlen"] = as_kind(limit, int)
    iteration = interp.iterate(first, call.node, call.frame)
    if iteration.exact and (limit is None or isinstance(limit, int)):
        made.slots["items"] = iteration.items[-limit:] if limit else iteration.items
    else:
        made.slots["items"] = None if UNKNOWN in iteration.items else Several(iteration.items)
    return made


@models("itertools.count")
def _count(interp: Interpreter, call: Arguments) -> Value:
    start, step = (
        interp.resolved(call.given(0, "start", 0)),
        as_kind(interp.resolved(call.given(1, "step", 1)), int, float),
    )
    examples = (start, interp.fresh_size("?", positive=False))
    if isinstance(start, int | float) and step is not None:
        return streams.made_of(itertools.count(start, step), examples)
    return ListValue(Several(examples), "iterator")


@models("itertools.repeat")
def _repeat(interp: Interpreter, call: Arguments) -> Value:
    if not call.args:
        return UNKNOWN
    times = interp.resolved(call.given(1, "times"))
    if isinstance(times, int):
        if times > MAX_ITEMS:
            return ListValue(Several.counted(Several((call.args[0],)), times), "iterator")
        return ListValue((call.args[0],) * max(0, times), "iterator")
    return streams.made_of(itertools.repeat(call.args[0]), (call.args[0],)) if times is None else UNKNOWN


@models("itertools.groupby")
def _grouped(interp: Interpreter, call: Arguments) -> Value:
    """Groups that are gone through while they are there: nothing is left of one once the next is asked for."""

    def run(bridge: plain.Bridge) -> Any:
        values, key = bridge.opened(call.given(0, "iterable")), bridge.lower(call.given(1, "key"))
        return [(one, list(group)) for one, group in itertools.groupby(values, key)]

    found = as_kind(plain.tried(interp, call, run), ListValue)
    if found is None or found.items is None:
        return UNKNOWN
    pairs = found.items

    def steps() -> Iterator[Value]:
        for key, group in of_kind(pairs, tuple):
            left = ListValue(elements_of(group), "iterator")
            misuse.iterator(interp, left, call.node, call.frame)
            yield (key, left)
            interp.heap.set(left.slots, "items", ())

    made = streams.made_of(steps(), pairs)
    made.transient = True
    return made


@models("itertools.tee")
def _tee(interp: Interpreter, call: Arguments) -> Value:
    sequence = interp.sequence(call.args[0], call.node, call.frame) if call.args else None
    count = as_kind(call.given(1, "n", 2), int)
    if sequence is None or count is None:
        return UNKNOWN
    made = (ListValue(sequence, "iterator") for _ in range(count))
    return tuple(misuse.iterator(interp, one, call.node, call.frame) for one in made)


@models("itertools.cycle")
def _cycle(interp: Interpreter, call: Arguments) -> Value:
    value = call.args[0] if call.args else None
    items = value.items if isinstance(value, ListValue) else as_kind(value, tuple, str)
    return streams.made_of(itertools.cycle(items), tuple(items)) if items else _some(interp, call)


@models("itertools.chain")
def _chain(interp: Interpreter, call: Arguments) -> Value:
    if not call.args:
        return UNKNOWN
    each = [interp.iterate(value, call.node, call.frame) for value in call.args]
    items = tuple(item for iteration in each for item in iteration.items)
    if all(iteration.exact for iteration in each):
        return ListValue(items)
    return ListValue(None if UNKNOWN in items else interp.heap.several(items), "iterator")


@models("itertools.islice")
def _some(interp: Interpreter, call: Arguments) -> Value:
    if not call.args:
        return UNKNOWN
    iteration = interp.iterate(call.args[0], call.node, call.frame)
    return ListValue(Several(iteration.items), "iterator")


@models(*(f"itertools.{name}" for name in ("product", "combinations", "permutations", "zip_longest", "accumulate")))
def _combined(interp: Interpreter, call: Arguments) -> Value:
    return ListValue(None) if call.args else UNKNOWN


@models(*numpy.GENERATORS)
class Generator(Model):
    """NumPy's generators of random numbers."""

    def run(self, call: Arguments) -> Value:
        return numpy.draw(self.interp, self.name, call)


_MODULES = (logging, string)

__all__ = ["call", "constant"]

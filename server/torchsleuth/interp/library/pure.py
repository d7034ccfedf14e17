"""Functions and methods of Python and of its standard library that only compute: they are called where their arguments are
known. What must not be called on anything (files, processes, clocks, random numbers) is not among them."""

from __future__ import annotations

import ast
import base64
import bisect
import builtins
import datetime
import fnmatch
import functools
import heapq
import itertools
import json
import math
import operator
import os.path
import re
import statistics
import string
import struct
import textwrap
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from torchsleuth.interp import limits, special
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import contents, records
from torchsleuth.interp.library.plain import ABSENT, MAX_ITEMS, Bridge, Held, Known, NotPlain, hold, tried
from torchsleuth.sifting import all_are, any_are, as_kind, of_kind
from torchsleuth.tensors.spec import Native
from torchsleuth.values import UNKNOWN, Array, Builtin, DictValue, ListValue, Scalar, Tensor, Value, is_unknown

MAX_COUNT = 10_000
"""How large a number may be that says how much is made."""
MAX_PATTERN = 200
MAX_REPEATS = 3
"""Characters of a pattern, and repetitions in it: matching may take a time that grows with a power of the text."""
MAX_MATCHING = 20_000_000
"""Steps that matching may take at worst."""


@dataclass(frozen=True)
class Model:
    """How a function is called. `deep`: its arguments have to be plain to the last, as for what makes a text of them.
    `guard`: refuses arguments for which it would take too long. `iterates`: it gives an iterator. `changes`: it changes its
    first argument. `opens`: of how many arguments, from the first on, the elements are looked at; of all where that is None."""

    function: Callable[..., Any]
    deep: bool = False
    guard: Callable[[tuple[Any, ...], dict[str, Any]], bool] | None = None
    iterates: bool = False
    changes: bool = False
    opens: int | None = None


def _counts_are_small(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    given = (*args, *kwargs.values())
    return all(abs(one) <= MAX_COUNT for one in of_kind(given, int))


def _forms_are_small(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return not any(limits.fills(one) for one in of_kind((*args, *kwargs.values()), str))


def _numbers_are_small(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether what is made a number of has few digits, also behind an exponent."""
    texts = of_kind(args, str)
    large = any(not -(1 << 64) < one < 1 << 64 for one in of_kind(args, Fraction))
    return all(len(one) < 100 and "e" not in one.lower() for one in texts) and not large


def _power_is_small(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if len(args) == 3:
        return True
    numbers = len(args) == 2 and all_are(args, int, float, complex)
    return numbers and not limits.takes_long("pow", *args)


def _products_are_small(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    total = math.prod(max(len(one), 1) for one in args if isinstance(one, list | tuple | str))
    repeat = as_kind(kwargs.get("repeat", 1), int)
    return repeat is not None and repeat <= 12 and total ** max(repeat, 1) <= MAX_ITEMS


def _choices_are_small(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return bool(args) and isinstance(args[0], list | tuple | str) and len(args[0]) <= 12


def _pattern_is_simple(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether matching ends soon: no repetition in another, no reference back, and few repetitions for the length of the
    text."""
    texts = of_kind(args, str)
    if (
        not texts
        or texts[0] is not args[0]
        or kwargs.keys() - {"flags", "count", "maxsplit"}
        or len(texts[0]) > MAX_PATTERN
    ):
        return False
    repeats = MAX_REPEATS + 1 if re.search(r"\\[1-9]|\(\?P=", texts[0]) else _repeats(texts[0])
    return repeats <= MAX_REPEATS and all(len(text) ** (repeats + 1) <= MAX_MATCHING for text in texts[1:])


_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\??|\)|\||[*+?]|\{\d*,?\d*\}")


def _repeats(pattern: str) -> int:
    """How many repetitions stand beside one another in a pattern; more than are allowed if one stands in another."""
    count, varies, closed = 0, [False], False
    for found in _PARTS.finditer(pattern):
        part = found.group()
        if part.startswith("("):
            varies.append(False)
        elif part == ")":
            closed = varies.pop() if len(varies) > 1 else False
            varies[-1] |= closed
        elif part == "|":
            varies[-1] = True
        elif part[0] in "*+?{":
            several = part != "?" or pattern[found.start() - 1] in "*+}"
            if several and closed and pattern[found.start() - 1] == ")":
                return MAX_REPEATS + 1
            varies[-1] = True
            count += several
    return count


def _dumped(value: Any, default: Any = None, **options: Any) -> str:
    if options.keys() - {"indent", "sort_keys", "ensure_ascii", "separators"} or (default is None and _has_held(value)):
        raise NotPlain
    return json.dumps(value, default=None if default is None else lambda one: _stands_for(default, one), **options)


def _stands_for(default: Any, one: Any) -> Any:
    """The value that ``default=`` of ``json.dumps`` gives for an object."""
    if isinstance(one, Held) and (special.contents(one.value) is not None or records.is_member(one.value)):
        raise NotPlain
    made = default(one)
    made = made.bridge.deep(made.value) if isinstance(made, Held) else made
    if isinstance(made, Held):
        raise NotPlain
    return made


def _loaded(text: Any, **options: Any) -> Any:
    if options.keys() - {"object_hook"} or not isinstance(text, str | bytes):
        raise NotPlain
    return json.loads(text, **options)


def _has_held(value: Any) -> bool:
    parts = value if isinstance(value, list | tuple) else (*value, *value.values()) if isinstance(value, dict) else ()
    return isinstance(value, Held) or any(map(_has_held, parts))


def _summed(values: Any, start: Any = 0) -> Any:
    return functools.reduce(operator.add, values, start)


def _in_order(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes a text, of what has an order."""

    def call(*args: Any) -> Any:
        if any(isinstance(one, Iterator) or has_no_order(one) for one in args):
            raise NotPlain
        return function(*args)

    return call


def _bare(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is called with plain values alone."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if any_are((*args, *kwargs.values()), Held):
            raise NotPlain
        return function(*args, **kwargs)

    return call


def _named(module: Any, path: str, names: str, **how: Any) -> dict[str, Model]:
    return {f"{path}.{name}": Model(getattr(module, name), **how) for name in names.split() if hasattr(module, name)}


def _numeric(names: str, **how: Any) -> dict[str, Model]:
    return {f"math.{name}": Model(_bare(getattr(math, name)), **how) for name in names.split() if hasattr(math, name)}


FUNCTIONS: dict[str, Model] = {
    **_named(builtins, "builtins", "sorted min max"),
    **_named(builtins, "builtins", "divmod chr ord hex oct bin ascii complex abs"),
    "builtins.round": Model(round, guard=lambda args, kwargs: _counts_are_small(args[1:], kwargs)),
    "builtins.repr": Model(_in_order(repr)),
    **_named(builtins, "builtins", "format", guard=_forms_are_small),
    **_named(builtins, "builtins", "set frozenset"),
    **_named(builtins, "builtins", "bytes", guard=_counts_are_small),
    "builtins.pow": Model(pow, guard=_power_is_small),
    "builtins.str": Model(_in_order(str)),
    "builtins.int": Model(_bare(int), guard=_numbers_are_small),
    "builtins.float": Model(_bare(float)),
    "builtins.sum": Model(_summed),
    "builtins.dict.fromkeys": Model(dict.fromkeys, opens=1),
    "builtins.str.maketrans": Model(str.maketrans),
    "builtins.bytes.fromhex": Model(bytes.fromhex),
    "builtins.int.from_bytes": Model(int.from_bytes),
    **_numeric(
        "sqrt ceil floor log2 log10 log log1p exp cos sin tan acos asin atan atan2 cosh sinh tanh hypot degrees radians gcd "
        "lcm trunc isnan isinf isfinite isclose fabs fmod copysign expm1 isqrt modf frexp ldexp dist erf gamma"
    ),
    **_numeric("factorial comb perm pow", guard=lambda args, kwargs: all(abs(one) <= 200 for one in args)),
    **_named(math, "math", "prod fsum"),
    **_named(statistics, "statistics", "mean median mode stdev pstdev variance pvariance fmean median_low median_high"),
    **_named(bisect, "bisect", "bisect bisect_left bisect_right"),
    **_named(bisect, "bisect", "insort insort_left insort_right", changes=True, opens=1),
    **_named(heapq, "heapq", "heapify heappush heappop heappushpop heapreplace", changes=True, opens=1),
    **_named(heapq, "heapq", "nlargest nsmallest"),
    **_named(heapq, "heapq", "merge", iterates=True),
    **_named(itertools, "itertools", "chain zip_longest starmap accumulate islice pairwise", iterates=True),
    **_named(itertools, "itertools", "takewhile dropwhile filterfalse compress", iterates=True),
    **_named(itertools, "itertools", "product", iterates=True, guard=_products_are_small),
    **_named(
        itertools,
        "itertools",
        "permutations combinations combinations_with_replacement",
        iterates=True,
        guard=_choices_are_small,
    ),
    "itertools.chain.from_iterable": Model(itertools.chain.from_iterable, iterates=True),
    "functools.reduce": Model(functools.reduce, opens=2),
    **_named(os.path, "os.path", "join basename dirname split splitext normpath isabs commonprefix"),
    **_named(textwrap, "textwrap", "dedent indent shorten wrap fill", guard=_counts_are_small),
    **_named(fnmatch, "fnmatch", "fnmatch filter", guard=lambda args, kwargs: len(args[-1]) <= 40),
    **_named(string, "string", "capwords"),
    "json.dumps": Model(_dumped, deep=True),
    "json.loads": Model(_loaded),
    **_named(re, "re", "match search fullmatch findall split sub compile", guard=_pattern_is_simple),
    **_named(re, "re", "finditer", guard=_pattern_is_simple, iterates=True),
    "re.escape": Model(re.escape),
    **_named(datetime, "datetime", "datetime date timedelta timezone"),
    **_named(datetime.datetime, "datetime.datetime", "strptime fromisoformat combine", guard=_forms_are_small),
    **_named(datetime.date, "datetime.date", "fromisoformat fromordinal"),
    **_named(struct, "struct", "pack unpack calcsize", guard=_forms_are_small),
    "fractions.Fraction": Model(_bare(Fraction), guard=_numbers_are_small),
    "base64.b64encode": Model(_bare(base64.b64encode)),
    "base64.b64decode": Model(_bare(base64.b64decode)),
    **{
        f"operator.{name}": Model(getattr(operator, name))
        for name in ("contains", "countOf", "indexOf", "concat", "truth", "not_")
    },
}

_UNORDERED = frozenset(f"builtins.{name}" for name in ("sorted", "set", "frozenset", "sum", "min", "max"))
"""Functions that give the same in whatever order they go through a set."""

_TEXT_METHODS = frozenset(
    "lower upper strip lstrip rstrip replace join title capitalize casefold swapcase format removeprefix removesuffix zfill "
    "ljust rjust center expandtabs translate startswith endswith isdigit isalpha isalnum isascii isdecimal islower isnumeric "
    "isspace istitle isupper isidentifier isprintable split rsplit splitlines partition rpartition index rindex find rfind "
    "count encode".split()
)
_BYTES_METHODS = frozenset(
    "decode hex split join strip startswith endswith find index count replace upper lower isdigit".split()
)
METHODS: dict[str, frozenset[str]] = {
    "str": _TEXT_METHODS,
    "bytes": _BYTES_METHODS,
    "tuple": frozenset({"index", "count"}),
    "int": frozenset("bit_length bit_count to_bytes conjugate is_integer as_integer_ratio".split()),
    "bool": frozenset({"bit_length"}),
    "float": frozenset("is_integer as_integer_ratio hex conjugate".split()),
    "complex": frozenset({"conjugate"}),
    "list": frozenset({"index", "count"}),
    "range": frozenset({"index", "count"}),
    "deque": frozenset({"index", "count"}),
    "set": frozenset("union intersection difference symmetric_difference issubset issuperset isdisjoint copy".split()),
    "frozenset": frozenset(
        "union intersection difference symmetric_difference issubset issuperset isdisjoint copy".split()
    ),
    "SliceValue": frozenset({"indices"}),
    "Counter": frozenset("most_common total".split()),
}
"""By the type of what they are called on: methods that change nothing."""
CHANGING: dict[str, frozenset[str]] = {
    "list": frozenset("insert pop remove sort reverse".split()),
    "deque": frozenset("append appendleft extend extendleft pop popleft remove rotate reverse insert".split()),
    "set": frozenset(
        "add discard remove update pop intersection_update difference_update symmetric_difference_update".split()
    ),
    "OrderedDict": frozenset({"move_to_end"}),
    "Counter": frozenset({"subtract"}),
}
"""Methods that change what they are called on."""
_SPECIAL: dict[str, Callable[..., Any]] = {
    "__add__": operator.add,
    "__sub__": operator.sub,
    "__mul__": operator.mul,
    "__len__": len,
    "__contains__": operator.contains,
    "__eq__": operator.eq,
    "__ne__": operator.ne,
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
    "__getitem__": operator.getitem,
    "__str__": str,
    "__repr__": repr,
    "__bool__": bool,
    "__neg__": operator.neg,
}


def function(interp: Interpreter, path: str, call: Arguments) -> Value:
    """The result of a function that only computes; ABSENT where it is none, or where that is not known."""
    model = FUNCTIONS.get(path)
    if model is None or not call.exact or any_are(call.args, Tensor):
        return ABSENT
    if any(is_unknown(one) or isinstance(one, Scalar) for one in (*call.args, *call.kwargs.values())):
        return ABSENT
    changed = as_kind(call.args[0], ListValue) if model.changes and call.args else None
    if model.changes and changed is None:
        return ABSENT

    def run(bridge: Bridge) -> Any:
        down = bridge.deep if model.deep else bridge.opened
        args = tuple(map(down, call.args[: model.opens]))
        args += tuple(map(bridge.lower, call.args[len(args) :]))
        kwargs = {name: down(value) for name, value in call.kwargs.items()}
        if model.guard is not None and not model.guard(args, kwargs):
            raise NotPlain
        if path not in _UNORDERED and any(map(has_no_order, args)):
            raise NotPlain
        made = model.function(*args, **kwargs)
        if changed is not None:
            hold(bridge, changed, args[0])
        return Held(bridge, bridge.drawn(made)) if model.iterates else made

    return tried(interp, call, run)


_TYPES: dict[str, type] = {
    f"builtins.{kind.__name__}": kind for kind in (str, bytes, int, float, list, dict, set, tuple, frozenset, complex)
}


def _get_item(interp: Interpreter, container: Value, call: Arguments) -> Value:
    return interp.get_item(container, call.given(0, "key"), call.node, call.frame)


def _set_item(interp: Interpreter, container: Value, call: Arguments) -> Value:
    if isinstance(call.node, ast.expr):
        interp.set_item(container, call.given(0, "key"), call.given(1, "value"), call.node, call.frame)
    return None


def _delete_item(interp: Interpreter, container: Value, call: Arguments) -> Value:
    interp.delete_item(container, call.given(0, "key"), call.node, call.frame)
    return None


_OF_ITEMS: dict[str, Callable[[Interpreter, Value, Arguments], Value]] = {
    "__getitem__": _get_item,
    "__setitem__": _set_item,
    "__delitem__": _delete_item,
}
"""The special methods of containers that code takes from their types: ``__setattr__ = dict.__setitem__``."""


def method_of_type(interp: Interpreter, owner: Native, name: str) -> Value:
    """``str.upper``, ``dict.fromkeys``, ``object.__setattr__``: a function of a builtin type, UNKNOWN for others."""
    from torchsleuth.interp.library import classes

    path = f"{owner.path}.{name}"
    if path in FUNCTIONS:
        return Native(path, "builtin")
    of_object = {
        "builtins.object.__setattr__": classes.object_setattr,
        "builtins.object.__delattr__": classes.object_delattr,
        "builtins.object.__getattribute__": classes.object_getattribute,
    }
    if path in of_object:
        return Builtin(path, lambda call: of_object[path](interp, call))
    kind = _TYPES.get(owner.path)
    special_one = name.startswith("__")
    if kind is None or (special_one and name not in _OF_ITEMS) or not callable(getattr(kind, name, None)):
        return UNKNOWN

    def called(call: Arguments) -> Value:
        if not call.args:
            return UNKNOWN
        held = special.contents(call.args[0])
        if special_one:
            return _OF_ITEMS[name](interp, call.args[0] if held is None else held, replace(call, args=call.args[1:]))
        method = interp.attribute(call.args[0] if held is None else held, name, call.node, call.frame)
        return interp.call(method, replace(call, args=call.args[1:]))

    return Builtin(path, called)


def zipped(interp: Interpreter, call: Arguments) -> Value:
    """``zip(one, one)`` of an iterator that is gone through in turns."""
    return tried(interp, call, lambda bridge: Held(bridge, bridge.drawn(zip(*map(bridge.opened, call.args)))))


def method(interp: Interpreter, receiver: Value, name: str, call: Arguments) -> Value:
    """The result of a method, whose effects are applied; ABSENT where that is not known."""
    kind = receiver.type_name if isinstance(receiver, ListValue | DictValue) else type(receiver).__name__
    if isinstance(receiver, ListValue) and (receiver.once is not None or kind not in METHODS):
        return ABSENT
    changes = name in CHANGING.get(kind, ())
    if not call.exact or not (changes or name in METHODS.get(kind, ()) or name in _SPECIAL):
        return ABSENT
    if kind == "str" and not _is_short(receiver, name, call):
        return ABSENT

    def run(bridge: Bridge) -> Any:
        opened = bridge.opened(receiver)
        if name == "pop" and has_no_order(opened):
            raise NotPlain
        args = tuple(map(bridge.opened, call.args))
        kwargs = {key: bridge.opened(value) for key, value in call.kwargs.items()}
        if kind in ("int", "float") and not _counts_are_small(args, kwargs):
            raise NotPlain
        if name in _SPECIAL:
            return _SPECIAL[name](opened, *args)
        made = getattr(opened, name)(*args, **kwargs)
        if changes and isinstance(receiver, ListValue | DictValue):
            if name in ("pop", "popleft", "remove", "discard") or isinstance(opened, deque):
                interp.trace.emptied.add(receiver.identity)
            hold(bridge, receiver, opened)
        return made

    return tried(interp, call, run)


def _is_short(receiver: Any, name: str, call: Arguments) -> bool:
    """Whether what a method makes of a text is not too long, and asks for no attributes."""
    if name not in ("format", "replace", "join", "center", "ljust", "rjust", "zfill", "expandtabs", "translate"):
        return True
    if name == "format":
        small = not limits.fills(receiver) and receiver.count("{") * 1000 <= limits.MAX_TEXT
        return not _reaches(receiver) and small and (not _nests(receiver) or _counts_are_small(call.args, call.kwargs))
    args = [one if isinstance(one, str | int) else "" for one in call.args]
    return limits.length_of(receiver, name, args) <= limits.MAX_TEXT


OBJECTS: dict[type, tuple[frozenset[str], frozenset[str]]] = {
    re.Match: (
        frozenset({"string", "pos", "endpos", "lastindex", "lastgroup"}),
        frozenset("group groups groupdict start end span".split()),
    ),
    re.Pattern: (frozenset({"pattern"}), frozenset("match search fullmatch findall sub split".split())),
    datetime.datetime: (
        frozenset("year month day hour minute second".split()),
        frozenset(
            "strftime isoformat date weekday isoweekday isocalendar toordinal timestamp replace astimezone ctime".split()
        ),
    ),
    datetime.date: (
        frozenset("year month day".split()),
        frozenset("strftime isoformat weekday isoweekday isocalendar toordinal replace ctime".split()),
    ),
    datetime.timedelta: (frozenset({"days", "seconds", "microseconds"}), frozenset({"total_seconds"})),
    Fraction: (frozenset({"numerator", "denominator"}), frozenset()),
}
"""The attributes and methods of objects that never change."""


def known_attribute(owner: Known, name: str) -> Value:
    """An attribute of an object of the standard library; ABSENT if it may be a method."""
    plain, methods = OBJECTS.get(type(owner.object), (frozenset(), frozenset()))
    if name in plain:
        return getattr(owner.object, name)
    return ABSENT if name in methods else UNKNOWN


def known_method(interp: Interpreter, owner: Known, name: str, call: Arguments) -> Value:
    """A method of an object of the standard library."""
    made = owner.object

    def run(bridge: Bridge) -> Any:
        args = tuple(map(bridge.opened, call.args))
        if not _forms_are_small(args, {}):
            raise NotPlain
        if isinstance(made, re.Pattern) and not _pattern_is_simple((made.pattern, *args), call.kwargs):
            raise NotPlain
        kwargs = {key: bridge.lower(value) for key, value in call.kwargs.items()}
        found = getattr(made, name)(*args, **kwargs)
        return tuple(found) if name == "isocalendar" else found

    named = not call.kwargs or name == "replace"
    value = tried(interp, call, run) if call.exact and named and _is_settled(made, name, call) else ABSENT
    return UNKNOWN if value is ABSENT else value


def _is_settled(made: Any, name: str, call: Arguments) -> bool:
    """Whether a method gives the same wherever a script runs: not what the zone of the machine decides."""
    if name == "timestamp":
        return isinstance(made, datetime.datetime) and made.tzinfo is not None
    return name != "astimezone" or (getattr(made, "tzinfo", None) is not None and len(call.args) == 1)


def _nests(template: str) -> bool:
    """Whether a width is itself a placeholder: ``{:>{width}}``."""
    try:
        return any(form and "{" in form for _, _, form, _ in string.Formatter().parse(template))
    except ValueError:
        return True


def _reaches(template: str) -> bool:
    """Whether a template asks for attributes of what it is given: ``{0.__class__}``."""
    try:
        return any(part and "." in part for _, part, _, _ in string.Formatter().parse(template))
    except ValueError:
        return True


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "and_": operator.and_,
    "or_": operator.or_,
    "xor": operator.xor,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_COMPARISONS = frozenset("eq ne lt le gt ge".split())
_CONTAINERS = (ListValue, DictValue, tuple, str, bytes, Known)


def operate(interp: Interpreter, name: str, left: Value, right: Value, call: Arguments, inplace: bool = False) -> Value:
    """An operator of Python between containers or texts; ABSENT where its result is not known."""
    if name not in _OPERATORS or not (isinstance(left, _CONTAINERS) or isinstance(right, _CONTAINERS)):
        return ABSENT
    if name == "mod" and isinstance(left, str) and (limits.fills(left) or "*" in left):
        return ABSENT
    if name == "mul" and not _repeats_little(left, right):
        return ABSENT

    def run(bridge: Bridge) -> Any:
        sides = [bridge.opened(side) for side in (left, right)]
        # What is held is compared and computed with by the interpreter, which is what asks here.
        if any_are(sides, Iterator, Held):
            raise NotPlain
        made = (operator.ior if inplace and name == "or_" else _OPERATORS[name])(*sides)
        kept = left if inplace and isinstance(left, ListValue | DictValue) and type(made) is type(sides[0]) else None
        if kept is not None and kept.type_name != "frozenset":
            hold(bridge, kept, made)
            return Held(bridge, kept)
        return made

    return tried(interp, call, run)


def _repeats_little(left: Value, right: Value) -> bool:
    for sequence, count in ((left, right), (right, left)):
        if isinstance(count, int):
            items = sequence.items if isinstance(sequence, ListValue) else sequence
            return isinstance(items, tuple | str | bytes) and len(items) * count <= MAX_ITEMS
    return False


def contains(interp: Interpreter, container: Value, item: Value, call: Arguments) -> Value:
    """``item in container``"""
    if not isinstance(container, ListValue | tuple | bytes | str | DictValue | Known) or isinstance(item, Scalar):
        return ABSENT

    def run(bridge: Bridge) -> Any:
        return bridge.lower(item) in bridge.opened(container)

    return tried(interp, call, run)


def item(interp: Interpreter, container: Value, key: Value, call: Arguments) -> Value:
    """``container[key]`` of a sequence; a slice of a list is a list of its own."""

    def run(bridge: Bridge) -> Any:
        opened = bridge.opened(container)
        if not isinstance(opened, list | tuple | str | bytes | deque | re.Match):
            raise NotPlain
        return opened[bridge.lower(key)]

    return tried(interp, call, run)


def put(interp: Interpreter, container: ListValue, key: Value, value: Value, call: Arguments) -> bool:
    """``container[key] = value``, whether that was done."""

    def run(bridge: Bridge) -> Any:
        opened = bridge.opened(container)
        if not isinstance(opened, list | deque):
            raise NotPlain
        where = bridge.lower(key)
        opened[where] = bridge.opened(value) if isinstance(where, slice) else bridge.lower(value)
        hold(bridge, container, opened)

    return tried(interp, call, run) is not ABSENT


def delete(interp: Interpreter, container: ListValue, key: Value, call: Arguments) -> bool:
    """``del container[key]``, whether that was done."""

    def run(bridge: Bridge) -> Any:
        opened = bridge.opened(container)
        if not isinstance(opened, list | deque):
            raise NotPlain
        del opened[bridge.lower(key)]
        hold(bridge, container, opened)

    return tried(interp, call, run) is not ABSENT


def has_no_order(opened: Any) -> bool:
    """Whether Python goes through a container in an order that differs from one execution to the next."""
    return (
        isinstance(opened, set | frozenset) and len(opened) > 1 and not all(type(one) in (int, float) for one in opened)
    )


_CONVERSIONS: dict[int, Callable[[Any], str]] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}


def formatted(interp: Interpreter, value: Value, conversion: int, form: str, call: Arguments) -> Value:
    """``f"{value!r:form}"``"""
    if limits.fills(form):
        return ABSENT
    if isinstance(value, Array) and form and conversion == -1 and (known := contents.number(value)) is not None:
        value = known

    if records.is_member(value) and form and conversion == -1:
        value = records.plain(value) if records.has_text_of_value(value) else interp.shown(value, "__str__", call.frame)

    def run(bridge: Bridge) -> Any:
        opened = bridge.opened(value)
        if isinstance(opened, Iterator) or has_no_order(opened):
            raise NotPlain
        convert = _CONVERSIONS.get(conversion)
        return format(opened if convert is None else convert(opened), form)

    return tried(interp, call, run)


__all__ = ["ABSENT", "Counter", "OrderedDict", "contains", "delete", "formatted", "function", "item", "method"]
__all__ += ["operate", "put"]

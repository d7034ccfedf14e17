"""The operations of Python on a value: its truth, attributes, elements, items, length and type.

There is one class per kind of value, found by the type of the value, so that the interpreter asks the value and not what it
is. The values themselves are data, which the state of the interpreter and the rules hold (`torchsleuth.values`); a plain
constant of Python stands for itself. Of kinds that are not here, nothing is known.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from torchsleuth.interp import demands, exceptions, kinds, misuse, special, unset
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.arithmetic import MAX_SEQUENCE
from torchsleuth.interp.exceptions import made as raised
from torchsleuth.interp.exceptions import throw
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import (
    arrays,
    classes,
    containers,
    contents,
    data,
    dictionaries,
    dispatch,
    draws,
    external,
    frameworks,
    functions,
    groups,
    lookups,
    modules,
    numpy,
    optim,
    options,
    parameters,
    pure,
    python,
    records,
    vision,
)
from torchsleuth.interp.library.dictionaries import DictMethods, RecordMethods
from torchsleuth.interp.library.plain import ABSENT, Known
from torchsleuth.interp.library.tensor_methods import TensorMethods
from torchsleuth.interp.models import Model
from torchsleuth.interp.streams import Stream
from torchsleuth.sifting import all_are, as_kind, only
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import Dim, Size, is_index
from torchsleuth.tensors.spec import DType, Native
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    Array,
    Bound,
    Builtin,
    Chained,
    Choice,
    ClassValue,
    DictValue,
    Function,
    Image,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Maybe,
    NamedResult,
    Namespace,
    Parameters,
    Partial,
    Record,
    Scalar,
    Several,
    Shape,
    Sizes,
    SliceValue,
    Super,
    Tensor,
    Value,
    Wrapped,
    entry,
    is_int,
    is_module,
    is_object,
    is_unknown,
    of_range,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import AutogradFault
from torchsleuth.values.join import MISSING

NOTHING_KNOWN = Iteration((UNKNOWN,), exact=False)
_OF_TYPES = {"range": ("start", "stop", "step"), "deque": ("maxlen",)}
"""Attributes of the sequences of these types."""
_BUILTIN_TYPES = {kind.__name__: kind for kind in (list, set, frozenset, deque, range)}
_PLAIN = (str, int, float, type(None))
_OperationsT = TypeVar("_OperationsT", bound="type[Operations]")
_kinds: dict[type, type[Operations]] = {}


def of(interp: Interpreter, value: Value) -> Operations:
    """The operations on a value."""
    kind = _kinds.get(type(value))
    if kind is None:
        kind = _kinds[type(value)] = next(_kinds[base] for base in type(value).__mro__ if base in _kinds)
    return kind(interp, value)


def _of_kind(*types: type) -> Callable[[_OperationsT], _OperationsT]:
    """Register the operations on the values of these types, and of those derived from them."""

    def register(operations: _OperationsT) -> _OperationsT:
        _kinds.update(dict.fromkeys(types, operations))
        return operations

    return register


@_of_kind(object)
class Operations:
    """The operations on one value."""

    always: ClassVar[bool | None] = None
    """The truth of all values of the kind."""
    methods: ClassVar[type[Model] | None] = None
    """The model of their methods."""

    def __init__(self, interp: Interpreter, value: Any) -> None:
        self.interp = interp
        self.value = value

    def truth(self) -> bool | None:
        """``bool(value)``, None where it is not known."""
        return self.always

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        """The elements that a loop over it sees."""
        return NOTHING_KNOWN

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        """``value[key]``"""
        return UNKNOWN

    def contains(self, item: Value, node: ast.AST, frame: Frame) -> bool | None:
        """``item in value``"""
        return None

    def type(self) -> Value:
        """``type(value)``"""
        return UNKNOWN

    def length(self, frame: Frame) -> Size | None:
        """``len(value)``, None where it is not known."""
        return None

    def attribute(self, name: str, node: ast.AST, frame: Frame) -> Value:
        """``value.name``; unknown where it is not modelled."""
        if name == "__class__":
            return self.type()
        kinds.looks_up(self.interp, self.value, name, node, frame)
        return self.get(name, node, frame)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        """An attribute that not every object has."""
        return UNKNOWN

    def method(self, name: str, call: Arguments) -> Value:
        """``value.name(…)``"""
        return containers.call_method(self.interp, self.value, name, call, self.methods)

    def called(self, call: Arguments) -> Value:
        """``value(…)`` of what is not a function."""
        return UNKNOWN


_CONSTANTS = (bool, int, float, complex, bytes, tuple, type(None))


class _Constant(Operations):
    """A value of Python's own that stands for itself."""

    def truth(self) -> bool | None:
        return bool(self.value)

    def type(self) -> Value:
        cls = type(self.value)
        return Native(f"builtins.{cls.__name__}", "builtin") if cls in _CONSTANTS else UNKNOWN


class _Single(_Constant):
    """A value that has no elements."""

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        text = f"{type(self.value).__name__!r} object is not subscriptable"
        throw(self.interp, raised("builtins.TypeError", (text,)))
        return UNKNOWN


@_of_kind(type(None))
class _Nothing(_Single):
    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        _has(self.interp, type(None), name)
        return UNKNOWN


@_of_kind(bool, int, float, complex)
class _Number(_Single):
    methods = containers.NumberMethods

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        _has(self.interp, type(self.value), name)
        return getattr(self.value, name) if name in ("real", "imag") else Bound(self.value, name)


@_of_kind(type(...))
class _Ellipsis(Operations):
    def type(self) -> Value:
        return Native("builtins.ellipsis", "builtin")


class _Elements(Operations):
    """A value with elements in order."""

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        if isinstance(key, Tensor):
            demands.as_number(self.interp, key, "index", node, frame)
        if isinstance(self.held(), Several):
            return self._of_several(self.held(), key)
        made = special.call(self.interp, key, "__index__", (), frame) if isinstance(key, Instance) else special.ABSENT
        index = self.interp.resolved(records.plain(key) if made is special.ABSENT else made)
        match index:
            case int():
                return self._at(index)
            case SliceValue():
                return self._slice(index)
        return self._by_other(index)

    def held(self) -> Any:
        """The elements, as far as they are known."""
        return self.value

    def part(self, items: Any) -> Value:
        """A slice with these elements."""
        return items

    def _at(self, index: int) -> Value:
        items = self.held()
        if not is_index(index, items):
            throw(self.interp, raised("builtins.IndexError", (f"{self.noun()} index out of range",)))
            return UNKNOWN
        return items[index]

    def noun(self) -> str:
        """Python's name for the value where it speaks of its elements."""
        return "tuple"

    def _slice(self, key: SliceValue) -> Value:
        bounds = (key.start, key.stop, key.step)
        if all(isinstance(bound, int | None) for bound in bounds):
            return self.part(self.held()[slice(*bounds)])
        return self._slice_somewhere(key)

    def _slice_somewhere(self, key: SliceValue) -> Value:
        """A slice whose bounds are not all known."""
        return UNKNOWN

    def _by_other(self, key: Value) -> Value:
        """The element by a key that is neither a known number nor a slice."""
        return UNKNOWN

    def _of_several(self, items: Several, key: Value) -> Value:
        """An element or a slice of one whose length is not known."""
        interp = self.interp
        one = parameters.parameter_at(interp, self.value, interp.resolved(key))
        if one is not None:
            return one
        if isinstance(key, SliceValue):
            count = None if items.length is None else draws.sliced(interp, key, items.length)
            return ListValue(Several.counted(items, count))
        at_any = is_int(key) or is_unknown(key) or isinstance(key, Tensor)
        return interp.heap.one_of(interp.any_of(items)) if items and at_any else UNKNOWN


@_of_kind(str)
class _Text(_Constant, _Elements):
    methods = containers.TextMethods

    def noun(self) -> str:
        return "string"

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return Iteration(tuple(self.value), exact=len(self.value) <= MAX_SEQUENCE)

    def contains(self, item: Value, node: ast.AST, frame: Frame) -> bool | None:
        return item in self.value if isinstance(item, str) else None

    def type(self) -> Value:
        return Native("builtins.str", "builtin")

    def length(self, frame: Frame) -> Size | None:
        return len(self.value)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        _has(self.interp, str, name)
        return Bound(self.value, name)


class _Among(Operations):
    """A value whose elements Python compares with what it is asked for."""

    def contains(self, item: Value, node: ast.AST, frame: Frame) -> bool | None:
        items = self.known()
        if items is None:
            return None
        match items:
            case tuple() if isinstance(item, _PLAIN) and all_are(items, *_PLAIN):
                return item in items
            case Several():
                return None
        found = pure.contains(self.interp, self.value, item, Arguments((), {}, node, frame))
        return as_kind(found, bool)

    def known(self) -> Any:
        """The elements, None where they are not all known."""
        return self.value


@_of_kind(bytes)
class _Bytes(_Among, _Constant):
    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        made = pure.item(self.interp, self.value, key, Arguments((), {}, node, frame))
        return UNKNOWN if made is ABSENT else made

    def length(self, frame: Frame) -> Size | None:
        return len(self.value)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        return Bound(self.value, name)


@_of_kind(tuple)
class _Tuple(_Among, _Elements, _Constant):
    methods = containers.TupleMethods

    def part(self, items: Any) -> Value:
        return Sizes(items) if isinstance(self.value, Sizes) else items

    def type(self) -> Value:
        return Native("torch.Size", "class") if isinstance(self.value, Sizes) else super().type()

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return Iteration(tuple(self.value) if isinstance(self.value, Sizes) else self.value, exact=True)

    def _by_other(self, key: Value) -> Value:
        return self.interp.any_of(self.value) if self.value else UNKNOWN

    def length(self, frame: Frame) -> Size | None:
        return len(self.value)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        misuse.moves(self.interp, self.value, name, node, frame)
        if name == "backward":
            self.interp.fault(AutogradFault("sequence", self.interp.site(node, frame), self.value))
        if type(self.value) is tuple and name != "numel":  # what a shape has
            _has(self.interp, tuple, name)
        return Bound(self.value, name)


@_of_kind(NamedResult)
class _Named(_Tuple):
    """A tuple whose elements have names."""

    def _by_other(self, key: Value) -> Value:
        if isinstance(key, str):
            return self.value[self.value.fields.index(key)] if key in self.value.fields else UNKNOWN
        return super()._by_other(key)

    def type(self) -> Value:
        return UNKNOWN if self.value.of is None else self.value.of

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        misuse.lacks(self.interp, self.value, name, node, frame)
        return records.attribute(self.interp, self.value, name, frame)


@_of_kind(ListValue)
class _List(_Among, _Elements):
    """A list, set, deque or iterator."""

    methods = containers.ListMethods

    def held(self) -> tuple[Value, ...] | None:
        elements: tuple[Value, ...] | None = self.value.elements
        return elements

    def known(self) -> tuple[Value, ...] | None:
        items: tuple[Value, ...] | None = self.value.items
        return items

    def part(self, items: Any) -> Value:
        return ListValue(items)

    def _slice(self, key: SliceValue) -> Value:
        numbers, bounds = self.value.slots.get("bounds"), (key.start, key.stop, key.step)
        if numbers is not None and all(isinstance(bound, int | None) for bound in bounds):
            part: range = range(*numbers.values())[slice(*bounds)]  # type: ignore[arg-type]
            return of_range(part)
        return super()._slice(key)

    def noun(self) -> str:
        name: str = self.value.type_name
        return "range object" if name == "range" else name

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        if self.value.elements is not None:
            return super().item(key, node, frame)
        if isinstance(key, Tensor):
            demands.as_number(self.interp, key, "index", node, frame)
        return UNKNOWN

    def _slice_somewhere(self, key: SliceValue) -> Value:
        items = self.value.elements
        count = as_kind(draws.sliced(self.interp, key, len(items)), int)
        one = self.interp.heap.several(tuple(items))
        return ListValue((self.interp.any_of(one),) * count if count is not None and items else one)

    def _by_other(self, key: Value) -> Value:
        return self.interp.any_of(self.value.elements) if self.value.elements else UNKNOWN

    def truth(self) -> bool | None:
        return None if self.value.items is None else bool(self.value.items)

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        value = self.value
        if not value.is_current and value.elements is None:
            return NOTHING_KNOWN
        items = value.items
        if items is not None:
            python.use_up(self.interp, value)
            return Iteration(items, exact=True)
        seen: Iteration | None = value.slots.get("iteration")
        length = value.elements.length if isinstance(value.elements, Several) else None
        return seen or Iteration(tuple(value.elements or (UNKNOWN,)), exact=False, count=length)

    def type(self) -> Value:
        name = self.value.type_name
        return Native(f"builtins.{name}", "builtin") if name in ("list", "set", "frozenset") else UNKNOWN

    def length(self, frame: Frame) -> Size | None:
        elements = self.value.elements
        if isinstance(elements, Several):
            listed = parameters.listed(self.interp, self.value) if elements.length is None else None
            return elements.length if listed is None else len(listed)
        return None if elements is None else len(elements)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        interp, value = self.interp, self.value
        if not hasattr(list, name):
            data.takes_list(interp, (value,), node, frame)
        if name == "backward" and value.type_name == "list":
            interp.fault(AutogradFault("sequence", interp.site(node, frame), value))
        if value.type_name in _BUILTIN_TYPES and value.once is None:
            _has(interp, _BUILTIN_TYPES[value.type_name], name)
        if name in _OF_TYPES.get(value.type_name, ()):
            return value.slots.get("maxlen") if name == "maxlen" else value.slots.get("bounds", {}).get(name, UNKNOWN)
        return Bound(value, name)


@_of_kind(Stream)
class _Generator(_List):
    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        whole: Iteration = self.value.whole(self.interp)
        return whole

    def method(self, name: str, call: Arguments) -> Value:
        return containers.GeneratorMethods(self.interp, self.value, name).run(call)


@_of_kind(DictValue)
class _Dict(Operations):
    methods = DictMethods

    def truth(self) -> bool | None:
        entries = self.value.entries
        if entries is not None and any(key is not OTHERS and one is entry(one) for key, one in entries.items()):
            return True
        return None if self.value.items is None else False

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return dictionaries.iteration(self.value)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        return dictionaries.item(self.interp, self.value, self.interp.resolved(key), node, frame)

    def contains(self, item: Value, node: ast.AST, frame: Frame) -> bool | None:
        return dictionaries.contains(self.value, item)

    def type(self) -> Value:
        return Native("builtins.dict", "builtin") if self.value.type_name == "dict" else UNKNOWN

    def length(self, frame: Frame) -> Size | None:
        return None if self.value.items is None else len(self.value.items)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        value = self.value
        if isinstance(value, Chained) and name == "maps":
            return ListValue(value.maps)
        if isinstance(value, Chained) and name == "parents":
            return Chained(value.maps[1:] or (DictValue({}),))
        if value.type_name == "dict":
            _has(self.interp, dict, name)
        return Bound(value, name)


@_of_kind(Record)
class _Record(_Dict):
    """A dict whose entries are attributes and, by their positions, items."""

    methods = RecordMethods

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        if isinstance(key, int | SliceValue) and not isinstance(key, bool):
            parts = self.value.items
            return UNKNOWN if parts is None else of(self.interp, tuple(parts.values())).item(key, node, frame)
        return super().item(key, node, frame)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        interp, record = self.interp, self.value
        entries = record.entries
        if entries is None or record.identity in interp.trace.handed:
            return UNKNOWN
        if name in entries:
            return entry(entries[name])
        if name in record.of.declared:
            unset.left_empty(interp, record, name, node, frame)
            return None if record.items is not None else UNKNOWN
        if record.has(name) is False and not name.startswith("__"):
            unset.of_record(interp, record, name, node, frame)
            throw(interp, raised("builtins.AttributeError", (f"{record.of.name!r} object has no attribute {name!r}",)))
        return Bound(record, name)


def _has(interp: Interpreter, kind: type, name: str) -> None:
    """Whether values of one of Python's types have an attribute: AttributeError where they have none."""
    if not hasattr(kind, name):
        text = f"{kind.__name__!r} object has no attribute {name!r}"
        throw(interp, raised("builtins.AttributeError", (text,)))


@_of_kind(Known)
class _Known(Operations):
    """An object of Python's own, such as a date."""

    def truth(self) -> bool | None:
        return bool(self.value.object)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        made = pure.item(self.interp, self.value, key, Arguments((), {}, node, frame))
        return UNKNOWN if made is ABSENT else made

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        value = pure.known_attribute(self.value, name)
        return Bound(self.value, name) if value is ABSENT else value

    def method(self, name: str, call: Arguments) -> Value:
        return pure.known_method(self.interp, self.value, name, call)


@_of_kind(Dim)
class _Size(Operations):
    """A size that is not a number."""

    def truth(self) -> bool | None:
        sign = dims.positive(self.value)
        return None if sign is None else sign != 0


@_of_kind(Scalar)
class _Scalar(Operations):
    methods = containers.ScalarMethods

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        length = self.value.length
        return NOTHING_KNOWN if length is None else Iteration((Scalar("str"),), exact=False, count=length)

    def length(self, frame: Frame) -> Size | None:
        length: Size | None = self.value.length
        return length

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        return Bound(self.value, name)


@_of_kind(Shape)
class _Shape(Operations):
    """The shape of a tensor whose rank is not known: each element is a size."""

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        known = self.interp.resolved_spec(self.value.tensor.spec).shape
        if known is not None:
            return of(self.interp, known).item(key, node, frame)
        return self.interp.fresh_size("?") if is_int(key) else UNKNOWN


@_of_kind(Choice)
class _Choice(Operations):
    """One of several values."""

    def truth(self) -> bool | None:
        verdicts = {self.interp.truth(option) for option in self.value.options}
        return only(verdicts)

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        each = [self.interp.iterate(option, node, frame) for option in self.value.options if option is not None]
        if len(each) == 1:
            return each[0]
        return Iteration(tuple(item for iteration in each for item in iteration.items), exact=False)


@_of_kind(Builtin)
class _Object(Operations):
    """An object that is always true."""

    always = True


@_of_kind(DType)
class _DType(_Object):
    families: ClassVar = {"is_floating_point": ("float", "bfloat"), "is_complex": ("complex",)}

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        return self.value.name.startswith(self.families[name]) if name in self.families else UNKNOWN


@_of_kind(Device)
class _Device(_Object):
    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        if name == "type":
            return Scalar("str", kind_of=self.value) if self.value.symbolic else self.value.kind
        return self.value.index if name == "index" and not self.value.symbolic else UNKNOWN


@_of_kind(Namespace)
class _Namespace(_Object):
    """An imported module of the user's."""

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        names = self.value.slots
        if name == "__dict__":
            whole = names.body is None or not names.body.waiting
            return DictValue({key: Maybe(value) for key, value in names.items()}) if whole else UNKNOWN
        value = names[name] if name in names else self.interp.fetch(names, name)
        if value is MISSING:
            value = self.interp.submodule(self.value, name, frame)
        return UNKNOWN if value is MISSING else value


@_of_kind(SliceValue)
class _Slice(Operations):
    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        value = self.value
        held = {"start": value.start, "stop": value.stop, "step": value.step, "indices": Bound(value, name)}
        return held.get(name, UNKNOWN)

    def type(self) -> Value:
        return Native("builtins.slice", "builtin")


@_of_kind(Partial)
class _Partial(Operations):
    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        value = self.value
        held = {"func": value.function, "args": value.args, "keywords": DictValue(dict(value.kwargs))}
        return held.get(name, UNKNOWN)


@_of_kind(Wrapped)
class _Wrapper(_Object):
    """A module inside of another one, which hands on its calls, and nothing else."""

    def type(self) -> Value:
        return Native(self.value.path, "module-class")

    def attribute(self, name: str, node: ast.AST, frame: Frame) -> Value:
        interp, inner = self.interp, self.value.inner
        if name == "module":
            return inner
        if name == "__class__":
            return self.type()
        unset.of_wrapper(interp, self.value, name, node, frame)
        found = interp.attribute(inner, name, node, frame)
        if isinstance(found, Bound) and found.receiver is inner and isinstance(found.function, str):
            return Bound(self.value, found.function)
        return found


@_of_kind(Bound)
class _Method(_Object):
    """A method of an object."""

    def attribute(self, name: str, node: ast.AST, frame: Frame) -> Value:
        if isinstance(self.value.function, str) and not name.startswith("_"):
            misuse.needs_result(self.interp, self.value, node, frame)
        return super().attribute(name, node, frame)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        receiver, function = self.value.receiver, self.value.function
        if isinstance(function, Function):
            bound = {"__self__": receiver, "__func__": function}
            return bound[name] if name in bound else classes.function_attribute(function, name)
        if isinstance(receiver, LibraryModule):
            # ``model.config.hidden_size``: an attribute that is neither a part of the model nor plain.
            return modules.module_attribute(self.interp, receiver, f"{function}.{name}")
        return UNKNOWN


@_of_kind(Function)
class _Function(_Object):
    def type(self) -> Value:
        return Native("types.FunctionType", "class")

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        memo: dict[Any, Any] | None = self.value.memo
        if memo is not None and name == "cache_clear":
            return Builtin(name, lambda call: self._clear(memo))
        if memo is not None and name == "__wrapped__":
            return replace(self.value, memo=None)
        return classes.function_attribute(self.value, name)

    def _clear(self, memo: dict[Any, Any]) -> None:
        for key in [*memo]:
            self.interp.heap.set(memo, key, MISSING)


@_of_kind(Native)
class _Native(Operations):
    """Something that a library names."""

    def truth(self) -> bool | None:
        return True if self.value.kind in ("function", "class", "module-class", "package", "builtin") else None

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        if self.value.path == "sys.modules":
            return lookups.loaded(self.interp, key, frame)
        if self.value.path == options.COMMAND_LINE and isinstance(key, SliceValue):
            return self.value
        if self.value.name != "__dict__" or not isinstance(key, str):
            return UNKNOWN
        owner = self.value.path.removesuffix(".__dict__")
        module = Native(owner, "external" if self.value.kind == "external" else "package")
        return self.interp.attribute(module, key, node, frame)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        owner = self.value
        if name in ("__name__", "__qualname__") and owner.kind in _NAMED:
            return owner.name
        if (name, owner.kind) == ("__init__", "module-class"):
            return Builtin("__init__", self._init)
        if owner.kind == "builtin" and not is_unknown(method := pure.method_of_type(self.interp, owner, name)):
            return method
        path = f"{owner.path}.{name}"
        if owner.kind == "external":
            module = self.interp.submodule(owner, name, frame)
            module = frameworks.member(self.interp, path) if module is MISSING else module
            return external.constant(path) if module is MISSING else module
        try:
            return self.interp.oracle.resolve(path)
        except LookupError:
            if owner.kind == "package":
                misuse.absent(self.interp, owner.path, name, node, frame)
            return UNKNOWN

    def _init(self, call: Arguments) -> Value:
        """``nn.Module.__init__(self, …)``."""
        instance = as_kind(call.first, Instance)
        if instance is None:
            return UNKNOWN
        return dispatch.native_init(self.interp, instance, replace(call, args=call.args[1:]))


_NAMED = ("function", "class", "module-class", "builtin")


@_of_kind(ClassValue)
class _Class(_Object):
    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        if records.is_enum(self.value):
            return Iteration(tuple(records.canonical(self.value)), exact=True)
        made = classes.asked_of_metaclass(self.interp, self.value, "__iter__", (), frame)
        return NOTHING_KNOWN if made is special.ABSENT else self.interp.iterate(made, node, frame)

    def contains(self, item: Value, node: ast.AST, frame: Frame) -> bool | None:
        made = classes.asked_of_metaclass(self.interp, self.value, "__contains__", (item,), frame)
        return None if made is special.ABSENT else self.interp.truth(made)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        if records.is_enum(self.value):
            return records.members(self.value).get(key, UNKNOWN) if isinstance(key, str) else UNKNOWN
        made = classes.asked_of_metaclass(self.interp, self.value, "__getitem__", (key,), frame)
        if made is special.ABSENT:
            made = special.of_class(self.interp, self.value, "__class_getitem__", (key,), frame)
        if made is special.ABSENT:
            return UNKNOWN if self.value.opaque else self.value
        return made

    def type(self) -> Value:
        return UNKNOWN if self.value.metaclass is None else self.value.metaclass

    def length(self, frame: Frame) -> Size | None:
        if records.is_enum(self.value):
            return len(records.canonical(self.value))
        made = self.interp.resolved(classes.asked_of_metaclass(self.interp, self.value, "__len__", (), frame))
        return made if is_int(made) else None

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        interp, owner = self.interp, self.value
        if name in ("__name__", "__qualname__"):
            return owner.slots.get(name, owner.name)
        misuse.unmade(interp, owner, node, frame)
        found = interp.class_attribute(owner, name)
        if isinstance(found, Function) and found.kind == "classmethod":
            return Bound(owner, found)
        if found is MISSING and functions.is_function(owner):
            return functions.attribute(interp, owner, name)
        if found is MISSING and (given := classes.of_class(interp, owner, name)) is not special.ABSENT:
            return given
        if found is MISSING and owner.metaclass is not None:
            given = classes.of_metaclass(interp, owner, owner.metaclass, name, frame)
            if given is not special.ABSENT:
                return given
        if isinstance(found, Instance) and not records.is_enum(owner):
            given = special.call(interp, found, "__get__", (None, owner), frame)
            return found if given is special.ABSENT else given
        return records.class_attribute(interp, owner, name, found)


@_of_kind(Instance)
class Objects(Operations):
    """An object of a class of the user's."""

    def truth(self) -> bool | None:
        interp, value = self.interp, self.value
        for name in ("__bool__", "__len__"):
            made = special.call(interp, value, name, (), interp.running)
            if made is not special.ABSENT:
                return None if isinstance(made, Instance) else interp.truth(made)
        held = special.contents(value)
        if held is not None:
            return interp.truth(held)
        plain = records.plain(value)
        if plain is not value and records.is_member(value):
            return interp.truth(plain)
        return interp.truth(value.native) if isinstance(value.native, LibraryModule) else True

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        interp, value = self.interp, self.value
        held = special.contents(value)
        if held is not None and special.method(interp, value, "__iter__") is special.ABSENT:
            return interp.iterate(held, node, frame)
        numbered = classes.by_numbers(interp, value, frame)
        if numbered is None and special.method(interp, value, "__iter__") is special.ABSENT:
            numbered = records.parts(value)
        if numbered is not None:
            return Iteration(numbered, exact=True)
        return data.iterate_instance(interp, value, node, frame)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        interp, value = self.interp, self.value
        made = special.call(interp, value, "__getitem__", (key,), frame)
        if made is not special.ABSENT:
            return made
        held = special.contents(value)
        if held is not None:
            return classes.item_of_contents(interp, value, held, key, node, frame)
        return UNKNOWN if value.native is None else interp.get_item(value.native, key, node, frame)

    def contains(self, item: Value, node: ast.AST, frame: Frame) -> bool | None:
        interp, value = self.interp, self.value
        made = special.call(interp, value, "__contains__", (item,), frame)
        if made is not special.ABSENT:
            return interp.truth(made)
        one, other = (as_kind(records.plain(side), int) for side in (value, item))
        if one is not None and other is not None and value.cls.derives_from("enum.Flag", "enum.IntFlag"):
            return one & other == other
        held: Value = special.contents(value)
        if held is None:
            held = interp.sequence(value, node, frame)
        return None if held is None else of(interp, held).contains(item, node, frame)

    def type(self) -> Value:
        return UNKNOWN if self.value.cls.stands_for_any else self.value.cls

    def length(self, frame: Frame) -> Size | None:
        interp, value = self.interp, self.value
        method = as_kind(interp.class_attribute(value.cls, "__len__"), Function)
        if method is not None:
            result = interp.resolved(interp.call_function(method, (value,), {}, None, frame))
            return result if is_int(result) else None
        held = special.contents(value)
        if held is None and (several := records.parts(value)) is not None:
            return len(several)
        return interp.length(value.native if held is None else held, frame)

    def attribute(self, name: str, node: ast.AST, frame: Frame) -> Value:
        reader = self.interp.class_attribute(self.value.cls, "__getattribute__")
        if isinstance(reader, Function) and not self.value.is_module:
            return self.interp.call_function(reader, (self.value, name), {}, None, frame)
        return self.own(name, node, frame)

    def own(self, name: str, node: ast.AST, frame: Frame) -> Value:
        """The value that ``object.__getattribute__`` gives."""
        interp, owner = self.interp, self.value
        found = interp.class_attribute(owner.cls, name)
        given = classes.got_through_class(interp, owner, name, found, frame)
        if given is not special.ABSENT:
            return given
        if name in owner.slots and not self._is_hidden(name, found):
            return owner.slots[name]
        if found is not MISSING:
            if not isinstance(found, Function):
                return found
            if found.kind == "staticmethod":
                return found
            return Bound(owner.cls if found.kind == "classmethod" else owner, found)
        if name == "__class__":
            return owner.cls
        if name == "__dict__":
            return records.attributes(owner)
        held = special.contents(owner)
        if held is not None and (hasattr(list, name) or hasattr(dict, name) or hasattr(str, name)):
            return Bound(held, name)
        if records.is_member(owner) and hasattr(own := records.value_of(owner), name) and isinstance(own, str | int):
            return Bound(own, name)
        modelled = dispatch.instance_attribute(interp, owner, name, node, frame)
        if not is_unknown(modelled) or owner.cls.opaque:
            return modelled
        fallback = interp.class_attribute(owner.cls, "__getattr__")
        match fallback:
            case Function():
                return interp.call_function(fallback, (owner, name), {}, None, frame)
            case Builtin():
                return fallback.call(Arguments((owner, name), {}, node, frame))
        unset.attribute(interp, owner, name, node, frame)
        if classes.lacks(interp, owner, name) and not classes.is_plain_attribute(name):
            text = f"{owner.cls.name!r} object has no attribute {name!r}"
            throw(interp, raised("builtins.AttributeError", (text,)))
        return UNKNOWN

    def _is_hidden(self, name: str, found: Value) -> bool:
        """Whether an attribute is a part or a parameter of a module, which Python looks for behind what the class has."""
        held, owner = self.value.slots[name], self.value
        registered = is_module(held) or (isinstance(held, Tensor) and held.parameter)
        if not owner.is_module or not registered or found is not MISSING:
            return owner.is_module and registered
        return modules.is_module_method(name) and name in self.interp.oracle.attributes("torch.nn.Module")

    def method(self, name: str, call: Arguments) -> Value:
        if modules.is_module_method(name):
            return modules.ModuleMethods(self.interp, self.value, name).run(call)
        return super().method(name, call)


@_of_kind(Super)
class _Super(Operations):
    """``super()``"""

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        interp, receiver = self.interp, self.value.instance
        cls = as_kind(receiver.cls if isinstance(receiver, Instance) else receiver, ClassValue)
        if cls is None:
            return UNKNOWN
        found = interp.class_attribute(cls, name, after=self.value.owner)
        if isinstance(found, Function):
            if found.kind == "property":
                return interp.call_function(found, (receiver,), {}, None, frame)
            return found if found.kind == "staticmethod" else Bound(receiver, found)
        if found is not MISSING:
            if name == "__init__":
                interp.may_be_initialised(receiver)
            return found
        given = classes.of_super(interp, receiver, cls, name)
        if given is not special.ABSENT:
            return given
        if isinstance(receiver, Instance):
            return self._of_library(receiver, name, frame)
        if name == "__new__" and not cls.opaque and (cls.native_base() is None or cls.is_module()):
            return Builtin("super().__new__", lambda call: Instance(cls))
        return UNKNOWN

    def _of_library(self, receiver: Instance, name: str, frame: Frame) -> Value:
        """An attribute that an object has from its library base."""
        if name == "__init__":
            return Builtin("super().__init__", lambda call: dispatch.native_init(self.interp, receiver, call))
        if name == "forward":
            # That of the library: the class's own one is where this is called.
            return UNKNOWN if receiver.native is None else Bound(receiver.native, name)
        return dispatch.instance_attribute(self.interp, receiver, name, frame.call or ast.Pass(), frame)


class _Modelled(Operations):
    """A value of a library, of whose attributes and methods there is a model."""

    model: ClassVar[type[Model]]

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        return self.model(self.interp, self.value, name).get(node, frame)

    def method(self, name: str, call: Arguments) -> Value:
        return self.model(self.interp, self.value, name).run(call)


@_of_kind(LibraryModule)
class _Module(_Modelled):
    """A module of torch.nn."""

    model = modules.ModuleMethods

    def truth(self) -> bool | None:
        children = self.value.slots["children"]
        if children is None or self.value.built is not None:
            return True
        return bool(children) if isinstance(children, tuple) else None

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        if self.value.children is None:
            return NOTHING_KNOWN
        keys = self.value.path in ("torch.nn.ModuleDict", "torch.nn.ParameterDict")
        return Iteration(tuple(pair[0] if keys else pair[1] for pair in self.value.children), exact=True)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        return modules.child(self.interp, self.value, key)

    def contains(self, item: Value, node: ast.AST, frame: Frame) -> bool | None:
        if self.value.children is None or not isinstance(item, str):
            return None
        return any(name == item for name, _ in self.value.children)

    def type(self) -> Value:
        return Native(self.value.path, "module-class")

    def length(self, frame: Frame) -> Size | None:
        return None if self.value.children is None else len(self.value.children)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        interp, owner = self.interp, self.value
        value = modules.module_attribute(interp, owner, name)
        # A part of a model that a package built gives whatever is asked as if it were a method of the package's.
        found = not is_unknown(value) if owner.built is None else not isinstance(value, Bound)
        if not found and owner.path.startswith("torch.nn."):
            unset.of_library(interp, owner, name, node, frame)
        return value


@_of_kind(LibraryObject)
class _LibraryObject(Operations):
    """An object of a class of a library: its model knows."""

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return data.iterate_object(self.interp, self.value, node, frame)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        return self._model().item(key, node, frame)

    def contains(self, item: Value, node: ast.AST, frame: Frame) -> bool | None:
        return python.has_attribute(self.value, item) if isinstance(item, str) else None

    def type(self) -> Value:
        return classes.class_of(self.value) if exceptions.is_exception(self.value) else UNKNOWN

    def length(self, frame: Frame) -> Size | None:
        return self._model().length(frame)

    def get(self, name: str, node: ast.AST, frame: Frame) -> Value:
        interp, owner = self.interp, self.value
        if is_object(owner, *groups.PATHS) and name in groups.Group.methods:
            return Bound(owner, name)
        if name == "value" and exceptions.class_of(owner) is StopIteration:
            args = as_kind(owner.slots.get("args"), tuple)
            return UNKNOWN if args is None else args[0] if args else None
        if name == "__dict__" and is_object(owner, *records.NAMESPACES):
            return records.attributes(owner)
        if name == "__suppress_context__" and exceptions.is_exception(owner):
            return "__cause__" in owner.slots
        if name not in owner.slots and (exceptions.is_exception(owner) or python.has_attribute(owner, name) is False):
            if owner.path == "argparse.Namespace":
                unset.of_namespace(interp, owner, name, node, frame)
            return None if name in ("__cause__", "__context__") else UNKNOWN
        model = self._model(name)
        value = model.get(node, frame)
        if isinstance(value, Bound) and model.lacks():
            unset.of_library(interp, owner, name, node, frame)
        return value

    def method(self, name: str, call: Arguments) -> Value:
        return self._model(name).run(call)

    def called(self, call: Arguments) -> Value:
        return self._model().called(call)

    def _model(self, name: str = "") -> Model:
        return optim.model_of(self.value)(self.interp, self.value, name)


@_of_kind(Tensor)
class _Tensor(_Modelled):
    model = TensorMethods

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return self.interp.iterate_tensor(self.value, node, frame)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        return self.interp.tensor_get_item(self.value, key, node, frame)

    def length(self, frame: Frame) -> Size | None:
        shape = self.interp.resolved_spec(self.value.spec).shape
        return shape[0] if shape else None

    def attribute(self, name: str, node: ast.AST, frame: Frame) -> Value:
        kinds.looks_up(self.interp, self.value, name, node, frame)
        return self.get(name, node, frame)


@_of_kind(Array)
class _Array(_Modelled):
    model = numpy.ArrayMethods

    def truth(self) -> bool | None:
        known = contents.number(self.value)
        return None if known is None else bool(known)

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return arrays.iterate(self.interp, self.value)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        arrays.check_index(self.interp, self.value, self.interp.resolved(key), node, frame)
        made = contents.item(self.interp, self.value, key, arrays.get_item(self.interp, self.value, key, frame))
        return arrays.of_operands(made, self.value)

    def length(self, frame: Frame) -> Size | None:
        return arrays.length(self.interp, self.value)


@_of_kind(Parameters)
class _Parameters(_Modelled):
    """``model.parameters()``"""

    model = modules.ParametersMethods

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        each = Parameters(self.value.modules)
        return Iteration((each if not self.value.named else (Scalar("str"), each),), exact=False)


@_of_kind(Image)
class _Image(_Modelled):
    model = vision.ImageMethods

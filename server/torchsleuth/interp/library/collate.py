"""The default collate: what it makes of samples, and which samples it cannot batch.

It mirrors ``torch.utils.data.default_collate``, which tests/unit/test_data.py holds it to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchsleuth.interp.batch import Batch, plain
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import array_dtypes, arrays, draws, integers
from torchsleuth.interp.pipeline import Refusal
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.tensors.device import CPU, Device
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import DType, Native, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    UNSORTED,
    Array,
    Bound,
    ClassValue,
    DictValue,
    Ends,
    Function,
    Image,
    Instance,
    ListValue,
    NamedResult,
    Scalar,
    Several,
    Tensor,
    Value,
    elements_of,
    is_int,
    is_of,
    is_unknown,
    items_of,
)

Path = tuple[Any, ...]
MAX_LISTED = 256
"""Elements of a batch that are listed one by one."""
_SAMPLES = frozenset({Batch(0)})
REFUSED = (Function, Bound, ClassValue, Device, DType, Image, complex)


class Collation:
    """One batch: its size, the method that makes its samples, and what the default collate refuses, in order. `certain`:
    the samples that it is shown are sure to be among those that are batched."""

    def __init__(
        self, interp: Interpreter, batch: Size, getitem: Function | None = None, certain: bool = False
    ) -> None:
        self.interp = interp
        self.batch = batch
        self.getitem = getitem
        self.certain = certain
        self.refusals: list[Refusal] = []

    def collate(self, samples: list[Value], path: Path = ()) -> Value:
        """The batch of samples of which these are examples; unknown where one of them is."""
        samples = [self.interp.resolved(sample) for sample in samples]
        if not samples or any(is_unknown(sample) for sample in samples):
            return UNKNOWN
        refused = [sample for sample in samples if self._refused(sample)]
        if refused:
            good = [sample for sample in samples if not self._refused(sample)]
            if any(_is_text(sample) for sample in good):
                return UNKNOWN
            self._refuse("type", path, (refused[0],))
            return self.collate(good, path) if good else UNKNOWN
        for applies, stack in self._kinds():
            if all(applies(sample) for sample in samples):
                return stack(samples, path)
        return UNKNOWN

    def _kinds(self) -> tuple[tuple[Callable[[Value], bool], Callable[[list[Value], Path], Value]], ...]:
        return (
            (lambda value: isinstance(value, Tensor | Array), self._tensors),
            (_is_bool, lambda samples, path: self._stacked("bool")),
            (is_int, lambda samples, path: self._integers(samples)),
            (lambda value: is_of(value, float), self._floats),
            (lambda value: _is_number(value), self._numbers),
            (_is_text, self._strings),
            (lambda value: isinstance(value, DictValue), self._dicts),
            (lambda value: isinstance(value, tuple | ListValue), self._sequences),
        )

    def _refused(self, value: Value) -> bool:
        """Whether the default collate is known to have no rule for a value of this type."""
        match value:
            case Instance():
                bases = of_kind(value.cls.mro(), Native)
                return not value.cls.opaque and not bases
            case ListValue():
                return value.type_name == "set"
            case Array():
                return value.spec.dtype in array_dtypes.TEXT
        return value is None or isinstance(value, REFUSED)

    def _refuse(self, kind: str, path: Path, values: tuple[Value, ...], dims: tuple[int, ...] | None = None) -> None:
        self.refusals.append(Refusal(kind, path, values, dims))

    # -- one kind each -----------------------------------------------------------------------------

    def _stacked(self, dtype: str) -> Tensor:
        return Tensor(TensorSpec((self.batch,), dtype, CPU, False), tags=_SAMPLES)

    def _integers(self, samples: list[Value]) -> Tensor:
        held = [draws.bounds_of_size(self.interp, sample) for sample in samples]
        # A number that is known says nothing of other samples.
        single = [Ends(one.low, one.high) if one is not None and one.low == one.high else one for one in held]
        known = integers.gathered([frozenset({one} - {None}) for one in single], self.certain)
        kept = frozenset(tag for tag in known if self.certain or not isinstance(tag, Ends))
        kept |= {UNSORTED} if integers.rises(self.interp, (*samples, samples[0])) else frozenset()
        return Tensor(TensorSpec((self.batch,), "int64", CPU, False), tags=_SAMPLES | kept)

    def _floats(self, samples: list[Value], path: Path) -> Value:
        return self._stacked("float64")

    def _numbers(self, samples: list[Value], path: Path) -> Value:
        """Integers and floats mixed: the first one of a batch decides, and it may be either."""
        return Tensor(TensorSpec((self.batch,), None, CPU, False), tags=_SAMPLES)

    def _strings(self, samples: list[Value], path: Path) -> Value:
        known = isinstance(self.batch, int) and self.batch <= MAX_LISTED
        return ListValue((Scalar("str"),) * self.batch if known and isinstance(self.batch, int) else None)

    def _tensors(self, samples: list[Value], path: Path) -> Value:
        made = [arrays.to_tensor(self.interp, one) if isinstance(one, Array) else one for one in samples]
        tensors = of_kind(made, Tensor)
        specs = [self.interp.resolved_spec(tensor.spec) for tensor in tensors]
        differences = [draws.differences(self.interp, specs[0], other) for other in specs[1:]]
        found = [difference for difference in differences if difference != ()]
        if found:
            other = differences.index(found[0]) + 1
            places = None if None in found else tuple(sorted({place for dims in found for place in dims or ()}))
            self._refuse("ragged", path, (samples[0], samples[other]), places)
        joined = specs[0]
        for spec in specs[1:]:
            joined = self.interp.heap.join_specs(joined, spec)
        tags = integers.gathered([tensor.tags for tensor in tensors], self.certain)
        shape = None if joined.shape is None else (self.batch, *joined.shape)
        return Tensor(joined.with_(shape=shape, strides=None), tensors[0].origin, plain(tags) | _SAMPLES)

    def _dicts(self, samples: list[Value], path: Path) -> Value:
        given = [sample.items for sample in of_kind(samples, DictValue)]
        dicts = [items for items in given if items is not None]
        if len(dicts) < len(samples):
            return UNKNOWN
        first = dicts[0]
        missing = next((key for key in first for items in dicts if key not in items), None)
        if missing is not None:
            self._refuse("keys", (*path, missing), tuple(samples[:2]))
            return UNKNOWN
        made = DictValue({key: self.collate([items[key] for items in dicts], (*path, key)) for key in first})
        made.slots["collated"] = path
        return made

    def _sequences(self, samples: list[Value], path: Path) -> Value:
        columns: list[tuple[Value, ...]] = []
        lengths = [_length(sample) for sample in samples]
        for place, length in enumerate(lengths):
            if length is None or lengths[0] is None or (isinstance(length, int) and isinstance(lengths[0], int)):
                continue
            if draws.vary(self.interp, lengths[0], length):
                self._refuse("length", path, (samples[0], samples[place]), (0,))
                return UNKNOWN
        for sample in samples:
            items = items_of(sample)
            if items is None:
                return UNKNOWN
            columns.append(items)
        other = next((index for index, items in enumerate(columns) if len(items) != len(columns[0])), None)
        if other is not None:
            self._refuse("length", path, (samples[0], samples[other]), (0,))
            return UNKNOWN
        parts = tuple(self.collate(list(column), (*path, place)) for place, column in enumerate(zip(*columns)))
        first = as_kind(samples[0], NamedResult)
        if first is not None:
            return NamedResult(first.fields, parts, first.of)
        made = ListValue(parts)
        made.slots.update(collated=path, getitem=self.getitem)
        return made


def convert(interp: Interpreter, value: Value) -> Value:
    """The value that a loader without batches makes of one sample: ``default_convert``."""
    match value:
        case Array() if value.spec.dtype not in array_dtypes.TEXT:
            return arrays.to_tensor(interp, value)
        case tuple() if not isinstance(value, NamedResult):
            return ListValue(tuple(convert(interp, item) for item in value))
        case ListValue() if value.items is not None:
            return ListValue(tuple(convert(interp, item) for item in value.items), value.type_name)
        case DictValue() if value.items is not None:
            return DictValue({key: convert(interp, item) for key, item in value.items.items()})
    return value


def _length(value: Value) -> Size | None:
    """How many elements a list has, where that is a size."""
    elements = elements_of(value)
    if isinstance(elements, Several):
        return elements.length
    return len(elements) if elements is not None else None


def _is_text(value: Value) -> bool:
    return isinstance(value, bytes) or is_of(value, str)


def _is_bool(value: Value) -> bool:
    return is_of(value, bool)


def _is_number(value: Value) -> bool:
    return is_int(value) or _is_bool(value) or is_of(value, float)


__all__ = ["MAX_LISTED", "Collation", "convert"]

"""Data: datasets and their samples, samplers, loaders and their batches, and iteration over modelled objects."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeGuard

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.batch import Rows, batch_of
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library.collate import MAX_LISTED, Collation, convert
from torchsleuth.interp.library.hierarchy import tensors_in
from torchsleuth.interp.models import Model, attribute, models, of_class
from torchsleuth.interp.pipeline import LOADER, DataFault, Refusal
from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import all_are, any_are, as_kind, first_of, of_kind
from torchsleuth.syntax import sampled
from torchsleuth.syntax.forms import literal
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    UNSORTED,
    AnyIndex,
    Array,
    Bounds,
    DictValue,
    Ends,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    Several,
    Site,
    Tensor,
    Value,
    elements_of,
    is_int,
    is_object,
    is_object_named,
    is_unknown,
    items_of,
    new_identity,
    numbers_of,
    sizes_of,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

PACKAGE = "torch.utils.data."
ITERABLE = "torch.utils.data.IterableDataset"
_OPTIONS = (
    "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory drop_last timeout "
    "worker_init_fn multiprocessing_context generator"
).split()
_DEFAULTS = {"batch_size": 1, "num_workers": 0, "drop_last": False, "pin_memory": False}
_LIBRARY_SAMPLERS = (
    "RandomSampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
    "DistributedSampler",
)
MANY_SAMPLES = 64
"""Samples of one dataset that are looked at."""
SAMPLE_STEPS = 6_000
"""Nodes that looking at them may take."""


# -- options of a loader ---------------------------------------------------------------------------


SETTABLE = frozenset({"collate_fn"})
"""Options of a DataLoader that may be set as attributes, too."""


def option(loader: LibraryObject, name: str) -> Value:
    """An argument of a DataLoader, or its default; what was set on it since goes first."""
    if name in SETTABLE and name in loader.slots:
        return loader.slots[name]
    return loader.given(_OPTIONS.index(name) if name in _OPTIONS else 99, name, _DEFAULTS.get(name))


def as_loader(value: Value) -> LibraryObject | None:
    """The loader that a value is, or is derived from."""
    if isinstance(value, Instance):
        value = value.native
    return value if is_object(value, LOADER) else None


def is_iterable(interp: Interpreter, dataset: Value) -> bool:
    """Whether a dataset is an IterableDataset."""
    if isinstance(dataset, Instance):
        return any(ITERABLE in interp.oracle.mro(base.path) for base in of_kind(_natives(dataset), Native))
    return is_object_named(dataset, "IterableDataset", "ChainDataset")


def _natives(instance: Instance) -> list[Native]:
    return [base for base in of_kind(instance.cls.mro(), Native) if base.path.startswith("torch.")]


def lacks_length(interp: Interpreter, dataset: Value) -> bool:
    """Whether ``len(dataset)`` is known to raise: an object of a class of the user's that defines no ``__len__``."""
    if not isinstance(dataset, Instance) or dataset.cls.opaque:
        return False
    if isinstance(interp.class_attribute(dataset.cls, "__len__"), Function):
        return False
    bases = of_kind(dataset.cls.mro(), Native)
    return interp.class_attribute(dataset.cls, "__len__") is MISSING and all(
        base.path in (f"{PACKAGE}Dataset", ITERABLE, "typing.Generic", "abc.ABC", "builtins.object") for base in bases
    )


def lacks_samples(interp: Interpreter, dataset: Value) -> bool:
    """Whether a dataset is of a class of the user's that defines no way to get at its samples."""
    if not isinstance(dataset, Instance) or dataset.cls.opaque:
        return False
    name = "__iter__" if is_iterable(interp, dataset) else "__getitem__"
    bases = of_kind(dataset.cls.mro(), Native)
    plain = all(base.path in (f"{PACKAGE}Dataset", ITERABLE, "typing.Generic", "abc.ABC") for base in bases)
    others = (name, "__getitems__", "__getattr__")
    return bool(bases) and plain and all(interp.class_attribute(dataset.cls, other) is MISSING for other in others)


# -- lengths ---------------------------------------------------------------------------------------


def _sum(sizes: list[Size]) -> Size:
    total: Size = 0
    for size in sizes:
        total = dims.add(total, size)
    return total


def _rounded_up(size: Size, by: Size) -> Size:
    return dims.negate(dims.floor_divide(dims.negate(size), by))


def _batches(size: Size | None, batch: Value, drop_last: Value) -> Size | None:
    """How many batches `size` samples make."""
    if size is None or not is_int(batch) or batch == 0 or not isinstance(drop_last, bool):
        return None
    return dims.floor_divide(size, batch) if drop_last else _rounded_up(size, batch)


# -- batches ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """How a loader cuts its samples: `full` batches, of which there are `count` together with the `last`, smaller one.

    `full` None: the samples are not batched. `last` None: it is as large as the others, or not known.
    """

    full: Size | None
    last: int | None = None
    count: Size | None = None


def plan(interp: Interpreter, loader: LibraryObject, frame: Frame, streamed: int | None = None) -> Plan:
    """The sizes of the batches of a loader. `streamed`: how many samples an iterable dataset has."""
    sampler, batch, drop = (option(loader, name) for name in ("sampler", "batch_size", "drop_last"))
    batch_sampler = option(loader, "batch_sampler")
    if batch_sampler is not None:
        if not is_object_named(batch_sampler, "BatchSampler"):
            return Plan(interp.fresh_size("batch"), None, interp.length(batch_sampler, frame))
        sampler = batch_sampler.given(0, "sampler")
        batch, drop = batch_sampler.given(1, "batch_size"), batch_sampler.given(2, "drop_last")
    dataset = option(loader, "dataset")
    batch = interp.resolved(batch)
    if batch is None:
        return Plan(None, None, interp.length(dataset, frame))
    total = streamed if is_iterable(interp, dataset) else interp.length(dataset if sampler is None else sampler, frame)
    if not is_int(batch):
        return Plan(interp.fresh_size("batch_size"))
    count = _batches(total, batch, drop)
    if not isinstance(total, int) or not isinstance(batch, int) or not isinstance(drop, bool) or batch <= 0:
        return Plan(batch, None, count)
    if total < batch:
        return Plan(batch if drop or total <= 0 else total, None, count)
    rest = total % batch
    return Plan(batch, rest if rest and not drop else None, count)


def loader_iteration(interp: Interpreter, loader: LibraryObject, node: ast.AST, frame: Frame) -> Iteration:
    """The batches that a loop over a loader sees: a full batch, and the last one where it is smaller."""
    dataset, site = option(loader, "dataset"), interp.site(node, frame)
    stream = _stream(interp, loader, node, frame)
    sizes = plan(interp, loader, frame, stream.count if stream else None)
    interp.heap.set(loader.slots, "plan", sizes)
    if sizes.count == 0:
        total = as_kind(interp.length(dataset, frame), int)
        if total is not None and total > 0 and option(loader, "sampler") is None:
            _fault(interp, DataFault("no_batches", site, loader, dataset, values=(total, sizes.full)))
        return Iteration((), exact=True, over_loader=True)
    sampler = option(loader, "sampler") or option(loader, "batch_sampler")
    if sampler is None and lacks_length(interp, dataset) and not is_iterable(interp, dataset):
        _fault(interp, DataFault("missing_len", site, loader, dataset))
        return Iteration((UNKNOWN,), exact=False, over_loader=True)
    if lacks_samples(interp, dataset):
        _fault(interp, DataFault("missing_getitem", site, loader, dataset))
        return Iteration((UNKNOWN,), exact=False, over_loader=True)
    first_time = not loader.slots.get("examined")
    interp.heap.set(loader.slots, "examined", True)
    found = stream or examples(interp, dataset, node, frame, first_time)
    full = _batch(interp, loader, found, sizes.full, site)
    interp.heap.set(loader.slots, "sample", next((value for value in found.values if value is not None), UNKNOWN))
    last = None if sizes.last is None else _batch(interp, loader, found, sizes.last, site)
    draws_order, number = _draws_order(loader), new_identity()
    for tensor in tensors_in((full, last)):
        if not draws_order and UNSORTED in tensor.tags:
            # The samples may be stored in order.
            interp.heap.set(tensor.slots, "tags", tensor.tags - {UNSORTED})
        if draws_order and batch_of(tensor) == 0:
            interp.heap.set(tensor.slots, "tags", tensor.tags | {Rows(loader, number, 0)})
    return Iteration((full,), exact=False, over_loader=True, last=last, count=sizes.count, loader=loader)


def _draws_order(loader: LibraryObject) -> bool:
    """Whether each pass over a loader has another order."""
    sampler = option(loader, "sampler")
    if isinstance(sampler, LibraryObject):
        return sampler.type_name in ("RandomSampler", "SubsetRandomSampler")
    return sampler is None and option(loader, "shuffle") is True and option(loader, "batch_sampler") is None


def _stream(interp: Interpreter, loader: LibraryObject, node: ast.AST, frame: Frame) -> Examples | None:
    """The samples of a loader's iterable dataset, which one process goes through."""
    dataset = option(loader, "dataset")
    alone = interp.resolved(option(loader, "num_workers")) == 0 and option(loader, "batch_sampler") is None
    return examples(interp, dataset, node, frame) if alone and is_iterable(interp, dataset) else None


def _batch(interp: Interpreter, loader: LibraryObject, found: Examples, size: Size | None, site: Site) -> Value:
    """One batch of a loader, made of samples like those found."""
    interp.collating += 1
    try:
        batch = _collated(interp, loader, found, size, site)
    finally:
        interp.collating -= 1
    for tensor in tensors_in(batch) if loader.slots.get("prepared") else ():
        interp.heap.set(tensor.slots, "spec", tensor.spec.with_(device=None))  # moved by what prepared the loader
    return batch


def _collated(interp: Interpreter, loader: LibraryObject, found: Examples, size: Size | None, site: Site) -> Value:

    function = option(loader, "collate_fn")
    if size is None:
        one = interp.any_of(tuple(found.values)) if found.values else UNKNOWN
        if function is not None:
            return interp.call(function, Arguments((one,), {}, site.node, site.frame))
        return convert(interp, one)
    if function is not None and not _is_default_collate(function):
        samples = _listed(found, size)
        batch = interp.call(function, Arguments((samples,), {}, site.node, site.frame))
        if samples.items is not None and any(_differs(found.values[0], value) for value in found.values):
            # Such samples come together, but not just these ones in every batch.
            others = ListValue(tuple(interp.any_of(tuple(found.values)) for _ in samples.items))
            shown, batch = batch, interp.call(function, Arguments((others,), {}, site.node, site.frame))
            if found.certain and not _is_sampled(loader):
                _keep_numbers(interp, shown, batch)
        return batch
    collation = Collation(interp, size, found.getitem, found.certain and not _is_sampled(loader))
    batch = collation.collate(found.values)
    refusals = tuple(collation.refusals)
    if refusals and _certain(interp, loader, refusals[0], size):
        fine = next((value for value in found.values if value is not None and not is_unknown(value)), None)
        _fault(interp, DataFault("collate", site, loader, found.dataset, found.getitem, refusals, fine))
    return batch


def _keep_numbers(interp: Interpreter, shown: Value, batch: Value) -> None:
    """Numbers that a batch of certain samples holds, such as those of padding, some batches are sure to hold; nor are they
    in another order."""
    match shown:
        case Tensor() if isinstance(batch, Tensor):
            interp.heap.set(batch.slots, "tags", batch.tags | (shown.tags & {UNSORTED}))
            held = of_kind(shown.tags, Bounds, Ends)
            if held and not any_are(batch.tags, Bounds, Ends):
                interp.heap.set(batch.slots, "tags", batch.tags | {Ends(held[0].low, held[0].high)})
        case DictValue() if isinstance(batch, DictValue):
            for key, value in (shown.items or {}).items():
                _keep_numbers(interp, value, (batch.items or {}).get(key))
        case _:
            parts = [items_of(one) for one in (shown, batch)]
            if all_are(parts, tuple):
                for one, other in zip(*parts):
                    _keep_numbers(interp, one, other)


def _is_sampled(loader: LibraryObject) -> bool:
    """Whether a sampler decides which samples there are."""
    return any(option(loader, name) is not None for name in ("sampler", "batch_sampler"))


def _is_default_collate(function: Value) -> bool:
    return isinstance(function, Native) and function.name == "default_collate"


def _certain(interp: Interpreter, loader: LibraryObject, refusal: Refusal, size: Size) -> bool:
    """Whether such samples are sure to come together in one batch."""
    if refusal.kind == "type":
        return True
    for name in ("sampler", "batch_sampler"):
        sampler = option(loader, name)
        if is_object_named(sampler, "BatchSampler"):
            sampler = sampler.given(0, "sampler")
        known = is_object_named(sampler, *_LIBRARY_SAMPLERS)
        if sampler is not None and not known:
            return False
    return dims.positive(dims.subtract(interp.resolved(size), 1)) == 1


def _listed(found: Examples, size: Size) -> ListValue:
    """The argument of a user's collate function."""
    if not found.values or UNKNOWN in found.values:
        return ListValue(None)
    if isinstance(size, int) and size <= MAX_LISTED and not found.optional:
        return ListValue(tuple(found.values[index % len(found.values)] for index in range(size)))
    return ListValue(Several(found.values))


def _differs(sample: Value, other: Value) -> bool:
    """Whether two samples have tensors of different shapes."""
    match sample:
        case Tensor() | Array() if isinstance(other, Tensor | Array):
            return bool(sample.spec.shape != other.spec.shape)
        case tuple() if isinstance(other, tuple):
            return len(sample) != len(other) or any(map(_differs, sample, other))
        case DictValue() if isinstance(other, DictValue) and sample.items and other.items:
            return any(
                _differs(sample.items[key], other.items[key]) for key in sample.items.keys() & other.items.keys()
            )
    return False


def _fault(interp: Interpreter, fault: DataFault) -> None:
    """Record a fault, once for each loader and kind."""
    key = (fault.kind, id(fault.loader), id(fault.dataset), fault.at.span if fault.loader is None else None)
    if not interp.guarded and key not in interp.failures_seen:
        interp.failures_seen.add(key)
        interp.trace.data.append(fault)


# -- samples ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Examples:
    """Samples of a dataset, as many as it takes to see how they differ.

    `optional`: for one index there are several, as the paths through ``__getitem__`` were not decided. `dataset` and
    `getitem`: where they come from. `certain`: who goes over the dataset sees each of them. `count`: how many a stream
    has that was followed to its end.
    """

    values: list[Value]
    optional: bool = False
    dataset: Value = None
    getitem: Function | None = None
    certain: bool = False
    count: int | None = None


def examples(interp: Interpreter, dataset: Value, node: ast.AST, frame: Frame, many: bool = False) -> Examples:
    """Samples of a dataset: those of its first indices and of its last, up to a budget. `many`: more than two or three."""
    match dataset:
        case Instance():
            method = as_kind(interp.class_attribute(dataset.cls, "__getitem__"), Function)
            if is_iterable(interp, dataset) or method is None:
                return _iterated(interp, dataset, node, frame)
            return _indexed(interp, dataset, method, frame, many)
        case LibraryObject():
            model = as_kind(of_class(dataset.path)(interp, dataset), Dataset)
            return model.examples(node, frame, many) if model is not None else Examples([], False, dataset)
        case ListValue() | tuple():
            elements = elements_of(dataset)
            return Examples(_distinct(list(elements or ())), certain=elements is not None)
        case Tensor() | Array():
            return Examples([interp.get_item(dataset, AnyIndex(0), node, frame)])
    return Examples([])


def _distinct(elements: list[Value]) -> list[Value]:
    """Elements of a list, without those that are like others."""
    return elements if len(elements) <= MANY_SAMPLES else elements[: MANY_SAMPLES - 1] + elements[-1:]


def _indexed(interp: Interpreter, dataset: Instance, method: Function, frame: Frame, many: bool) -> Examples:
    values: list[Value] = []
    optional = False
    steps = interp.steps
    for index in _indices(interp, dataset, frame, many):
        if len(values) > 1 and interp.steps - steps > SAMPLE_STEPS:
            break
        paths = _outcomes(interp, dataset, method, index, frame)
        if len(paths) > 1 and not sampled.returns_differ(method.node):
            paths = [interp.any_of(tuple(paths))]  # Whichever it is, it is that for all samples.
        optional = optional or len(paths) > 1
        values += paths
    return Examples(values, optional, dataset, method, certain=not optional)


def _outcomes(interp: Interpreter, dataset: Instance, method: Function, index: Value, frame: Frame) -> list[Value]:
    """The result of ``dataset[index]``, on each path through the method."""
    interp.outcomes = ()
    interp.uncertain += 1
    try:
        value = interp.call_function(method, (dataset, index), {}, None, frame)
    finally:
        interp.uncertain -= 1
    if is_unknown(value) and not interp.outcomes:
        return []
    return list(interp.outcomes) or [value]


def _indices(interp: Interpreter, dataset: Value, frame: Frame, many: bool) -> Iterator[int]:
    size = as_kind(interp.length(dataset, frame), int)
    if size is None:
        yield from (AnyIndex(0), AnyIndex(1))
        return
    shown = min(size, MANY_SAMPLES if many else 2)
    yield from map(AnyIndex, range(shown))
    if size > shown:
        yield AnyIndex(size - 1)


def _iterated(interp: Interpreter, dataset: Instance, node: ast.AST, frame: Frame) -> Examples:
    """Samples of an iterable dataset."""
    method = as_kind(interp.class_attribute(dataset.cls, "__iter__"), Function)
    if method is None:
        native = dataset.native
        return examples(interp, native, node, frame) if native is not None else Examples([])
    interp.uncertain += 1
    try:
        result = interp.call_function(method, (dataset,), {}, None, frame)
        iteration = interp.iterate(result, node, frame) if result is not dataset else Iteration((UNKNOWN,), False)
    finally:
        interp.uncertain -= 1
    samples = _distinct(list(iteration.items))
    count = len(iteration.items) if iteration.exact and iteration.items else None
    return Examples(samples, not iteration.exact, dataset, method, count=count)


def item(interp: Interpreter, dataset: Value, index: Value, node: ast.AST, frame: Frame) -> Value:
    """``dataset[index]`` of one of PyTorch's own datasets."""
    if isinstance(dataset, LibraryObject):
        return of_class(dataset.path)(interp, dataset).item(index, node, frame)
    return interp.get_item(dataset, index, node, frame)


# -- datasets, samplers and loaders ----------------------------------------------------------------


def _public(place: str, name: str) -> Callable[[type[Model]], type[Model]]:
    """Register the model of a class of ``torch.utils.data``, also under the name of the module that defines it."""
    return models(f"{PACKAGE}{name}", f"{PACKAGE}{place}.{name}")


@models(f"{PACKAGE}*")
class OfData(Model):
    """A class of ``torch.utils.data`` of which nothing else is known."""


class Dataset(Model):
    """A dataset, which has samples."""

    def examples(self, node: ast.AST, frame: Frame, many: bool) -> Examples:
        """Samples, as `examples` gives them."""
        return Examples([], False, self.value)

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return _samples(self.interp, self.value, node, frame)


@_public("dataset", "TensorDataset")
class TensorDataset(Dataset):
    """Tensors of one length: a sample is a row of each."""

    closed = True

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        made = cls.object(interp, call)
        _check_tensors(interp, made, interp.site(call.node, call.frame))
        return made

    @attribute
    def tensors(self, node: ast.AST, frame: Frame) -> Value:
        return self.value.args

    def length(self, frame: Frame) -> Size | None:
        return self.interp.length(self.value.args[0], frame) if self.value.args else None

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        return tuple(
            self.interp.tensor_get_item(value, key, node, frame) if isinstance(value, Tensor) else UNKNOWN
            for value in self.value.args
        )

    def examples(self, node: ast.AST, frame: Frame, many: bool) -> Examples:
        return Examples([self.item(AnyIndex(0), node, frame)], False, self.value)


@_public("dataset", "StackDataset")
class StackDataset(Dataset):
    """Datasets of one length: a sample is one of each, in a tuple or by name."""

    def length(self, frame: Frame) -> Size | None:
        parts = self.value.args or tuple(self.value.kwargs.values())
        return self.interp.length(parts[0], frame) if parts else None

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        interp, named = self.interp, self.value.kwargs
        if named:
            return DictValue({name: item(interp, part, key, node, frame) for name, part in named.items()})
        return tuple(item(interp, part, key, node, frame) for part in self.value.args)

    def examples(self, node: ast.AST, frame: Frame, many: bool) -> Examples:
        return Examples([self.item(AnyIndex(0), node, frame)])


@_public("dataset", "Subset")
class Subset(Dataset):
    """Samples of a dataset, by their indices."""

    closed = True

    @attribute
    def dataset(self, node: ast.AST, frame: Frame) -> Value:
        return self.value.given(0, "dataset", UNKNOWN)

    @attribute
    def indices(self, node: ast.AST, frame: Frame) -> Value:
        return self.value.given(1, "indices", UNKNOWN)

    def length(self, frame: Frame) -> Size | None:
        return self.interp.length(self.value.given(1, "indices"), frame)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        chosen = self.interp.get_item(self.value.given(1, "indices"), key, node, frame)
        return item(self.interp, self.value.given(0, "dataset"), chosen, node, frame)

    def examples(self, node: ast.AST, frame: Frame, many: bool) -> Examples:
        interp, dataset, indices = (
            self.interp,
            self.value.given(0, "dataset"),
            as_kind(self.value.given(1, "indices"), ListValue),
        )
        chosen = indices.items if indices is not None else None
        if chosen and all_are(chosen, int) and isinstance(dataset, Instance):
            getitem = as_kind(interp.class_attribute(dataset.cls, "__getitem__"), Function)
            if getitem is not None:
                few = chosen[: MANY_SAMPLES if many else 2]
                values = [value for index in few for value in _outcomes(interp, dataset, getitem, index, frame)]
                return Examples(values, len(values) > len(few), dataset, getitem, len(values) == len(few))
        return replace(examples(interp, dataset, node, frame, many), certain=False)


@_public("dataset", "ChainDataset")
class ChainDataset(Dataset):
    """Iterable datasets one after the other."""

    def examples(self, node: ast.AST, frame: Frame, many: bool) -> Examples:
        parts = self.interp.sequence(self.value.given(0, "datasets"), node, frame)
        found = [examples(self.interp, part, node, frame, many) for part in parts or ()]
        values = [value for part in found for value in part.values]
        return Examples(values, any(part.optional for part in found), self.value)

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return Iteration((UNKNOWN,), exact=False)


@_public("dataset", "ConcatDataset")
class ConcatDataset(ChainDataset):
    """Datasets one after the other."""

    def length(self, frame: Frame) -> Size | None:
        parts = self.interp.sequence(self.value.given(0, "datasets"), ast.Pass(), frame)
        sizes = [self.interp.length(part, frame) for part in parts or ()]
        return None if not sizes or None in sizes else _sum([size for size in sizes if size is not None])

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        found = examples(self.interp, self.value, node, frame)
        return self.interp.any_of(tuple(found.values)) if found.values else UNKNOWN

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return _samples(self.interp, self.value, node, frame)


@_public("sampler", "SequentialSampler")
class SequentialSampler(Model):
    """All indices, in order."""

    def length(self, frame: Frame) -> Size | None:
        return self.interp.length(self.value.given(0, "data_source"), frame)


@_public("sampler", "RandomSampler")
class RandomSampler(SequentialSampler):
    """All indices, or as many as are asked for, at random."""

    def length(self, frame: Frame) -> Size | None:
        asked = self.value.given(2, "num_samples")
        return asked if is_int(asked) else super().length(frame)


@_public("sampler", "SubsetRandomSampler")
class SubsetRandomSampler(Model):
    """These indices, at random."""

    def length(self, frame: Frame) -> Size | None:
        return self.interp.length(self.value.given(0, "indices"), frame)


@_public("sampler", "WeightedRandomSampler")
class WeightedRandomSampler(Model):
    """Indices drawn with these weights."""

    def length(self, frame: Frame) -> Size | None:
        asked = self.interp.resolved(self.value.given(1, "num_samples"))
        return asked if is_int(asked) else None


@_public("distributed", "DistributedSampler")
class DistributedSampler(Model):
    """The share of one process."""

    def length(self, frame: Frame) -> Size | None:
        replicas = self.value.given(1, "num_replicas")
        size = self.interp.length(self.value.given(0, "dataset"), frame)
        known = isinstance(replicas, int) and replicas > 0 and not self.value.given(5, "drop_last")
        return _rounded_up(size, replicas) if known and size is not None else None


@_public("sampler", "BatchSampler")
class BatchSampler(Model):
    """Lists of indices."""

    def length(self, frame: Frame) -> Size | None:
        size = self.interp.length(self.value.given(0, "sampler"), frame)
        batch, drop = self.interp.resolved(self.value.given(1, "batch_size")), self.value.given(2, "drop_last")
        return _batches(size, batch, drop)


@models(LOADER)
class DataLoader(Model):
    """A loader, as `plan` has it."""

    closed = True

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        made = cls.object(interp, call)
        _check_loader(interp, made, interp.site(call.node, call.frame))
        return made

    @attribute("dataset", "collate_fn", "sampler", "drop_last")
    def given(self, node: ast.AST, frame: Frame) -> Value:
        return self.value.given(0 if self.name == "dataset" else 99, self.name, UNKNOWN)

    @attribute
    def batch_size(self, node: ast.AST, frame: Frame) -> Value:
        return self.value.given(1, "batch_size", 1)

    def length(self, frame: Frame) -> Size | None:
        return plan(self.interp, self.value, frame).count

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        _fault(self.interp, DataFault("subscript", self.interp.site(node, frame), self.value))
        return UNKNOWN

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return loader_iteration(self.interp, self.value, node, frame)


# -- construction ----------------------------------------------------------------------------------


@models(f"{PACKAGE}default_convert")
def _default_convert(interp: Interpreter, call: Arguments) -> Value:
    return convert(interp, call.args[0]) if call.args else UNKNOWN


@models(f"{PACKAGE}get_worker_info")
def _worker_info(interp: Interpreter, call: Arguments) -> Value:
    return UNKNOWN


def _check_loader(interp: Interpreter, loader: LibraryObject, site: Site) -> None:
    """The constructor's demand on the dataset for a random order."""
    dataset = option(loader, "dataset")
    _check_weights(interp, loader, dataset, site)
    drawn = option(loader, "shuffle") is True and option(loader, "sampler") is None
    if not drawn or is_iterable(interp, dataset):
        return
    if lacks_length(interp, dataset):
        _fault(interp, DataFault("missing_len", site, loader, dataset))
    elif interp.length(dataset, site.frame) == 0:
        _fault(interp, DataFault("empty", site, loader, dataset))


def _check_weights(interp: Interpreter, loader: LibraryObject, dataset: Value, site: Site) -> None:
    """Whether a WeightedRandomSampler has as many weights as there are samples."""
    sampler = as_kind(option(loader, "sampler"), LibraryObject)
    if sampler is None or sampler.type_name != "WeightedRandomSampler":
        return
    weights, total = sampler.given(0, "weights"), as_kind(interp.length(dataset, site.frame), int)
    given = interp.resolved(interp.length(weights, site.frame))
    if isinstance(weights, Tensor) and not isinstance(given, int):
        given = _most_counts(weights)
    if isinstance(given, int) and total is not None and given != total:
        at = sampler.site if sampler.site is not None else site
        if isinstance(interp.length(weights, site.frame), int) or given < total:
            _fault(interp, DataFault("weights", at, loader, dataset, values=(weights, given, total)))


def _most_counts(weights: Tensor) -> int | None:
    """How many there are at most of what is computed, one by one, from the counts of integers that are known."""
    pending, size = [weights], weights.spec.shape[:1] if weights.spec.shape else ()
    for tensor in pending:
        origin = tensor.origin
        if origin is None or not tensor.spec.shape or tensor.spec.shape[:1] != size or len(pending) > MANY_SAMPLES:
            continue
        if origin.operator.endswith("bincount") and origin.sources:
            bounds = first_of(origin.sources[0].tags, Bounds)
            least = _minimum(origin.site)
            return max(bounds.high + 1, least) if bounds is not None and least is not None else None
        pending.extend(origin.sources)
    return None


def _minimum(site: Site) -> int | None:
    """The ``minlength`` of a bincount, where that is all it is given, and a number or a name for one."""
    call = site.call
    if call is None or len(call.args) > 1 or any(word.arg != "minlength" for word in call.keywords):
        return None
    given = call.keywords[0].value if call.keywords else ast.Constant(0)
    value = literal(given)
    if isinstance(given, ast.Name):
        value = site.frame.names.get(given.id, site.frame.globals.get(given.id))
    return as_kind(value, int)


def measured(interp: Interpreter, value: Value, node: ast.AST, frame: Frame) -> Size | None:
    """``len(value)``, which may raise."""
    if lacks_length(interp, value) and isinstance(value, Instance) and value.cls.native_base() is not None:
        _fault(interp, DataFault("missing_len", interp.site(node, frame), None, value))
    return interp.length(value, frame)


def _check_tensors(interp: Interpreter, dataset: LibraryObject, site: Site) -> None:
    """The demand of a TensorDataset on its tensors: that they are some, of one length."""
    given = dataset.args
    if any_are(given, Array, ListValue, tuple):
        _fault(interp, DataFault("arrays", site, None, dataset, values=given))
        return
    sizes = [interp.length(value, site.frame) if isinstance(value, Tensor) else None for value in given]
    first = sizes[0] if sizes else None
    if first is not None and any(size is not None and dims.equal(first, size) is False for size in sizes):
        _fault(interp, DataFault("lengths", site, None, dataset, values=given))


@models(f"{PACKAGE}default_collate", f"{PACKAGE}dataloader.default_collate")
def _default_collate(interp: Interpreter, call: Arguments) -> Value:
    batch = call.given(0, "batch")
    elements = elements_of(batch)
    if not elements:
        return UNKNOWN
    count: Size = interp.fresh_size("batch") if isinstance(elements, Several) else len(elements)
    return Collation(interp, count).collate(_distinct(list(elements)))


@models(f"{PACKAGE}random_split", f"{PACKAGE}dataset.random_split")
def _random_split(interp: Interpreter, call: Arguments) -> Value:
    dataset, lengths = call.given(0, "dataset"), call.given(1, "lengths")
    parts = interp.sequence(lengths, call.node, call.frame)
    site = interp.site(call.node, call.frame)
    if parts is None:
        return UNKNOWN
    if lacks_length(interp, dataset):
        _fault(interp, DataFault("missing_len", site, None, dataset))
    total = interp.length(dataset, call.frame)
    sizes = split_sizes(interp, parts, total)
    known = [size for size in sizes if size is not None]
    if total is not None and len(known) == len(sizes) and dims.equal(_sum(known), total) is False:
        _fault(interp, DataFault("split", site, None, dataset, values=(_sum(known), total)))
    subsets = []
    for size in sizes:
        chosen: Value = UNKNOWN
        if isinstance(size, int) and 0 <= size <= 1_000_000:
            chosen = ListValue((interp.fresh_size("i", positive=False),) * size)
        subsets.append(LibraryObject(f"{PACKAGE}Subset", (dataset, chosen), {}, site))
    return ListValue(tuple(subsets))


def split_sizes(interp: Interpreter, parts: tuple[Value, ...], total: Size | None) -> list[Size | None]:
    """The sizes of the parts that random_split makes; fractions as it rounds them."""
    given = tuple(interp.resolved(part) for part in parts)
    sizes, fractions = sizes_of(given), numbers_of(given)
    if sizes is not None:
        return list(sizes)
    if fractions is None or not isinstance(total, int):
        return [None for _ in parts]
    if not math.isclose(sum(fractions), 1) or sum(fractions) > 1:
        # No fractions, then, but numbers of samples.
        return [math.floor(part) for part in fractions]
    counts = [int(total * part) for part in fractions]
    for index in range(total - sum(counts)):
        counts[index % len(counts)] += 1
    return list(counts)


_ANY_INPUT = frozenset("Identity DataParallel DistributedDataParallel".split())
"""Layers that hand on what they get."""


def takes_list(interp: Interpreter, values: tuple[Value, ...], node: ast.AST, frame: Frame) -> bool:
    """Whether one of these, which are to be tensors, is a list that the default collate made. Then that is recorded."""
    for value in of_kind(values, ListValue):
        if value.slots.get("collated") is not None:
            return _is_list(interp, value, node, frame)
    return False


def refuses_list(interp: Interpreter, operation: Operation) -> bool:
    """Whether a layer that wants one tensor is given a list of tensors. Then that is recorded."""
    module, given = operation.module, as_kind(operation.first, ListValue)
    if module is None or module.built is not None or module.children is not None or given is None:
        return False
    plain = module.path.startswith("torch.nn.") and module.type_name not in _ANY_INPUT
    items = given.elements if given.type_name == "list" else None
    if not plain or not items or not all_are(items, Tensor):
        return False
    return _is_list(interp, given, operation.site.node, operation.site.frame)


def _is_list(interp: Interpreter, value: ListValue, node: ast.AST, frame: Frame) -> bool:
    fault = DataFault("list", interp.site(node, frame), values=(value,))
    if not interp.guarded and (fault.kind, fault.at.span) not in interp.failures_seen:
        interp.failures_seen.add((fault.kind, fault.at.span))
        interp.trace.data.append(fault)
    return True


def iterate_object(interp: Interpreter, value: LibraryObject, node: ast.AST, frame: Frame) -> Iteration:
    """The elements that a loop over an object of a library sees."""
    if value.path == LOADER:
        return loader_iteration(interp, value, node, frame)
    return of_class(value.path)(interp, value).iterate(node, frame)


def iterate_instance(interp: Interpreter, value: Instance, node: ast.AST, frame: Frame) -> Iteration:
    """The elements that a loop over an object of the user's sees."""
    method = as_kind(interp.class_attribute(value.cls, "__iter__"), Function)
    if method is not None:
        result = interp.call_function(method, (value,), {}, None, frame)
        if _has_own(result, "__next__", interp):
            return _until_stop(interp, result, frame)
        return interp.iterate(result, node, frame) if result is not value else Iteration((UNKNOWN,), exact=False)
    loader = as_loader(value)
    if loader is not None:
        return loader_iteration(interp, loader, node, frame)
    if value.native is not None and not isinstance(interp.class_attribute(value.cls, "__getitem__"), Function):
        return interp.iterate(value.native, node, frame)
    return _samples(interp, value, node, frame)


def _until_stop(interp: Interpreter, iterator: Instance, frame: Frame) -> Iteration:
    """The results of ``__next__`` until it raises; where that is not known, two of it."""
    method = as_kind(interp.class_attribute(iterator.cls, "__next__"), Function)
    items: list[Value] = []
    decided = True
    while method is not None and len(items) < (interp.budget.unroll if decided else 2):
        undecided, interp.outcomes = interp.undecided_raises, ()
        item = interp.call_function(method, (iterator,), {}, None, frame)
        if is_unknown(item) and not interp.outcomes:
            break
        items.append(item)
        decided = decided and undecided == interp.undecided_raises
    return Iteration(tuple(items) or (UNKNOWN,), exact=decided and 0 < len(items) < interp.budget.unroll)


def _has_own(value: Value, name: str, interp: Interpreter) -> TypeGuard[Instance]:
    """Whether the class of an object has a method of this name in the user's code."""
    return isinstance(value, Instance) and isinstance(interp.class_attribute(value.cls, name), Function)


def _samples(interp: Interpreter, dataset: Value, node: ast.AST, frame: Frame) -> Iteration:
    """The samples that a loop over a dataset sees."""
    values = examples(interp, dataset, node, frame).values
    return Iteration((interp.any_of(tuple(values)) if values else UNKNOWN,), exact=False)


__all__ = [
    "LOADER",
    "as_loader",
    "examples",
    "is_iterable",
    "item",
    "iterate_instance",
    "iterate_object",
    "lacks_length",
    "option",
    "plan",
    "split_sizes",
    "refuses_list",
    "takes_list",
]

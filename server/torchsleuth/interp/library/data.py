"""Data: datasets, samples, the default collate, loaders, and iteration over modelled objects."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchsleuth.interp.frames import Frame
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import numpy
from torchsleuth.interp.values import (
    UNKNOWN,
    Array,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Scalar,
    Tensor,
    Value,
    is_int,
)
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import CPU
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import TensorSpec

if TYPE_CHECKING:
    from torchsleuth.interp.interpreter import Interpreter

LOADER = "torch.utils.data.DataLoader"


def length(interp: Interpreter, value: Value, frame: Frame) -> Size | None:
    """``len(value)`` of a dataset or loader, None where it is not known."""
    if isinstance(value, Instance):
        method = interp.class_attribute(value.cls, "__len__")
        if isinstance(method, Function):
            result = interp.call_function(method, (value,), {}, None, frame)
            return result if is_int(result) else None
        return length(interp, value.native, frame) if value.native is not None else None
    if isinstance(value, Array):
        return numpy.length(interp, value)
    if not isinstance(value, LibraryObject):
        if isinstance(value, ListValue) and value.items is not None:
            return len(value.items)
        return len(value) if isinstance(value, tuple) else None
    name = value.type_name
    if name == "TensorDataset" and value.args and isinstance(value.args[0], Tensor):
        shape = interp.resolved_spec(value.args[0].spec).shape
        return shape[0] if shape else None
    if name == "Subset":
        return length(interp, value.argument(1, "indices"), frame)
    if name == "ConcatDataset":
        parts = interp.sequence(value.argument(0, "datasets"), ast.Pass(), frame)
        total: Size = 0
        for part in parts or ():
            size = length(interp, part, frame)
            if size is None:
                return None
            total = dims.add(total, size)
        return total if parts else None
    if name == "DataLoader":
        size = length(interp, value.argument(0, "dataset"), frame)
        batch = interp.resolved(value.argument(1, "batch_size", 1))
        if size is None or not is_int(batch) or "batch_sampler" in value.kwargs or "sampler" in value.kwargs:
            return None
        drop = value.kwargs.get("drop_last", False)
        if not isinstance(drop, bool):
            return None
        try:
            whole = dims.floor_divide(size, batch)
            rounded = whole if drop else dims.negate(dims.floor_divide(dims.negate(size), batch))
        except ZeroDivisionError:
            return None
        return rounded
    return None


def sample(interp: Interpreter, dataset: Value, node: ast.AST, frame: Frame) -> Value:
    """``dataset[i]`` for an index that is not known."""
    if isinstance(dataset, Instance):
        method = interp.class_attribute(dataset.cls, "__getitem__")
        if isinstance(method, Function):
            index = interp.fresh_size("i", positive=False)
            interp.uncertain += 1
            try:
                return interp.call_function(method, (dataset, index), {}, None, frame)
            finally:
                interp.uncertain -= 1
        iterator = interp.class_attribute(dataset.cls, "__iter__")
        if isinstance(iterator, Function):
            iteration = interp.iterate(interp.call_function(iterator, (dataset,), {}, None, frame), node, frame)
            return iteration.items[0] if iteration.items else UNKNOWN
        return sample(interp, dataset.native, node, frame) if dataset.native is not None else UNKNOWN
    if isinstance(dataset, LibraryObject):
        name = dataset.type_name
        if name == "TensorDataset":
            return tuple(
                interp.tensor_get_item(value, 0, node, frame) if isinstance(value, Tensor) else UNKNOWN
                for value in dataset.args
            )
        if name == "Subset":
            return sample(interp, dataset.argument(0, "dataset"), node, frame)
        if name == "ConcatDataset":
            parts = interp.sequence(dataset.argument(0, "datasets"), node, frame)
            samples = [sample(interp, part, node, frame) for part in parts or ()]
            return _joined(interp, samples)
    if isinstance(dataset, ListValue | tuple):
        items = interp.sequence(dataset, node, frame)
        return _joined(interp, list(items)) if items and len(items) <= 64 else (items[0] if items else UNKNOWN)
    if isinstance(dataset, Tensor):
        return interp.tensor_get_item(dataset, 0, node, frame)
    return UNKNOWN


def _joined(interp: Interpreter, values: list[Value]) -> Value:
    if not values:
        return UNKNOWN
    joined = values[0]
    for value in values[1:]:
        joined = interp.heap.join_values(joined, value)
    return joined


def collate(interp: Interpreter, value: Value, batch: Size) -> Value:
    """What the default collate makes of `batch` samples like `value`."""
    if isinstance(value, Tensor):
        spec = interp.resolved_spec(value.spec)
        if spec.shape is None:
            return Tensor(spec.with_(requires_grad=False))
        collated = spec.with_(shape=(batch, *spec.shape), strides=None)
        return Tensor(collated, value.origin, value.tags)
    if isinstance(value, Array):
        return collate(interp, numpy.to_tensor(interp, value), batch)
    if isinstance(value, bool) or value == Scalar("bool"):
        return _stacked(batch, "bool")
    if is_int(value):
        return _stacked(batch, "int64")
    if isinstance(value, float) or value == Scalar("float"):
        return _stacked(batch, "float64")
    if isinstance(value, str) or value == Scalar("str"):
        return ListValue(None)
    if isinstance(value, tuple):
        return ListValue(tuple(collate(interp, item, batch) for item in value))
    if isinstance(value, ListValue) and value.items is not None:
        return ListValue(tuple(collate(interp, item, batch) for item in value.items))
    if isinstance(value, DictValue) and value.items is not None:
        return DictValue({key: collate(interp, item, batch) for key, item in value.items.items()})
    return UNKNOWN


def _stacked(batch: Size, dtype: str) -> Tensor:
    return Tensor(TensorSpec((batch,), dtype, CPU, False))


def batches(interp: Interpreter, loader: LibraryObject, node: ast.AST, frame: Frame) -> Value:
    """The first, full batch of a loader."""
    from torchsleuth.interp.calls import Arguments

    dataset = loader.argument(0, "dataset")
    batch: Value = interp.resolved(loader.argument(1, "batch_size", 1))
    if "batch_sampler" in loader.kwargs:
        batch = interp.fresh_size("batch")
    one = sample(interp, dataset, node, frame)
    if batch is None:
        return one
    if not is_int(batch):
        batch = interp.fresh_size("batch_size")
    total = length(interp, dataset, frame)
    if isinstance(total, int) and isinstance(batch, int) and 0 < total < batch:
        batch = total
    function = loader.kwargs.get("collate_fn")
    if function is not None:
        count = batch if isinstance(batch, int) and batch <= 64 else None
        samples = ListValue((one,) * count if count is not None else None)
        return interp.call(function, Arguments((samples,), {}, node, frame))
    return collate(interp, one, batch)


def iterate(interp: Interpreter, value: Value, node: ast.AST, frame: Frame) -> Iteration:
    """What a loop over a modelled object sees."""
    if isinstance(value, Array):
        return numpy.iterate(interp, value)
    if isinstance(value, LibraryObject):
        if value.path == LOADER:
            return Iteration((batches(interp, value, node, frame),), exact=False, over_loader=True)
        if value.type_name in ("TensorDataset", "Subset", "ConcatDataset"):
            return Iteration((sample(interp, value, node, frame),), exact=False)
        return Iteration((UNKNOWN,), exact=False)
    if isinstance(value, Instance):
        method = interp.class_attribute(value.cls, "__iter__")
        if isinstance(method, Function):
            result = interp.call_function(method, (value,), {}, None, frame)
            if result is not value:
                return interp.iterate(result, node, frame)
        elif value.native is not None:
            return interp.iterate(value.native, node, frame)
        elif isinstance(interp.class_attribute(value.cls, "__getitem__"), Function):
            return Iteration((sample(interp, value, node, frame),), exact=False)
        return Iteration((UNKNOWN,), exact=False)
    if isinstance(value, LibraryModule):
        if value.children is None:
            return Iteration((UNKNOWN,), exact=False)
        keys = value.path == "torch.nn.ModuleDict"
        return Iteration(tuple(pair[0] if keys else pair[1] for pair in value.children), exact=True)
    if isinstance(value, Parameters):
        return Iteration((value if not value.named else (Scalar("str"), Parameters(value.modules)),), exact=False)
    return Iteration((UNKNOWN,), exact=False)


def object_item(interp: Interpreter, value: LibraryObject, key: Value, frame: Frame) -> Value:
    if value.type_name in ("TensorDataset", "Subset", "ConcatDataset"):
        return sample(interp, value, ast.Pass(), frame)
    return UNKNOWN

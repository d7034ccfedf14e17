"""Packed sequences: batches of sequences of different lengths, without their padding."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, TypeGuard

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import integers, torch_calls
from torchsleuth.interp.models import FunctionModel, Result, method, models
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax.forms import is_reference
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import CPU
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import Failure, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    UNSORTED,
    LibraryModule,
    LibraryObject,
    ListValue,
    PaddedSteps,
    Several,
    Tensor,
    Value,
    elements_of,
    is_int,
    is_object,
    items_of,
)
from torchsleuth.values.frames import Frame

PATH = "torch.nn.utils.rnn.PackedSequence"
_OF_TENSORS = frozenset(f"torch.nn.{name}" for name in "Linear Dropout LayerNorm Conv1d Embedding BatchNorm1d".split())
"""Layers that take a tensor alone."""
_RECURRENT = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
LONGEST_NAME = 20
UNSORTED_LENGTHS = "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True"
MAX_SEQUENCES = 64
"""Sequences of a batch that are told apart."""


def _or_operator(model: FunctionModel) -> FunctionModel:
    """The model, and the operator where that gives None, since sizes are not known."""

    def called(interp: Interpreter, call: Arguments) -> Value:
        value = model(interp, call) if call.exact else None
        return torch_calls.apply(interp, call) if value is None else value

    return called


def is_packed(value: Value) -> TypeGuard[LibraryObject]:
    return is_object(value, PATH) and "batch" in value.slots


@models("torch.nn.utils.rnn.PackedSequence")
class PackedSequence(Result):
    """The batch. What is made by the user's hands, not by one of the functions below, is not known."""

    @method(*"to cuda cpu float double half pin_memory".split())
    def moved(self, call: Arguments) -> Value:
        if not is_packed(self.value):
            return self.other(call)
        held = self.value.slots
        data = as_kind(
            self.interp.call(self.interp.attribute(held["data"], self.name, call.node, call.frame), call), Tensor
        )
        if data is None:
            return UNKNOWN
        return _packed(self.interp, data, held["batch"], held["longest"], call)

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        """It is a tuple: of the elements, how many sequences go on at each step, and the orders, which may be None."""
        held = self.value.slots
        if not is_packed(self.value):
            return super().iterate(node, frame)
        return Iteration((held["data"], held["batch_sizes"], UNKNOWN, UNKNOWN), exact=True)

    def other(self, call: Arguments) -> Value:
        return UNKNOWN if is_packed(self.value) else super().other(call)


def _packed(interp: Interpreter, data: Tensor, batch: Size, longest: Size, call: Arguments) -> LibraryObject:
    made = LibraryObject(PATH, (), {}, interp.site(call.node, call.frame))
    order = Tensor(TensorSpec((batch,), "int64", data.spec.device, False))
    sizes = Tensor(TensorSpec((longest,), "int64", CPU, False))
    made.slots.update(
        data=data, batch=batch, longest=longest, batch_sizes=sizes, sorted_indices=order, unsorted_indices=order
    )
    return made


def _data(interp: Interpreter, source: Tensor, shape: tuple[Size, ...]) -> Tensor:
    """The elements of all sequences in one dimension, computed from a padded tensor."""
    made = Tensor(source.spec.with_(shape=shape, strides=None), source.origin, frozenset(), source.history)
    return interp.same_graph(source, made)


@models("torch.nn.utils.rnn.pack_padded_sequence")
@_or_operator
def _pack_padded(interp: Interpreter, call: Arguments) -> Value:
    padded, lengths, first = (
        as_kind(call.given(0, "input"), Tensor),
        call.given(1, "lengths"),
        as_kind(call.given(2, "batch_first", False), bool),
    )
    spec = interp.resolved_spec(padded.spec) if padded is not None else None
    if padded is None or spec is None or spec.shape is None or len(spec.shape) < 2 or first is None:
        return None
    rank = interp.resolved_spec(lengths.spec).rank if isinstance(lengths, Tensor) else 1
    if isinstance(lengths, Tensor) and rank is not None and rank > 1 and call.given(3, "enforce_sorted", True) is True:
        text = f"'lengths' argument should be a 1D CPU int64 tensor, but got {rank}D cpu Long tensor"
        made = interp.operation(call.path, call.args, call.kwargs, call.node, call.frame, None)
        interp.report(made, Failure("RuntimeError", text, confirmed=True))
        return UNKNOWN
    batch, whole = spec.shape[:2] if first else (spec.shape[1], spec.shape[0])
    given = items_of(lengths)
    rises = UNSORTED in lengths.tags if isinstance(lengths, Tensor) else integers.rises(interp, given or ())
    if rises and batch != 1 and call.given(3, "enforce_sorted", True) is True:
        made = interp.operation(call.path, call.args, call.kwargs, call.node, call.frame, None)
        interp.report(made, Failure("RuntimeError", UNSORTED_LENGTHS, confirmed=True))
        return UNKNOWN
    node = call.expression.args[1] if call.expression is not None and len(call.expression.args) > 1 else None
    text = ast.unparse(node) if is_reference(node) else ""
    name = text if 0 < len(text) <= LONGEST_NAME else "lengths"
    if given and all_are(given, int):
        total: Size = sum(given)
        longest: Size = max(given)
    elif given and all(dims.equal(length, whole) is True for length in given if is_int(length)):
        total, longest = dims.multiply(batch, whole), whole
    else:
        total, longest = interp.fresh_size(f"sum({name})"), interp.fresh_size(f"max({name})")
    return _packed(interp, _data(interp, padded, (total, *spec.shape[2:])), batch, longest, call)


@models("torch.nn.utils.rnn.pack_sequence")
@_or_operator
def _pack(interp: Interpreter, call: Arguments) -> Value:
    given = call.given(0, "sequences")
    elements = elements_of(given)
    if not elements:
        return None
    specs = [interp.resolved_spec(item.spec) for item in of_kind(elements, Tensor)]
    shapes = [spec.shape for spec in specs if spec.shape]
    if len(shapes) < len(elements) or len({shape[1:] for shape in shapes}) > 1:
        return None
    lengths = [shape[0] for shape in shapes]
    exact = not isinstance(elements, Several) and all_are(lengths, int)
    batch: Size = interp.fresh_size("batch") if isinstance(elements, Several) else len(elements)
    known = of_kind(lengths, int)
    total, longest = (
        (sum(known), max(known)) if exact else (interp.fresh_size("sum(lengths)"), interp.fresh_size("max(lengths)"))
    )
    return _packed(interp, _data(interp, elements[0], (total, *shapes[0][1:])), batch, longest, call)


def _parts(interp: Interpreter, sequence: Any) -> tuple[Tensor, Size, Size]:
    """The data of a packed sequence, the size of the batch and the greatest length."""
    data: Tensor = sequence.slots["data"]
    batch: Size = sequence.slots["batch"]
    longest: Size = sequence.slots["longest"]
    return data, interp.resolved(batch), interp.resolved(longest)


@models("torch.nn.utils.rnn.pad_packed_sequence")
@_or_operator
def _unpack(interp: Interpreter, call: Arguments) -> Value:
    sequence, first = call.given(0, "sequence"), as_kind(call.given(1, "batch_first", False), bool)
    if not is_packed(sequence):
        return None
    data, batch, longest = _parts(interp, sequence)
    total = interp.resolved(call.given(3, "total_length"))
    longest = total if is_int(total) else longest if total is None else interp.fresh_size("?")
    if data.spec.shape is None or first is None:
        return None
    shape = (batch, longest) if first else (longest, batch)
    lengths = Tensor(TensorSpec((batch,), "int64", CPU, False))
    padded = _data(interp, data, (*shape, *data.spec.shape[1:]))
    if dims.equal(data.spec.shape[0], dims.multiply(batch, longest)) is not True:
        interp.heap.set(padded.slots, "tags", padded.tags | {PaddedSteps(int(first), longest, batch)})
    return padded, lengths


@models("torch.nn.utils.rnn.unpack_sequence")
@_or_operator
def _unpack_all(interp: Interpreter, call: Arguments) -> Value:
    """The sequences of a packed batch, one by one."""
    sequence = call.given(0, "packed_sequences")
    if not is_packed(sequence):
        return None
    data, batch, _ = _parts(interp, sequence)
    return None if data.spec.shape is None else _sequences(interp, data, batch, data.spec.shape[1:])


@models("torch.nn.utils.rnn.unpad_sequence")
@_or_operator
def _unpad(interp: Interpreter, call: Arguments) -> Value:
    """The sequences of a padded batch. Without `batch_first`, the operator transposes what it is given, in place."""
    padded = as_kind(call.given(0, "padded_sequences"), Tensor)
    shape = interp.resolved_spec(padded.spec).shape if padded is not None else None
    if padded is None or shape is None or len(shape) < 2 or call.given(2, "batch_first", False) is not True:
        return None
    return _sequences(interp, padded, shape[0], shape[2:])


def _sequences(interp: Interpreter, source: Tensor, batch: Size, rest: tuple[Size, ...]) -> ListValue:
    """As many sequences as there are samples, of lengths that are not known."""
    count = batch if isinstance(batch, int) and batch <= MAX_SEQUENCES else 1
    parts = tuple(_data(interp, source, (interp.fresh_size("length"), *rest)) for _ in range(count))
    return ListValue(parts if len(parts) == batch else Several.counted(parts, batch))


def run(interp: Interpreter, module: LibraryModule, call: Arguments) -> Value:
    """A recurrent module called with a packed sequence: as with a padded one, with the outputs packed again."""
    data, batch, longest = _parts(interp, call.args[0])
    if module.path in _OF_TENSORS:
        name = module.type_name.lower()
        text = f"{name}(): argument 'input' (position 1) must be Tensor, not PackedSequence"
        operation = interp.operation(module.path, call.args, call.kwargs, call.node, call.frame, module)
        interp.report(operation, Failure("TypeError", text, confirmed=True))
    if module.path not in _RECURRENT or data.spec.shape is None:
        return UNKNOWN
    first = as_kind(module.given(4, "batch_first", False), bool)
    if first is None:
        return UNKNOWN
    shape = (batch, longest) if first else (longest, batch)
    padded = _data(interp, data, (*shape, *data.spec.shape[1:]))
    value = as_kind(interp.apply_module(module, replace(call, args=(padded, *call.args[1:]))), tuple)
    if value is None or not isinstance(value[0], Tensor) or value[0].spec.shape is None:
        return UNKNOWN
    output = _data(interp, value[0], (data.spec.shape[0], *value[0].spec.shape[2:]))
    return _packed(interp, output, batch, longest, call), *value[1:]


__all__ = ["PATH", "PackedSequence", "is_packed", "run"]

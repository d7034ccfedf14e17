"""Packed sequences: batches of sequences of different lengths, without their padding."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import CPU
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import Failure, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    LibraryModule,
    LibraryObject,
    ListValue,
    Several,
    Tensor,
    Value,
    is_int,
)

PATH = "torch.nn.utils.rnn.PackedSequence"
_OF_TENSORS = frozenset(f"torch.nn.{name}" for name in "Linear Dropout LayerNorm Conv1d Embedding BatchNorm1d".split())
"""Layers that take a tensor alone."""
_RECURRENT = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
LONGEST_NAME = 20


def is_packed(value: Value) -> bool:
    return isinstance(value, LibraryObject) and value.path == PATH and "batch" in value.slots


def call(interp: Interpreter, name: str, call: Arguments) -> Value:
    """A function of ``torch.nn.utils.rnn`` that packs or unpacks; None for any other, and where sizes are not known."""
    if not call.exact:
        return None
    if name == "pack_padded_sequence":
        return _pack_padded(interp, call)
    if name == "pack_sequence":
        return _pack(interp, call)
    return _unpack(interp, call) if name == "pad_packed_sequence" and is_packed(call.get(0, "sequence")) else None


def _packed(interp: Interpreter, data: Tensor, batch: Size, longest: Size, call: Arguments) -> LibraryObject:
    made = LibraryObject(PATH, (), {}, interp.site(call.node, call.frame))
    order = Tensor(TensorSpec((batch,), "int64", data.spec.device, False))
    sizes = Tensor(TensorSpec((longest,), "int64", CPU, False))
    made.slots.update(
        data=data, batch=batch, longest=longest, batch_sizes=sizes, sorted_indices=order, unsorted_indices=order
    )
    return made


def _data(interp: Interpreter, source: Tensor, shape: tuple[Size, ...], call: Arguments) -> Tensor:
    """The elements of all sequences in one dimension, computed from a padded tensor."""
    made = Tensor(source.spec.with_(shape=shape, strides=None), source.origin, frozenset(), source.history)
    return interp.same_graph(source, made)


def _pack_padded(interp: Interpreter, call: Arguments) -> Value:
    padded, lengths, first = call.get(0, "input"), call.get(1, "lengths"), call.get(2, "batch_first", False)
    spec = interp.resolved_spec(padded.spec) if isinstance(padded, Tensor) else None
    if spec is None or spec.shape is None or len(spec.shape) < 2 or not isinstance(first, bool):
        return None
    batch, whole = spec.shape[:2] if first else (spec.shape[1], spec.shape[0])
    node = call.node.args[1] if isinstance(call.node, ast.Call) and len(call.node.args) > 1 else None
    text = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    name = text if 0 < len(text) <= LONGEST_NAME else "lengths"
    given = lengths.items if isinstance(lengths, ListValue) else lengths
    if isinstance(given, tuple) and given and all(isinstance(length, int) for length in given):
        total: Size = sum(given)
        longest: Size = max(given)
    elif (
        isinstance(given, tuple)
        and given
        and all(dims.equal(length, whole) is True for length in given if is_int(length))
    ):
        total, longest = dims.multiply(batch, whole), whole
    else:
        total, longest = interp.fresh_size(f"sum({name})"), interp.fresh_size(f"max({name})")
    return _packed(interp, _data(interp, padded, (total, *spec.shape[2:]), call), batch, longest, call)


def _pack(interp: Interpreter, call: Arguments) -> Value:
    given = call.get(0, "sequences")
    elements = given.elements if isinstance(given, ListValue) else given
    if not isinstance(elements, tuple) or not elements:
        return None
    specs = [interp.resolved_spec(item.spec) for item in elements if isinstance(item, Tensor)]
    shapes = [spec.shape for spec in specs if spec.shape]
    if len(shapes) < len(elements) or len({shape[1:] for shape in shapes}) > 1:
        return None
    lengths = [shape[0] for shape in shapes]
    exact = not isinstance(elements, Several) and all(isinstance(length, int) for length in lengths)
    batch: Size = interp.fresh_size("batch") if isinstance(elements, Several) else len(elements)
    known = [length for length in lengths if isinstance(length, int)]
    total, longest = (
        (sum(known), max(known)) if exact else (interp.fresh_size("sum(lengths)"), interp.fresh_size("max(lengths)"))
    )
    return _packed(interp, _data(interp, elements[0], (total, *shapes[0][1:]), call), batch, longest, call)


def _unpack(interp: Interpreter, call: Arguments) -> Value:
    sequence, first = call.get(0, "sequence"), call.get(1, "batch_first", False)
    data, batch, longest = (interp.resolved(sequence.slots[name]) for name in ("data", "batch", "longest"))
    total = interp.resolved(call.get(3, "total_length"))
    longest = total if is_int(total) else longest if total is None else interp.fresh_size("?")
    if data.spec.shape is None or not isinstance(first, bool):
        return None
    shape = (batch, longest) if first else (longest, batch)
    lengths = Tensor(TensorSpec((batch,), "int64", CPU, False))
    return _data(interp, data, (*shape, *data.spec.shape[1:]), call), lengths


def run(interp: Interpreter, module: LibraryModule, call: Arguments) -> Value:
    """A recurrent module called with a packed sequence: as with a padded one, with the outputs packed again."""
    sequence = call.args[0]
    data, batch, longest = (interp.resolved(sequence.slots[name]) for name in ("data", "batch", "longest"))
    if module.path in _OF_TENSORS:
        name = module.type_name.lower()
        text = f"{name}(): argument 'input' (position 1) must be Tensor, not PackedSequence"
        operation = interp.operation(module.path, call.args, call.kwargs, call.node, call.frame, module)
        interp.report(operation, Failure("TypeError", text, confirmed=True))
    if module.path not in _RECURRENT or data.spec.shape is None:
        return UNKNOWN
    first = module.kwargs.get("batch_first", module.args[4] if len(module.args) > 4 else False)
    if not isinstance(first, bool):
        return UNKNOWN
    shape = (batch, longest) if first else (longest, batch)
    padded = _data(interp, data, (*shape, *data.spec.shape[1:]), call)
    value = interp.apply_module(module, replace(call, args=(padded, *call.args[1:])))
    if not isinstance(value, tuple) or not isinstance(value[0], Tensor) or value[0].spec.shape is None:
        return UNKNOWN
    output = _data(interp, value[0], (data.spec.shape[0], *value[0].spec.shape[2:]), call)
    return _packed(interp, output, batch, longest, call), *value[1:]


def moved(interp: Interpreter, sequence: LibraryObject, name: str, call: Arguments) -> Value:
    """``packed.to(device)`` and its like."""
    data = interp.call(interp.attribute(sequence.slots["data"], name, call.node, call.frame), call)
    if not isinstance(data, Tensor):
        return UNKNOWN
    made = _packed(interp, data, sequence.slots["batch"], sequence.slots["longest"], call)
    return made


MOVES = frozenset("to cuda cpu float double half pin_memory".split())

__all__ = ["MOVES", "PATH", "call", "is_packed", "moved", "run"]

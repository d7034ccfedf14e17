"""Operators over lists of tensors whose number is not known, and over tensors of different lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torchsleuth.interp import misuse
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.batch import Batch, plain
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import arrays, draws, integers
from torchsleuth.interp.pipeline import DataFault, Refusal
from torchsleuth.sifting import all_are, any_are, as_kind, of_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import DType, ListSpec, Result, TensorSpec
from torchsleuth.values import (
    Array,
    Choice,
    ListValue,
    Scalar,
    Several,
    Tensor,
    Value,
    elements_of,
    items_of,
    sizes_of,
)

_JOINS = frozenset("torch.stack torch.cat torch.concat torch.concatenate torch.hstack torch.vstack".split())
LEGACY = {
    "torch.Tensor": "float32",
    "torch.FloatTensor": "float32",
    "torch.DoubleTensor": "float64",
    "torch.HalfTensor": "float16",
    "torch.LongTensor": "int64",
    "torch.IntTensor": "int32",
    "torch.ShortTensor": "int16",
    "torch.CharTensor": "int8",
    "torch.ByteTensor": "uint8",
    "torch.BoolTensor": "bool",
}
"""Constructors from before torch.tensor, and the dtype of what they make."""
_CONVERTERS = frozenset({"torch.tensor", "torch.as_tensor", *LEGACY})


def of_tensors(path: str, call: Arguments) -> Arguments:
    """A call that joins tensors, without what some of its elements may be instead of tensors: it raises for None."""
    first = call.args[0] if call.args else None
    elements = elements_of(first)
    if path not in _JOINS or elements is None or not any_are(elements, Choice):
        return call
    kept = [_tensor_of(element) for element in elements]
    whole = Several(kept) if isinstance(elements, Several) else tuple(kept)
    return replace(call, args=(ListValue(whole), *call.args[1:]))


def _tensor_of(value: Value) -> Value:
    """The one tensor that a value is, where it is one of several things."""
    tensors = [option for option in value.options if option is not None] if isinstance(value, Choice) else [value]
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], Tensor) else value


def call(interp: Interpreter, path: str, call: Arguments) -> Tensor | None:
    """The result of an operator over a list whose length is not known; None for anything else."""
    first = call.args[0] if call.args else call.kwargs.get("tensors", call.kwargs.get("sequences"))
    elements = elements_of(first)
    spec: TensorSpec | None = None
    if path == "torch.nn.functional.pad" and isinstance(first, Tensor) and call.exact:
        spec = _grown(interp, first, call)
        return None if spec is None else interp.gathered(path, spec, call)
    if not elements or not call.exact:
        return None
    if path == "torch.stack" and not isinstance(elements, Several):
        spec = _ragged(interp, elements, call)
    elif path.endswith("rnn.pad_sequence"):
        spec = _padded(interp, elements, call)
    elif isinstance(elements, Several) and path in _JOINS:
        spec = _joined(interp, path, elements, call)
    elif path in _CONVERTERS and _is_open(first):
        spec = _listed(interp, path, first, call)
    if spec is None:
        return None
    made = interp.gathered(path, spec, call)
    if path.endswith("rnn.pad_sequence"):
        # One sequence is one sample.
        layout = frozenset({Batch(0 if call.given(1, "batch_first", False) else 1)})
        value = interp.resolved(call.given(2, "padding_value"))
        # Who says what to pad with has sequences of different lengths.
        certain = _differ(interp, elements) or (value is not None and not _are_known(elements))
        held = integers.padded(plain(made.tags), 0 if value is None else value, certain)
        interp.heap.set(made.slots, "tags", held | layout)
    return made


def _are_known(elements: tuple[Value, ...]) -> bool:
    """Whether the lengths of all sequences are numbers."""
    shapes = [element.spec.shape for element in of_kind(elements, Tensor)]
    return not isinstance(elements, Several) and all(shape and isinstance(shape[0], int) for shape in shapes)


def _differ(interp: Interpreter, elements: tuple[Value, ...]) -> bool:
    """Whether sequences are known to be of different lengths, or to be so where those are drawn at random."""
    shapes = [element.spec.shape for element in of_kind(elements, Tensor)]
    lengths = [shape[0] for shape in shapes if shape]
    return not isinstance(elements, Several) and any(draws.vary(interp, lengths[0], other) for other in lengths[1:])


def _grown(interp: Interpreter, tensor: Tensor, call: Arguments) -> TensorSpec | None:
    """The result of padding a tensor, where the amounts are not all numbers: the oracle is not asked then."""
    spec, given = interp.resolved_spec(tensor.spec), call.given(1, "pad")
    items = items_of(given)
    if items is None or len(items) % 2 or spec.shape is None or len(items) > 2 * len(spec.shape):
        return None
    amounts = sizes_of(draws.plain_number(interp, interp.resolved(item)) for item in items)
    if amounts is None:
        return None
    if all_are(amounts, int) or call.given(2, "mode", "constant") != "constant":
        return None
    shape = list(spec.shape)
    for place in range(len(amounts) // 2):
        around = dims.add(amounts[2 * place], amounts[2 * place + 1])
        shape[-1 - place] = dims.add(shape[-1 - place], around)
    return spec.with_(shape=tuple(shape), strides=None)


def _specs(interp: Interpreter, elements: tuple[Value, ...]) -> list[TensorSpec] | None:
    """The elements' specs, if all are tensors of known shapes."""
    specs = [interp.resolved_spec(element.spec) for element in of_kind(elements, Tensor)]
    known = all(spec.shape is not None for spec in specs)
    return specs if known and len(specs) == len(elements) else None


def _ragged(interp: Interpreter, elements: tuple[Value, ...], call: Arguments) -> TensorSpec | None:
    """The tensor that `torch.stack` would make of samples that are known to differ, where a batch is made of them or their sizes are
    drawn at random. The fault is recorded."""
    specs = _specs(interp, elements)
    if specs is None or len(specs) < 2:
        return None
    for index, other in enumerate(specs):
        if other.shape == specs[0].shape:
            continue
        dims = draws.differences(interp, specs[0], other)
        drawn = any(not isinstance(size, int) for spec in (specs[0], other) for size in spec.shape or ())
        if dims == () or not (drawn or interp.collating):
            return None
        refusal = Refusal("ragged", (), (elements[0], elements[index]), dims)
        fault = DataFault("stack", interp.site(call.node, call.frame), refusals=(refusal,))
        if not interp.guarded and (fault.kind, fault.at.span) not in interp.failures_seen:
            interp.failures_seen.add((fault.kind, fault.at.span))
            interp.trace.data.append(fault)
        shape = specs[0].shape or ()
        sizes = tuple(interp.fresh_size("?") if dims is None or i in dims else size for i, size in enumerate(shape))
        dim = call.given(1, "dim", 0)
        known = dims is not None and dim == 0
        return TensorSpec((len(specs), *sizes) if known else None, _common(specs), specs[0].device, False)
    return None


def _padded(interp: Interpreter, elements: tuple[Value, ...], call: Arguments) -> TensorSpec | None:
    """``pad_sequence``: (L, \\*) each to (B, T, \\*) or (T, B, \\*), where T is the greatest L."""
    specs = _specs(interp, elements)
    shapes = [spec.shape for spec in specs or () if spec.shape]
    if specs is None or len(shapes) != len(specs) or len({shape[1:] for shape in shapes}) != 1:
        return None
    lengths = {shape[0] for shape in shapes}
    known = of_kind(lengths, int)
    longest: Size = interp.fresh_size("T")
    if not isinstance(elements, Several) and len(known) == len(lengths):
        longest = max(known)
    elif len(lengths) == 1 and known:
        longest = known[0]
    interp.trace.longest[longest] = frozenset(lengths)
    count: Size = interp.fresh_size("batch") if isinstance(elements, Several) else len(elements)
    first = as_kind(call.given(1, "batch_first", False), bool)
    if first is None:
        return None
    shape = (count, longest, *shapes[0][1:]) if first else (longest, count, *shapes[0][1:])
    return TensorSpec(shape, _common(specs), _place(specs), False)


def _joined(interp: Interpreter, path: str, elements: Several, call: Arguments) -> TensorSpec | None:
    """The shape that two such elements give, with as much joined as there are of them."""
    specs = _specs(interp, elements)
    if path in ("torch.stack", "torch.cat") and all(
        isinstance(one, Scalar) and one.type == "float" for one in elements
    ):
        text = "expected Tensor as element 0 in argument 0, but got float"
        misuse.refuses(interp, path, call, "TypeError", text)
    if specs is None:
        return None
    if path in ("torch.cat", "torch.concat", "torch.concatenate") and len({spec.shape for spec in specs}) > 1:
        return _of_lengths(interp, specs, call)
    if len({spec.shape for spec in specs}) != 1:
        return None
    arguments: tuple[Any, ...] = (ListSpec((specs[0], specs[0])),)
    dim = as_kind(0 if path in ("torch.hstack", "torch.vstack") else call.given(1, "dim", 0), int)
    if dim is None:
        return None
    if path not in ("torch.hstack", "torch.vstack"):
        arguments = (*arguments, dim)
    outcome = as_kind(interp.oracle.call(path, arguments, {}, interp.fresh_symbol, False), Result)
    if outcome is None or not isinstance(outcome.value, TensorSpec) or not outcome.value.shape:
        return None
    shape, own = outcome.value.shape, specs[0].shape or ()
    place = 0 if path == "torch.vstack" else (0 if len(own) < 2 else 1) if path == "torch.hstack" else dim % len(shape)
    each = 1 if len(shape) > len(own) else own[place]
    count = interp.fresh_size("n") if elements.length is None else dims.multiply(elements.length, each)
    grown = tuple(count if index == place else size for index, size in enumerate(shape))
    return TensorSpec(grown, _common(specs), _place(specs), False)


def _of_lengths(interp: Interpreter, specs: list[TensorSpec], call: Arguments) -> TensorSpec | None:
    """The shape that ``torch.cat`` gives for tensors that differ along the dimension that they are joined at, and nowhere else."""
    dim, ranks = as_kind(call.given(1, "dim", 0), int), {len(spec.shape or ()) for spec in specs}
    rank = ranks.pop()
    if dim is None or ranks or not -rank <= dim < rank:
        return None
    place = dim % rank
    rest = {tuple(size for index, size in enumerate(spec.shape or ()) if index != place) for spec in specs}
    if len(rest) != 1:
        return None
    grown = tuple(interp.fresh_size("n") if index == place else size for index, size in enumerate(specs[0].shape or ()))
    return TensorSpec(grown, _common(specs), _place(specs), False)


def _is_open(value: Value, depth: int = 4) -> bool:
    """Whether the length of a list, or of one in it, is not known."""
    elements = elements_of(value)
    if isinstance(elements, Several):
        return True
    return elements is not None and depth > 0 and any(_is_open(element, depth - 1) for element in elements)


def _listed(interp: Interpreter, path: str, value: Value, call: Arguments) -> TensorSpec | None:
    """``torch.tensor`` of a list of numbers."""
    array = arrays.as_array(interp, value, call.frame)
    if array is None or array.spec.dtype is None:
        return None
    asked = call.kwargs.get("dtype")
    if "device" in call.kwargs or (asked is not None and not isinstance(asked, DType)):
        return None
    plain = not _has_arrays(value)
    dtype = "float32" if plain and array.spec.dtype == "float64" else array.spec.dtype
    dtype = LEGACY.get(path, dtype)
    made = arrays.to_tensor(interp, array, asked.name if isinstance(asked, DType) else dtype)
    return made.spec


def _has_arrays(value: Value) -> bool:
    if isinstance(value, Array):
        return True
    elements = elements_of(value)
    return elements is not None and any(_has_arrays(element) for element in elements)


def _place(specs: list[TensorSpec]) -> Device | None:
    return specs[0].device if all(spec.device == specs[0].device for spec in specs) else None


def _common(specs: list[TensorSpec]) -> str | None:
    return specs[0].dtype if len({spec.dtype for spec in specs}) == 1 else None


__all__ = ["call"]

"""Questions that take too long, or more memory than there is, to be answered: they are left undecided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torchsleuth.tensors.dims import is_index, is_number
from torchsleuth.tensors.spec import DictSpec, ListSpec, ModuleSpec, TensorSpec

MAX_PARTS = 4096
"""Tensors that an operator may cut another one into."""
MAX_RANK = 64
"""Dimensions of a tensor, as in PyTorch itself."""
MAX_LAYERS = 256
"""Layers that a module may have which makes as many as an argument says."""
MAX_BITS = 4096
"""Of an integer, among the arguments or in the result of a function of Python's."""
MAX_FACTORIAL = 500
"""The number whose factorial still has so few bits."""
MAX_CHARACTERS = 1 << 20
"""Of a text among the arguments."""

_COUNTED = frozenset({"num_layers", "num_encoder_layers", "num_decoder_layers", "cutoffs"})
_COUNT_PLACES = {"LSTM": (2,), "GRU": (2,), "RNN": (2,), "TransformerEncoder": (1,), "TransformerDecoder": (1,)} | {
    "Transformer": (2, 3),
    "AdaptiveLogSoftmaxWithLoss": (2,),
}
"""Arguments by their places that say how many layers a module has."""


def too_large(target: str | ModuleSpec, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether to answer a question takes too long, or too much memory."""
    if isinstance(target, ModuleSpec):
        return too_many_layers(target) or any(map(_is_long, _flat(args)))
    if any(map(_is_long, _flat((args, tuple(kwargs.values()))))):
        return True
    package, _, name = target.rpartition(".")
    if len(args) > MAX_RANK or (name in ("getitem", "__getitem__") and any(_is_deep(arg) for arg in args[1:])):
        return True
    if package in ("math", "operator", "_operator"):
        return grows(name, args)
    return _cuts(name, args, kwargs)


def too_many_layers(recipe: ModuleSpec) -> bool:
    """Whether a module has so many layers that only to make it takes too long."""
    places = _COUNT_PLACES.get(recipe.path.rpartition(".")[2], ())
    given = [recipe.args[place] for place in places if place < len(recipe.args)]
    given += [value for name, value in recipe.kwargs if name in _COUNTED]
    inner = (*recipe.args, *(value for _, value in recipe.kwargs))
    return any(map(_is_many, given)) or any(isinstance(one, ModuleSpec) and too_many_layers(one) for one in inner)


def _is_many(count: Any) -> bool:
    if isinstance(count, tuple | ListSpec):
        return len(count.items if isinstance(count, ListSpec) else count) > MAX_LAYERS
    return isinstance(count, int) and count > MAX_LAYERS


def _flat(value: Any) -> Iterator[Any]:
    """The parts of nested arguments."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        match one:
            case tuple():
                waiting += one
            case ListSpec():
                waiting += one.items
            case DictSpec():
                waiting += (item for _, item in one.items)
            case _:
                yield one


def _is_deep(index: Any) -> bool:
    return isinstance(index, tuple) and len(index) > MAX_RANK


def _is_long(value: Any) -> bool:
    if isinstance(value, TensorSpec):
        return value.shape is not None and len(value.shape) > MAX_RANK
    if isinstance(value, str):
        return len(value) > MAX_CHARACTERS
    return isinstance(value, int) and value.bit_length() > MAX_BITS


def grows(name: str, args: tuple[Any, ...]) -> bool:
    """Whether a function of Python's makes a number, a text or a list that is too large."""
    numbers = [arg for arg in args if isinstance(arg, int)]
    bits = [number.bit_length() for number in numbers]
    if name in ("factorial", "perm", "comb"):
        # What is between a number and this many below it is as large as their product.
        taken = numbers[1:2] if name != "factorial" and len(numbers) > 1 else numbers[:1]
        if name == "comb" and len(numbers) > 1:
            taken = [min(numbers[1], abs(numbers[0] - numbers[1]))]
        return any(number > MAX_FACTORIAL for number in taken)
    if name in ("prod", "lcm", "sumprod"):
        return sum(one.bit_length() for one in _flat(args) if isinstance(one, int)) > MAX_BITS
    if name in ("pow", "ipow"):
        return len(numbers) == 2 and bits[0] * abs(numbers[1]) > MAX_BITS
    if name in ("lshift", "ilshift"):
        return len(numbers) == 2 and bits[0] + abs(numbers[1]) > MAX_BITS
    if name in ("mul", "imul", "concat", "iconcat"):
        sequences = [arg for arg in args if isinstance(arg, str | tuple | ListSpec)]
        return bool(sequences) and any(number > MAX_PARTS for number in numbers)
    return False


def _cuts(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether an operator cuts a tensor into too many."""
    shape = args[0].shape if args and isinstance(args[0], TensorSpec) else None
    if not shape or name not in _CUTTING:
        return False
    dim = kwargs.get("dim", kwargs.get("axis", args[_CUTTING[name]] if len(args) > _CUTTING[name] else 0))
    size = shape[dim] if is_index(dim, shape) else shape[0]
    if not isinstance(size, int) or size <= MAX_PARTS:
        return False
    each = next(
        (kwargs[key] for key in ("split_size_or_sections", "split_size", "chunks") if key in kwargs),
        args[1] if len(args) > 1 else None,
    )
    if name in ("unbind", "tolist", "__iter__", "iter"):
        return True
    if not is_number(each):
        return False
    count = size // each if name.endswith("split") and name in _BY_SIZE and each > 0 else each
    return count > MAX_PARTS


_BY_SIZE = frozenset({"split", "unsafe_split"})
"""Those that are told how large each part is; the others are told how many there are."""
_CUTTING = {
    **dict.fromkeys(("chunk", "unsafe_chunk", "split", "unsafe_split", "tensor_split", "array_split"), 2),
    **dict.fromkeys(("hsplit", "vsplit", "dsplit"), 2),
    **dict.fromkeys(("unbind", "tolist", "__iter__", "iter"), 1),
}
"""Operators that cut a tensor, and where they are told along which dimension."""

__all__ = ["grows", "too_large", "too_many_layers"]

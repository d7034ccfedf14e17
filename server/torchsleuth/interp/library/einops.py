"""einops: sizes read off the pattern, whether the package is installed or not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, reduce

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.models import FunctionModel, models
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import Equality, Failure, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    DictValue,
    LibraryModule,
    ListValue,
    Several,
    Tensor,
    Value,
    elements_of,
    is_unknown,
    sizes_of,
)

LAYERS = ("einops.layers.torch.Rearrange", "einops.layers.torch.Reduce")
_REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")
_TOKEN = re.compile(r"\s*(\(|\)|\.\.\.|…|[A-Za-z_]\w*|\d+)")
BARE, ELLIPSIS = "...", "…"
"""Any number of axes, by themselves or together as a part of one."""
Group = tuple[str, ...]


class Misfit(Exception):
    """An error that einops raises."""


@dataclass(frozen=True)
class Pattern:
    """``left -> right``: an axis of the tensor is a group of elementary ones, of which ``1`` is the empty group."""

    left: tuple[Group, ...]
    right: tuple[Group, ...]


@lru_cache(maxsize=512)
def parsed(text: str) -> Pattern | None:
    """None for what is no pattern, or one with axes in it that only einops understands."""
    sides = text.split("->")
    groups = [_groups(side) for side in sides]
    return (
        Pattern(groups[0], groups[1]) if len(groups) == 2 and groups[0] is not None and groups[1] is not None else None
    )


def _groups(text: str) -> tuple[Group, ...] | None:
    found: list[Group] = []
    inside: list[str] | None = None
    place = 0
    while text[place:].strip():
        token = _TOKEN.match(text, place)
        if token is None:
            return None
        place, word = token.end(), token.group(1)
        if word == "(" and inside is None:
            inside = []
        elif word == ")" and inside is not None:
            found.append(tuple(inside))
            inside = None
        elif word in "()":
            return None
        else:
            if word in (BARE, ELLIPSIS):
                word = BARE if inside is None else ELLIPSIS
            names = [] if word == "1" else [word]
            if inside is None:
                found.append(tuple(names))
            else:
                inside += names
    return None if inside is not None else tuple(found)


def _solve(
    groups: tuple[Group, ...], shape: tuple[Size, ...], sizes: dict[str, Size], interp: Interpreter
) -> list[Size]:
    """Puts the size of each axis of the left side into `sizes`; returns those that ``...`` stands for."""
    if (BARE,) in groups:
        place, more = groups.index((BARE,)), len(shape) - len(groups) + 1
        if more < 0:
            raise Misfit(f"Wrong shape: expected >={len(groups) - 1} dims. Received {len(shape)}-dim tensor.")
        hidden = list(shape[place : place + more])
        shape = (*shape[:place], *shape[place + more :])
        groups = (*groups[:place], *groups[place + 1 :])
    else:
        hidden = []
        if len(groups) != len(shape):
            raise Misfit(f"Wrong shape: expected {len(groups)} dims. Received {len(shape)}-dim tensor.")
    for group, size in zip(groups, shape):
        _divide(group, size, sizes, interp)
    return hidden


def _divide(group: Group, size: Size, sizes: dict[str, Size], interp: Interpreter) -> None:
    """One axis of a tensor, and the elementary ones that it is made of. At most one of them may be unknown."""
    unknown = [name for name in group if name not in sizes]
    known = dims.product([sizes[name] for name in group if name in sizes])
    if len(unknown) > 1:
        names = ", ".join(sorted(unknown))
        raise Misfit(f"Could not infer sizes for {{{names}}}")
    if not unknown:
        if dims.equal(known, size) is False:
            raise Misfit(f"Shape mismatch, {dims.text(size)} != {dims.text(known)}")
        return
    rest = dims.modulo(size, known) if known != 0 else 1
    if isinstance(rest, int) and rest != 0:
        raise Misfit(f"Shape mismatch, can't divide axis of length {dims.text(size)} in chunks of {dims.text(known)}")
    if rest == 0:
        sizes[unknown[0]] = size if known == 1 else dims.floor_divide(size, known)
        return
    sizes[unknown[0]] = quotient = interp.fresh_size(unknown[0])
    interp.learn(Equality(size, dims.multiply(quotient, known), soft=False))


def _compose(groups: tuple[Group, ...], sizes: dict[str, Size], hidden: list[Size]) -> tuple[Size, ...]:
    shape: list[Size] = []
    for group in groups:
        if group == (BARE,):
            shape += hidden
        else:
            shape.append(
                dims.product([size for name in group for size in (hidden if name == ELLIPSIS else [sizes[name]])])
            )
    return tuple(shape)


def _names(groups: Iterable[Group]) -> set[str]:
    found = {BARE if name == ELLIPSIS else name for group in groups for name in group}
    return {name for name in found if not name.isdigit()}


def result(
    operation: str, pattern: str, shape: tuple[Size, ...], given: dict[str, Size], interp: Interpreter
) -> tuple[Size, ...] | None:
    """The shape that an operation gives, None where the pattern is not understood. Raises Misfit."""
    both = parsed(pattern)
    if both is None:
        return None
    left, right = _names(both.left), _names(both.right)
    if operation == "rearrange" and left != right:
        names = ", ".join(f"'{name}'" for name in sorted(left ^ right))
        raise Misfit(f"Identifiers only on one side of expression (should be on both): {{{names}}}")
    if operation == "reduce" and right - left:
        names = ", ".join(f"'{name}'" for name in sorted(right - left))
        raise Misfit(f"Unexpected identifiers on the right side of reduce: {{{names}}}")
    if operation == "repeat" and BARE in left ^ right:
        return None
    for odd, text in (
        (left - right, "Unexpected identifiers on the left side of repeat"),
        (right - left - set(given), "Specify sizes for new axes in repeat"),
    ):
        if operation == "repeat" and odd:
            raise Misfit(f"{text}: {{{', '.join(map(repr, sorted(odd)))}}}")
    unused = set(given) - left - right
    if unused:
        raise Misfit(f"Axis {sorted(unused)[0]} is not used in transform")
    numbers: dict[str, Size] = {
        name: int(name) for group in (*both.left, *both.right) for name in group if name.isdigit()
    }
    sizes: dict[str, Size] = {**numbers, **given}
    hidden = _solve(both.left, shape, sizes, interp)
    return _compose(both.right, sizes, hidden)


def _axes(interp: Interpreter, kwargs: dict[str, Value]) -> dict[str, Size] | None:
    """The sizes that are given by name, None where one is none. What is not known is a size all the same."""
    sizes = {
        name: interp.fresh_size(name) if is_unknown(value) else interp.resolved(value) for name, value in kwargs.items()
    }
    known = sizes_of(sizes.values())
    return None if known is None else dict(zip(sizes, known))


def _asked(interp: Interpreter, pattern: str, given: dict[str, Size]) -> tuple[Size, ...] | None:
    """The shape that a pattern takes, its sizes named as in it; None where that may be of any rank or is not said."""
    both = parsed(pattern)
    if both is None or (BARE,) in both.left:
        return None
    unknown = [[name for name in group if not name.isdigit() and name not in given] for group in both.left]
    if any(len(names) > 1 or ELLIPSIS in names for names in unknown):
        return None
    sizes = {**given, **{name: interp.fresh_size(name) for names in unknown for name in names}}
    return tuple(dims.product([int(name) if name.isdigit() else sizes[name] for name in group]) for group in both.left)


def _source(interp: Interpreter, value: Value) -> TensorSpec | None:
    """The tensor that is rearranged; a list of tensors is one with another dimension in front."""
    if isinstance(value, Tensor):
        return interp.resolved_spec(value.spec)
    elements = elements_of(value)
    if not elements or not all_are(elements, Tensor):
        return None
    specs = [interp.resolved_spec(element.spec) for element in elements]
    if any(spec.shape is None or spec.shape != specs[0].shape or spec.dtype != specs[0].dtype for spec in specs):
        return None
    count: Size = interp.fresh_size("batch") if isinstance(elements, Several) else len(elements)
    return specs[0].with_(shape=(count, *(specs[0].shape or ())), strides=None)


def _applied(
    interp: Interpreter, operation: str, pattern: Value, kwargs: dict[str, Value], call: Arguments, name: str
) -> Value:
    """The tensor that comes out of ``call.args[0]``; a misfit is reported as what einops raises."""
    spec = _source(interp, call.args[0]) if call.args else None
    axes = _axes(interp, kwargs)
    if spec is None or not isinstance(pattern, str) or axes is None:
        return UNKNOWN
    if spec.shape is None:
        shape = _asked(interp, pattern, axes)
        if shape is None or not isinstance(call.args[0], Tensor):
            return Tensor(spec.with_(strides=None))
        interp.found_shape(call.args[0], shape)
        spec = call.args[0].spec
    try:
        shape = result(operation, pattern, spec.shape or (), axes, interp)
    except Misfit as misfit:
        made = interp.operation(f"einops.{name}", call.args, call.kwargs, call.node, call.frame, None, call.written)
        interp.stopped = True
        interp.report(made, Failure("EinopsError", f'"{pattern}": {misfit}', confirmed=True))
        shape = None
    return interp.gathered(f"einops.{name}", spec.with_(shape=shape, strides=None), call)


@models(*LAYERS, pure=True)
def _layer(interp: Interpreter, call: Arguments) -> Value:
    return LibraryModule(call.path, call.args, call.kwargs, interp.site(call.node, call.frame))


def _function(*names: str) -> Callable[[FunctionModel], FunctionModel]:
    """Register a function of einops. It changes nothing, also where it gives what is not known."""

    def register(model: FunctionModel) -> FunctionModel:
        def called(interp: Interpreter, call: Arguments) -> Value:
            return model(interp, call) if call.exact else UNKNOWN

        return models(*(f"einops.{name}" for name in names), pure=True)(called)

    return register


models("einops.*", pure=True)(lambda interp, call: UNKNOWN)


@_function("rearrange", "repeat")
def _rearrange(interp: Interpreter, call: Arguments) -> Value:
    return _applied(interp, call.name, call.given(1, "pattern"), _given(call, "pattern"), call, call.name)


@_function("reduce")
def _reduce(interp: Interpreter, call: Arguments) -> Value:
    if not _is_plain(call.given(2, "reduction")):
        return UNKNOWN
    return _applied(interp, "reduce", call.given(1, "pattern"), _given(call, "pattern", "reduction"), call, "reduce")


@_function("einsum")
def _einsum(interp: Interpreter, call: Arguments) -> Value:
    pattern = as_kind(call.args[-1], str) if len(call.args) > 1 else None
    letters = _lettered(pattern) if pattern is not None else None
    if letters is None:
        return UNKNOWN
    return interp.operate("torch.einsum", (letters, *call.args[:-1]), {}, call.node, call.frame)


@_function("parse_shape")
def _parse(interp: Interpreter, call: Arguments) -> Value:
    if len(call.args) != 2 or not isinstance(call.args[1], str):
        return UNKNOWN
    return _parse_shape(interp, call.args[0], call.args[1])


@_function("pack")
def _pack(interp: Interpreter, call: Arguments) -> Value:
    """The tensors as one, and the sizes that each has in the place of the star."""
    around, tensors = _starred(call.given(1, "pattern")), elements_of(call.args[0]) if call.args else None
    if around is None or not tensors or isinstance(tensors, Several) or not all_are(tensors, Tensor):
        return UNKNOWN, UNKNOWN
    specs = [interp.resolved_spec(tensor.spec) for tensor in tensors]
    shapes = [spec.shape for spec in specs if spec.shape is not None and len(spec.shape) >= sum(around)]
    if len(shapes) < len(specs) or len({spec.dtype for spec in specs}) > 1:
        return UNKNOWN, UNKNOWN
    split = [_split(shape, around) for shape in shapes]
    first, _, last = split[0]
    for before, _, after in split[1:]:
        for left, right in zip((*first, *last), (*before, *after)):
            interp.learn(Equality(left, right, soft=False), interp.site(call.node, call.frame))
    whole = reduce(dims.add, (dims.product(middle) for _, middle, _ in split))
    packed = interp.gathered("einops.pack", specs[0].with_(shape=(*first, whole, *last), strides=None), call)
    return packed, ListValue(tuple(middle for _, middle, _ in split))


@_function("unpack")
def _unpack(interp: Interpreter, call: Arguments) -> Value:
    """The parts of a tensor in which the sizes of each stand in the place of the star."""
    around, packed = _starred(call.given(2, "pattern")), as_kind(call.first, Tensor)
    parts = elements_of(call.given(1, "packed_shapes"))
    if around is None or not parts or isinstance(parts, Several) or packed is None:
        return UNKNOWN
    spec = interp.resolved_spec(packed.spec)
    middles = [sizes_of(elements) if (elements := elements_of(part)) is not None else None for part in parts]
    if spec.shape is None or len(spec.shape) != sum(around) + 1 or not all(map(_is_counted, middles)):
        return ListValue(tuple(Tensor(spec.with_(shape=None, strides=None)) for _ in parts))
    first, whole, last = _split(spec.shape, around)
    counted = reduce(dims.add, (dims.product(middle) for middle in middles if middle is not None))
    interp.learn(Equality(whole[0], counted, soft=False), interp.site(call.node, call.frame))
    shapes = ((*first, *middle, *last) for middle in middles if middle is not None)
    return ListValue(
        tuple(interp.gathered("einops.unpack", spec.with_(shape=shape, strides=None), call) for shape in shapes)
    )


def _starred(pattern: Value) -> tuple[int, int] | None:
    """How many axes there are before and behind the star in ``b * c``."""
    axes = pattern.split() if isinstance(pattern, str) else []
    if axes.count("*") != 1 or not all(axis == "*" or axis.isidentifier() for axis in axes):
        return None
    return axes.index("*"), len(axes) - axes.index("*") - 1


Shape = tuple[Size, ...]


def _split(shape: Shape, around: tuple[int, int]) -> tuple[Shape, Shape, Shape]:
    before, behind = around[0], len(shape) - around[1]
    return shape[:before], shape[before:behind], shape[behind:]


def _is_counted(sizes: Shape | None) -> bool:
    return sizes is not None and all(not isinstance(size, int) or size >= 0 for size in sizes)


def _given(call: Arguments, *others: str) -> dict[str, Value]:
    return {name: value for name, value in call.kwargs.items() if name not in (*others, "tensor")}


def _is_plain(reduction: Value) -> bool:
    """Whether a reduction keeps the dtype; a function of the user's may do anything."""
    return isinstance(reduction, str) and reduction in _REDUCTIONS[:5]


def _lettered(pattern: str) -> str | None:
    """``"batch time, time -> batch"`` as ``torch.einsum`` writes it."""
    letters: dict[str, str] = {}

    def letter(match: re.Match[str]) -> str:
        return letters.setdefault(match.group(), chr(ord("a") + len(letters)) if len(letters) < 26 else "?")

    text = re.sub(r"[A-Za-z_]\w*", letter, pattern).replace(" ", "")
    return text if re.fullmatch(r"[a-z.,]*->[a-z.]*", text) else None


def _parse_shape(interp: Interpreter, tensor: Value, pattern: str) -> Value:
    shape = interp.resolved_spec(tensor.spec).shape if isinstance(tensor, Tensor) else None
    names = pattern.split()
    if shape is None or len(names) != len(shape) or not all(name.isidentifier() for name in names):
        return UNKNOWN
    return DictValue({name: size for name, size in zip(names, shape) if name != "_"})


def run(interp: Interpreter, module: LibraryModule, call: Arguments) -> Value:
    """A call of a layer."""
    from dataclasses import replace

    operation = module.type_name.lower()
    arguments = replace(call, args=module.args, kwargs=module.kwargs)
    others = ("pattern", "reduction") if operation == "reduce" else ("pattern",)
    if len(call.args) != 1 or call.kwargs or (operation == "reduce" and not _is_plain(arguments.given(1, "reduction"))):
        return UNKNOWN
    return _applied(interp, operation, arguments.given(0, "pattern"), _given(arguments, *others), call, operation)


__all__ = ["LAYERS", "Misfit", "parsed", "result", "run"]

"""Parameters of distributions that have to be positive, such as a scale, and are not: what TS314 says of torch.distributions."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.explanations import POSITIVE
from torchsleuth.interp.marks import ACTIVATIONS, KEPT_BY
from torchsleuth.interp.trace import LibraryCall, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import LAYERS, applied, layer_places
from torchsleuth.rules.evidence.describe import call_trail, expression_text
from torchsleuth.rules.evidence.operands import appended, lineage, package_name, replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding
from torchsleuth.schema import Related, Span
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax.forms import argument_of, is_spread, loads
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.values import Parameters, Tensor, Value, is_unknown, items_of

_DISTRIBUTIONS = "torch.distributions."
_BOTH_SIGNS = ACTIVATIONS - frozenset("relu ReLU relu6 ReLU6 softplus Softplus".split())
"""Activations that are negative for what is negative."""
_CLAMPS = frozenset("clamp clip clamp_ clip_".split())
_MAX_STEPS = 12
_SMALL = 0.01
"""The most that is added so that nothing is zero; more than that may be meant to make it positive."""
_FILLED = {"zeros": 0.0, "zeros_like": 0.0, "new_zeros": 0.0, "ones": 1.0, "ones_like": 1.0, "new_ones": 1.0}
_MONOTONE: dict[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in ("exp", "log", "log2", "log10", "log1p", "sqrt", "tanh")},
    **{name: getattr(operator, name) for name in ("neg", "add", "sub", "mul", "truediv")},
    "div": operator.truediv,
}
"""Functions of one tensor, and perhaps a number, that keep the order of the elements or turn it around."""
_LOGARITHM = re.compile(r"log(?!it|ic|s\b)")


def not_positive(analysis: Analysis) -> Iterator[Finding]:
    """Scales, rates and their like that are the raw output of a layer, or hold nothing but numbers that are not positive."""
    if any(path.endswith(".set_default_validate_args") for path in analysis.calls):
        return
    seen: set[tuple[Span, str]] = set()
    for call in analysis.trace.calls:
        wanted = POSITIVE.get(call.name) if call.path.startswith(_DISTRIBUTIONS) else None
        if wanted is None or call.guarded or call.given(len(call.args), "validate_args") is False:
            continue
        for name, position in wanted.items():
            value = as_kind(call.given(position, name), Tensor)
            found = _finding(analysis, call, name, value) if value is not None else None
            if found is not None and (call.site.span, name) not in seen:
                seen.add((call.site.span, name))
                yield found


def _finding(analysis: Analysis, call: LibraryCall, name: str, value: Tensor) -> Finding | None:
    node = _written(call, name)
    words = {"value": expression_text(node, f"the {name}"), "name": name, "distribution": call.name}
    trail: tuple[Related, ...] = tuple(call_trail(call.site.scene, limit=1))
    held = _content(analysis, value)
    if held is not None:
        if held[1] > 0:
            return None
        fixes = list(_candidates(call, node, ""))
        text = message("likelihood.filled", number=f"{held[1]:.3g}", **words)
        return Finding(call.site.span, text, trail, fixes, severity="error" if call.certain else None)
    raw = _of_both_signs(analysis, value)
    if raw is None:
        return None
    places, layer = raw
    text = message("likelihood.scale", layer=layer, **words)
    return Finding(call.site.span, text, (*places, *trail), list(_candidates(call, node, layer)))


def _written(call: LibraryCall, name: str) -> ast.expr | None:
    written = call.site.call
    position = POSITIVE[call.name][name]
    if written is None or is_spread(written.args):
        return None
    return argument_of(written, position, name)


def _candidates(call: LibraryCall, node: ast.expr | None, layer: str) -> Iterator[Candidate]:
    """exp() first where a name says that it is a logarithm, of half of it for that of a variance; otherwise softplus()."""
    if node is None:
        return
    site, text = call.site, call.site.source.segment(node)
    package = package_name(site, "torch.nn.functional")
    softplus = () if package is None else (replaced(site, node, f"{package}.softplus({text})", safe=False),)
    if not _LOGARITHM.search(f"{text} {layer}".lower()):
        yield from softplus
    elif "var" in f"{text} {layer}".lower():
        yield replaced(site, node, f"(0.5 * {text}).exp()", safe=False)
    yield appended(site, node, ".exp()", safe=False)
    yield from softplus


# -- outputs of layers -----------------------------------------------------------------------------


def _of_both_signs(analysis: Analysis, value: Tensor) -> tuple[list[Related], str] | None:
    """Where a tensor that takes both signs was put out by a layer or an activation, and its name."""
    raw = _unclamped(analysis, value)
    if raw is None:
        return None
    if "activation" in raw.tags:
        activation = applied(analysis, raw, tuple(ACTIVATIONS))
        if activation is None or activation.name not in _BOTH_SIGNS:
            return None
        span = activation.site.span
        here = span.related(message("activation.here", activation=activation.name))
        return [here], activation.name
    if any(map(_shifts, _behind(analysis, raw))) or _has_bias(analysis, applied(analysis, raw, LAYERS)):
        return None
    return layer_places(analysis, raw)


def _unclamped(analysis: Analysis, value: Tensor) -> Tensor | None:
    """The output of a layer or an activation that a tensor holds, perhaps clamped between bounds of both signs."""
    for _ in range(_MAX_STEPS):
        if value.tags & {"logits", "activation"}:
            return value
        origin = value.origin
        operation = analysis.operation_of(origin)
        if origin is None or operation is None or not origin.sources:
            return None
        name = operation.name
        if name not in KEPT_BY and not (name in _CLAMPS and _lets_negative(operation)):
            return None
        value = origin.sources[0]
    return None


def _lets_negative(clamp: Operation) -> bool:
    """Whether a clamp is known to let negative numbers pass."""
    least = clamp.given(1, "min")
    return least is None or (isinstance(least, int | float) and least < 0)


def _behind(analysis: Analysis, raw: Tensor) -> Iterator[Operation]:
    """The operations after the layer."""
    for _, operation in lineage(analysis, raw):
        if operation.name in LAYERS:
            return
        yield operation


def _shifts(operation: Operation) -> bool:
    """Whether an operation adds a number that may make all elements positive, or one that is not known."""
    if operation.bare_name.removeprefix("i") not in ("add", "sub"):
        return False
    numbers = [value for value in operation.args if not isinstance(value, Tensor)]
    return any(not isinstance(number, int | float) or abs(number) > _SMALL for number in numbers)


def _has_bias(analysis: Analysis, layer: Operation | None) -> bool:
    """Whether the bias of a layer was given other numbers than zero."""
    if layer is None or layer.module is None:
        return False
    module = layer.module
    for call in (call for calls in analysis.calls.values() for call in calls if _fills(call)):
        given = as_kind(call.args[0] if call.path.startswith("torch.nn.init.") and call.args else call.receiver, Tensor)
        mine = given is not None and given.owner is module and given.member == "bias"
        if mine and not call.path.endswith("zero_") and not call.path.endswith("zeros_") and call.given(1, "val") != 0:
            return True
    return False


def _fills(call: LibraryCall) -> bool:
    return call.path.startswith("torch.nn.init.") or is_in_place(call.path)


# -- numbers that a script writes ------------------------------------------------------------------


def _content(analysis: Analysis, value: Tensor) -> tuple[float, float] | None:
    """The least and the greatest element of a tensor that was made of numbers alone, and not changed by hand since."""
    if _is_changed(analysis, value):
        return None
    origin = value.origin
    operation = analysis.operation_of(origin)
    name = origin.name if origin is not None else ""
    if origin is None or operation is None:
        return None
    made = _made(operation, name)
    if made is not None:
        return made
    if name in KEPT_BY and origin.sources:
        return _content(analysis, origin.sources[0])
    if name not in _MONOTONE or len(origin.sources) != 1 or operation.kwargs:
        return None
    inner = _content(analysis, origin.sources[0])
    ends = [_computed(_MONOTONE[name], operation.args, number) for number in inner or ()]
    known = [number for number in ends if number is not None]
    return (min(known), max(known)) if known and len(known) == len(ends) else None


def _made(operation: Operation, name: str) -> tuple[float, float] | None:
    """The least and the greatest number that a tensor is made of."""
    given = operation.args
    number: Value = _FILLED.get(name)
    if name in ("full", "full_like", "new_full"):
        number = operation.kwargs.get("fill_value", given[-1] if len(given) > 1 else None)
    elif name in ("tensor", "as_tensor") and given:
        numbers = of_kind(items_of(given[0]) or (given[0],), int, float)
        exact = len(numbers) == len(items_of(given[0]) or (given[0],))
        return (min(numbers), max(numbers)) if exact else None
    return (number, number) if isinstance(number, int | float) else None


def _computed(function: Callable[..., float], args: tuple[Value, ...], number: float) -> float | None:
    """A function of a number in the place of the tensor; the logarithm of zero is below everything."""
    given: list[Any] = [number if isinstance(part, Tensor) else part for part in args]
    if not all_are(given, int, float):
        return None
    if function in (math.log, math.log2, math.log10) and number == 0:
        return -math.inf
    try:
        return function(*given)
    except (ArithmeticError, TypeError, ValueError):
        return None


def _is_changed(analysis: Analysis, value: Tensor) -> bool:
    """Whether something else than an optimizer may have written into a tensor since it was made."""
    if not value.parameter:
        return value.storage.slots.get("version") != 0
    if "torch.load" in analysis.calls or any(_may_write(call, value) for call in analysis.trace.calls):
        return True
    if any(
        _is_same(part, value) for written in filter(_writes, analysis.trace.operations) for part in written.tensors[:1]
    ):
        return True
    return value.origin is None or _sets_data(analysis, value.origin.site.span.path)


def _writes(operation: Operation) -> bool:
    name = operation.name
    return is_in_place(operation.target) or name == "setitem" or name.startswith("__i")


def _is_same(part: Tensor, value: Tensor) -> bool:
    """Whether two tensors share their memory, as ``x.data`` and x do."""
    return part.storage is value.storage or (part.origin is not None and part.origin is value.origin)


def _sets_data(analysis: Analysis, path: str) -> bool:
    """Whether a file has an assignment to ``x.data``, or to a part of it."""
    index = analysis.index(path)
    for node in index.of_type(ast.Attribute):
        around = as_kind(index.parents.get(node), ast.Subscript)
        place = around if around is not None else node
        if node.attr == "data" and not loads(place):
            return True
    return False


def is_rewritten(analysis: Analysis, value: Tensor) -> bool:
    """Whether a parameter may be written into by hand, again and again."""
    written = (one for one in analysis.trace.operations if one.loops and _writes(one))
    return any(_is_same(part, value) for one in written for part in one.tensors[:1]) or (
        value.origin is not None and _sets_data(analysis, value.origin.site.span.path)
    )


def _may_write(call: LibraryCall, value: Tensor) -> bool:
    """Whether a call initialises a tensor; also one that is not known."""
    if not call.path.startswith("torch.nn.init."):
        return False
    given = call.given(0, "tensor")
    return given is value or isinstance(given, Parameters) or is_unknown(given)


__all__ = ["is_rewritten", "not_positive"]

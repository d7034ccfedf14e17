"""Demands of Python on tensors beside operators: to be one number or a text, or to take other values into a part."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchsleuth.interp import kinds, misuse, misuses
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.misuses import Misuse
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.comparisons import COMPARED, comparisons
from torchsleuth.syntax.forms import is_attribute, is_method_call, is_name, nodes_in
from torchsleuth.tensors.dims import Dim, is_index
from torchsleuth.tensors.spec import Failure, Result, TensorSpec
from torchsleuth.values import AnyIndex, ClassValue, Instance, SliceValue, Tensor, Value, tuple_of
from torchsleuth.values.frames import Frame


def as_number(interp: Interpreter, value: Value, kind: str, node: ast.AST, frame: Frame) -> None:
    """``int(x)``, ``float(x)`` or ``if x:``. `kind`: int, float or bool. Only tensors of one element are numbers."""
    if kind == "bool":
        misuse.asks_mode(interp, value, node, frame)
    if isinstance(value, Tensor):
        count = as_kind(interp.resolved_spec(value.spec).numel(), int)
        if count is not None and count != 1:
            interp.operate(f"Tensor.__{kind}__", (value,), {}, node, frame)


def as_text(interp: Interpreter, value: Value, form: Value, node: ast.AST, frame: Frame) -> None:
    """``f"{x:.3f}"``: only a tensor of one number has forms."""
    if isinstance(value, Tensor) and isinstance(form, str) and form and interp.resolved_spec(value.spec).rank:
        interp.operate("Tensor.__format__", (value, form), {}, node, frame)


def as_truth(interp: Interpreter, test: ast.expr, frame: Frame) -> bool | None:
    """Whether a condition holds, None where that is not known."""
    value = interp.eval(test, frame)
    as_number(interp, value, "bool", test, frame)
    kinds.decides(interp, value, test, frame)
    interp.tested = interp.heap.conditions.of(value)
    return interp.truth(value)


def refused(interp: Interpreter, test: ast.expr, holds: bool, raised: ast.expr | None, frame: Frame) -> None:
    """The code raises, for a test holds or does not: where a comparison of numbers or sizes decides that, it refuses what the
    function was called with. `raised`: the exception, None for an ``assert``."""
    if frame.call is None or interp.entry or interp.uncertain or interp.is_inferring():
        return
    if interp.catching.levels and _is_own(interp, raised, frame):
        return  # A program with errors of its own expects them where it catches errors.
    for name, left, right in comparisons(test, holds):
        if all(map(_is_plain, (left, right))):
            values = interp.resolved(interp.eval(left, frame)), interp.resolved(interp.eval(right, frame))
            alike = isinstance(values[0], tuple) == isinstance(values[1], tuple)
            if alike and all(map(_is_measure, values)) and not COMPARED[name](*values):
                refusal = misuses.Refusal(name, left, right, values)
                misuse.report(interp, Misuse(misuses.REFUSED, interp.site(test, frame), refusal))
                return


def _is_own(interp: Interpreter, raised: ast.expr | None, frame: Frame) -> bool:
    """Whether an exception is of a class of the program."""
    kind = raised.func if isinstance(raised, ast.Call) else raised
    return kind is not None and isinstance(interp.eval(kind, frame), ClassValue | Instance)


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression does nothing but read: names, their attributes and shapes, arithmetic of these."""
    calls = nodes_in(node, ast.Call)
    return all(is_name(call.func, "len") or is_method_call(call, "size", "dim") for call in calls) and not any(
        isinstance(one, ast.NamedExpr | ast.Await | ast.Lambda) for one in ast.walk(node)
    )


def _is_measure(value: Value) -> bool:
    parts = value if isinstance(value, tuple) else (value,)
    return all(isinstance(part, int | float) and not isinstance(part, bool) for part in parts)


def of_shape(interp: Interpreter, shape: Value, key: Value, node: ast.Subscript, frame: Frame) -> None:
    """``x.shape[key]``: a dimension that there is, as for ``x.size(key)``. `shape`: what ``x.shape`` has given."""
    if not isinstance(shape, tuple) or not isinstance(key, int) or is_index(key, shape):
        return
    taken = node.value
    if is_attribute(taken, "shape") and isinstance(taken.value, ast.Name):
        tensor = as_kind(interp.eval(taken.value, frame), Tensor)
        if tensor is not None:
            interp.operate("Tensor.size", (tensor, key), {}, node, frame)


def to_part(interp: Interpreter, container: Tensor, key: Value, value: Value, node: ast.AST, frame: Frame) -> None:
    """``x[key] = value``, with an index of integers and slices: there is such a part, and the value fits into it."""
    spec = interp.resolved_spec(container.spec)
    index = None if spec.shape is None else _index(interp, key, spec.shape)
    if index is None:
        _to_chosen(interp, container, key, value, node, frame)
        return
    # Whether gradients let it be written to is another question.
    reading = interp.operation("operator.getitem", (_plain(spec), index), {}, node, frame, None)
    part = interp.asked(reading)
    if isinstance(part, Failure):
        interp.report(replace(reading, args=(container, key), operands=(container,)), part)
    if not isinstance(value, Tensor):
        return
    given = interp.resolved_spec(value.spec)
    shape = part.value.shape if isinstance(part, Result) else None
    if given.shape is None or shape is None or given.shape in ((), shape):
        return
    place = _plain(part.value)
    writing = interp.operation("operator.setitem", (place, ..., _plain(given)), {}, node, frame, None)
    outcome = as_kind(interp.asked(writing), Failure)
    if outcome is not None:
        interp.report(replace(writing, args=(place, value), operands=(place, value)), outcome)


def _to_chosen(interp: Interpreter, container: Tensor, key: Value, value: Value, node: ast.AST, frame: Frame) -> None:
    """``x[rows] = value`` with an index that is a tensor: the value has to have the dtype of `x`, whatever is chosen."""
    parts = tuple_of(key)
    chosen = any(interp.resolved_spec(part.spec).rank for part in of_kind(parts, Tensor))
    if not chosen or not isinstance(value, Tensor):
        return
    spec, given = interp.resolved_spec(container.spec), interp.resolved_spec(value.spec)
    if given.dtype is None or spec.dtype is None or given.dtype == spec.dtype or not given.rank:
        return
    one = TensorSpec((1,), "int64", given.device, False)
    places = (_plain(spec.with_(shape=(2,))), Tensor(one), _plain(given.with_(shape=(1,))))
    writing = interp.operation("operator.setitem", places, {}, node, frame, None)
    outcome = as_kind(interp.asked(writing), Failure)
    if outcome is not None:
        place = _plain(spec)
        interp.report(replace(writing, args=(place, value), operands=(place, value)), outcome)


def _plain(spec: TensorSpec) -> Tensor:
    return Tensor(spec.with_(requires_grad=False, strides=None))


def _index(interp: Interpreter, key: Value, shape: tuple[object, ...]) -> Value | None:
    """The index as the oracle is asked about it, None for others. Which one of the positions it picks is all the same."""
    parts = list(tuple_of(key))
    simple = all(part is not None and part is not ... for part in parts) and len(parts) <= len(shape)
    for place, part in enumerate(parts):
        part = interp.resolved(part)
        match part:
            case SliceValue():
                if not all(
                    bound is None or isinstance(bound, int | float) for bound in (part.start, part.stop, part.step)
                ):
                    return None
            case Dim():
                parts[place] = AnyIndex(0)
            case int() if not isinstance(part, bool):
                size = as_kind(shape[place], int) if simple else None
                if size is not None and -size <= part < size:
                    parts[place] = AnyIndex(0)
            case _ if part is not None and part is not ...:
                return None
    return tuple(parts) if isinstance(key, tuple) else parts[0]


__all__ = ["as_number", "as_text", "as_truth", "to_part"]

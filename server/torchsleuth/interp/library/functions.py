"""Operators of the user's own: subclasses of ``torch.autograd.Function``, their forward and their backward."""

from __future__ import annotations

from dataclasses import replace

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library.hierarchy import tensors_in
from torchsleuth.interp.models import Result, method, models
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.tensors.spec import Failure, Native, is_differentiable
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    Builtin,
    ClassValue,
    Function,
    LibraryObject,
    NamedResult,
    Tensor,
    Value,
    is_unknown,
    tuple_of,
)
from torchsleuth.values.graph import GraphNode, is_leaf, node_of

CONTEXT = "torch.autograd.function.FunctionCtx"


def is_function(cls: Value) -> bool:
    bases = cls.mro() if isinstance(cls, ClassValue) else ()
    return any(base.path.rpartition(".")[2] == "Function" for base in of_kind(bases, Native))


def attribute(interp: Interpreter, cls: ClassValue, name: str) -> Value:
    """``cls.apply``"""
    return Builtin("apply", lambda call: _apply(interp, cls, call)) if name == "apply" else UNKNOWN


def _apply(interp: Interpreter, cls: ClassValue, call: Arguments) -> Value:
    forward, setup = (_method(interp, cls, name) for name in ("forward", "setup_context"))
    if forward is None or not call.exact or call.kwargs:
        interp.escape((*call.args, *call.kwargs.values()))
        return UNKNOWN
    site = interp.site(call.node, call.frame)
    context = LibraryObject(CONTEXT, (), {}, site)
    given = tensors_in(call.args)
    wanted = [value.spec.requires_grad if isinstance(value, Tensor) else False for value in call.args]
    context.slots["needs_input_grad"] = tuple(wanted) if None not in wanted else UNKNOWN
    apart = setup is not None
    mode = interp.grad
    interp.grad = False
    try:
        value = interp.call(forward, replace(call, args=call.args if apart else (context, *call.args)))
        if apart:
            interp.call(setup, replace(call, args=(context, call.args, value)))
    finally:
        interp.grad = mode
    if is_unknown(value):
        interp.escape(call.args)
        return UNKNOWN
    if context.identity not in interp.trace.escaped:
        context.slots.setdefault("saved_tensors", ())
    grads = [tensor.spec.requires_grad for tensor in given]
    recorded = False if mode is False or not any(grad is not False for grad in grads) else None
    recorded = True if mode and True in grads else recorded
    inputs = tuple(dict.fromkeys(node for tensor in given if (node := node_of(tensor)) is not None))
    leaves = tuple(tensor for tensor in given if is_leaf(tensor) and tensor.spec.requires_grad)
    node = GraphNode(cls.name, site, inputs, None, leaves, open=True, entry=interp.entry)
    results = _recorded(value, recorded, node, frozenset(item for tensor in given for item in tensor.history))
    if recorded is not False:
        _try_backward(interp, cls, context, results, call)
    return results


def _method(interp: Interpreter, cls: ClassValue, name: str) -> Function | Bound | None:
    """A method of the user's as it is called through the class: static, or with the class in front."""
    found = as_kind(interp.class_attribute(cls, name), Function)
    if found is None:
        return None
    return Bound(cls, found) if found.kind == "classmethod" else found


def _recorded(value: Value, recorded: bool | None, node: GraphNode, history: frozenset[int]) -> Value:
    """The result of ``forward``, as ``apply`` returns it: new tensors with a place in the graph."""
    if isinstance(value, tuple) and not isinstance(value, NamedResult):
        return tuple(_recorded(item, recorded, node, history) for item in value)
    if not isinstance(value, Tensor):
        return value
    dtype = value.spec.dtype
    integral = not is_differentiable(dtype)
    grad = False if integral else recorded
    made = Tensor(
        value.spec.with_(requires_grad=grad), value.origin, value.tags, history if grad is not False else frozenset()
    )
    made.slots["node"] = node if grad is not False else None
    return made


def _try_backward(
    interp: Interpreter, cls: ClassValue, context: LibraryObject, results: Value, call: Arguments
) -> None:
    """Call what the autograd engine will call: ``backward(ctx, *grads)``, once for each kind of results."""
    backward = _method(interp, cls, "backward")
    outputs = tuple_of(results)
    if backward is None or not all_are(outputs, Tensor):
        return
    specs = tuple(interp.resolved_spec(tensor.spec).with_(requires_grad=False, strides=None) for tensor in outputs)
    saved = tuple(tensor.spec for tensor in tensors_in(context.slots.get("saved_tensors", ())))
    key = (cls.node, specs, saved)
    if key not in interp.failures_seen:
        interp.failures_seen.add(key)
        grads = tuple(map(Tensor, specs))

        def run() -> None:
            given = interp.call(backward, replace(call, args=(context, *grads), kwargs={}))
            gradients = tuple_of(given)
            _count_gradients(interp, cls, gradients, call)
            _check_gradients(interp, cls, gradients, call)

        interp.aside(run)


def _count_gradients(interp: Interpreter, cls: ClassValue, gradients: tuple[Value, ...], call: Arguments) -> None:
    """Whether ``backward`` returned one gradient, or None, for each input of ``forward``; beyond those, only None."""
    wanted, got = len(call.args), len(gradients)
    trained = any(one.spec.requires_grad for one in of_kind(call.args, Tensor))
    if any(map(is_unknown, gradients)) or not trained or got == wanted:
        return
    if got < wanted or any(one is not None for one in gradients[wanted:]):
        text = f"function {cls.name}Backward returned an incorrect number of gradients (expected {wanted}, got {got})"
        tensors = tensors_in(call.args)
        operation = interp.operation(f"{cls.name}.backward", tuple(tensors), {}, call.node, call.frame, None)
        interp.report(replace(operation, written=False), Failure("RuntimeError", text, confirmed=True))


def _check_gradients(interp: Interpreter, cls: ClassValue, gradients: tuple[Value, ...], call: Arguments) -> None:
    """Whether the engine takes what ``backward`` returned: for each input a gradient that can be summed to its shape."""
    for place, (tensor, gradient) in enumerate(zip(call.args, gradients)):
        if not isinstance(tensor, Tensor) or not isinstance(gradient, Tensor) or not tensor.spec.requires_grad:
            continue
        wanted, got = (interp.resolved_spec(part.spec).shape for part in (tensor, gradient))
        if wanted is None or got is None or not all_are((*wanted, *got), int):
            continue
        ends = zip(wanted[::-1], got[::-1])
        if len(wanted) > len(got) or any(size not in (1, given) for size, given in ends):
            text = (
                f"Function {cls.name}Backward returned an invalid gradient at index {place} - got {list(got)} "
                f"but expected shape compatible with {list(wanted)}"
            )
            operation = interp.operation(f"{cls.name}.backward", (tensor, gradient), {}, call.node, call.frame, None)
            interp.report(replace(operation, written=False), Failure("RuntimeError", text, confirmed=True))


@models(CONTEXT)
class Context(Result):
    """The ``ctx`` that forward and backward are given."""

    @method
    def save_for_backward(self, call: Arguments) -> Value:
        self.interp.heap.set(self.value.slots, "saved_tensors", call.args if call.exact else UNKNOWN)
        return None

    def other(self, call: Arguments) -> Value:
        return None


__all__ = ["attribute", "is_function"]

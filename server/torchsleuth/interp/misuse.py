"""Values that are used as something else than they are: a method for its result, an iterator for a second time, a result
for the object whose method gave it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchsleuth.interp.frames import Frame
from torchsleuth.interp.trace import Misuse
from torchsleuth.interp.values import (
    Bound,
    DictValue,
    Function,
    LibraryObject,
    ListValue,
    NamedResult,
    Parameters,
    Ref,
    Scalar,
    Tensor,
    Value,
    is_module,
)
from torchsleuth.tensors.dims import Dim
from torchsleuth.tensors.spec import Native

if TYPE_CHECKING:
    from torchsleuth.interp.calls import Arguments
    from torchsleuth.interp.interpreter import Interpreter

_TENSOR_METHODS = frozenset(
    "item mean sum float long int half double bool cpu cuda numpy tolist detach clone squeeze size dim numel backward "
    "contiguous abs sqrt exp log std var flatten argmax sigmoid relu tanh t".split()
)
_MODULE_METHODS = frozenset("parameters named_parameters children modules state_dict train eval zero_grad".split())
_OPTIMIZER_METHODS = frozenset({"step", "zero_grad", "state_dict"})
_MANAGERS = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.autocast", "torch.amp.autocast")
_NEEDING = ("torch.optim.LBFGS", "torch.optim.lr_scheduler.ReduceLROnPlateau")
KEYS = ("missing_keys", "unexpected_keys")
"""The names in what ``load_state_dict()`` gives."""
PAIR = ("values", "indices")
"""The names in what ``torch.max(x, dim)`` and its like give."""


def needs_result(interp: Interpreter, value: Value, node: ast.AST, frame: Frame) -> None:
    """A value that is iterated over, computed with, or formatted: a method is nothing of the kind."""
    if isinstance(value, Bound | Function) and _is_method(value):
        _report(interp, Misuse("uncalled", interp.site(node, frame), value))


def computes(interp: Interpreter, left: Value, right: Value, node: ast.AST, frame: Frame) -> None:
    """An operation of two values, of which one is a number or a tensor."""
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Tensor | int | float | Scalar | Dim):
            needs_result(interp, one, node, frame)
            if isinstance(one, NamedResult) and one.of is None and one.fields == PAIR:
                _report(interp, Misuse("pair", interp.site(node, frame), one))


def enters(interp: Interpreter, manager: Value, node: ast.AST, frame: Frame) -> None:
    """``with manager:``. A class is none, and neither is a method."""
    plain = isinstance(manager, Native) and manager.path in _MANAGERS
    if plain or (isinstance(manager, Bound | Function) and _is_method(manager)):
        _report(interp, Misuse("uncalled", interp.site(node, frame), manager))


def _is_method(value: Bound | Function) -> bool:
    if isinstance(value, Function):
        return value.kind in ("function", "contextmanager") and not isinstance(value.node, ast.Lambda)
    if isinstance(value.function, Function):
        return value.function.kind == "function"
    receiver, name = value.receiver, value.function
    if isinstance(receiver, Tensor):
        # What a function that nothing calls is given is only supposed to be a tensor.
        return name in _TENSOR_METHODS and receiver.argument is None
    if isinstance(receiver, LibraryObject):
        return receiver.path.startswith("torch.optim.") and name in _OPTIMIZER_METHODS
    return is_module(receiver) and name in _MODULE_METHODS


def once() -> Ref:
    """The state of an iterator: who has gone through it."""
    return Ref(spent=None)


def consume(interp: Interpreter, value: Value, node: ast.AST, frame: Frame) -> None:
    """Something goes through all of an iterator: nothing is left in it for the next one."""
    if isinstance(value, DictValue):
        value = (value.items or {}).get("params")
    state = value.once if isinstance(value, Parameters | ListValue) else None
    if state is None or (isinstance(value, ListValue) and not _holds_parameters(value)):
        return
    place = tuple((point.execution, point.iteration) for point in interp.loop_points)
    before = state.slots["spent"]
    if isinstance(before, tuple) and not (before[0].node is node and before[1] == place):
        _report(interp, Misuse("exhausted", interp.site(node, frame), value, before[0]))
    interp.heap.set(state.slots, "spent", (interp.site(node, frame), place))


def _holds_parameters(value: ListValue) -> bool:
    return any(
        isinstance(one, Parameters) or (isinstance(one, Tensor) and one.parameter) for one in value.elements or ()
    )


def lacks_entry(interp: Interpreter, container: DictValue, key: Value, node: ast.AST, frame: Frame) -> None:
    """``checkpoint[key]`` of what torch.load has given."""
    if container.from_file and container.items and isinstance(key, str) and key not in container.items:
        _report(interp, Misuse("key", interp.site(node, frame), (container, key)))


def refused(interp: Interpreter, saved: LibraryObject, node: ast.AST, frame: Frame) -> None:
    """torch.load of a file that holds an object of a class."""
    _report(interp, Misuse("pickled", interp.site(node, frame), saved))


def lacks(interp: Interpreter, owner: NamedResult, name: str | None, node: ast.AST, frame: Frame) -> None:
    """An attribute that a tuple with names has not, or a call of it (None)."""
    if owner.of is None and owner.fields == KEYS and name not in owner.fields:
        if name is None or not (hasattr(owner, name) or name.startswith("_")):
            _report(interp, Misuse("result", interp.site(node, frame), owner))
    if owner.of is None and owner.fields == PAIR and name is not None and name not in PAIR:
        if not hasattr((), name) and not name.startswith(("_", "n_")):
            _report(interp, Misuse("pair", interp.site(node, frame), owner))


def untold(interp: Interpreter, receiver: LibraryObject, call: Arguments) -> None:
    """``step()`` without the closure or the value that this optimizer or schedule cannot do without."""
    node = call.node
    bare = isinstance(node, ast.Call) and not (node.args or node.keywords or call.args or call.kwargs)
    if bare and receiver.path in _NEEDING:
        _report(interp, Misuse("untold", interp.site(node, call.frame), receiver))


def _report(interp: Interpreter, misuse: Misuse) -> None:
    """Record it, once a place, unless it is on a way through a function that may never be taken."""
    key = (misuse.kind, misuse.site.span)
    supposed = interp.entry and interp.uncertain > misuse.site.frame.outermost.certain
    if not interp.guarded and not supposed and key not in interp.failures_seen:
        interp.failures_seen.add(key)
        interp.trace.misuses.append(misuse)


__all__ = [
    "KEYS",
    "computes",
    "consume",
    "enters",
    "lacks",
    "lacks_entry",
    "needs_result",
    "once",
    "refused",
    "untold",
]

"""Values that are used as something else than they are: a method for its result, an iterator for a second time, a result
for the object whose method gave it."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchsleuth.interp import misuses, signatures
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy, states
from torchsleuth.interp.misuses import AnyMisuse, Misuse, Rejection
from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import all_are, as_kind, first_of
from torchsleuth.syntax.forms import (
    argument_of,
    by_position,
    given_to,
    is_attribute,
    is_dotted,
    is_method_call,
    is_name,
)
from torchsleuth.tensors.dims import Dim
from torchsleuth.tensors.spec import DType, Failure, Native, Parameter, plain_name
from torchsleuth.values import (
    Array,
    Bound,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    NamedResult,
    Parameters,
    PossibleArguments,
    Ref,
    Scalar,
    Tensor,
    Value,
    is_module,
    is_native,
    is_native_kind,
    is_tuple,
    is_unknown,
    tuple_of,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

_TENSOR_METHODS = frozenset(
    "item size mean sum float long int half double bool cpu cuda numpy tolist detach clone squeeze size dim numel backward "
    "contiguous abs sqrt exp log std var flatten argmax sigmoid relu tanh t".split()
)
_FUNCTIONAL = frozenset(f"torch.{name}" for name in "relu sigmoid tanh softmax log_softmax flatten dropout".split())
_WITH_WEIGHTS = frozenset(
    "Linear Bilinear Conv1d Conv2d Conv3d Embedding LSTM GRU RNN LayerNorm BatchNorm1d BatchNorm2d".split()
)
_AS_TENSORS = ("__torch_function__", "__getattr__", "__array__", "__float__", "__index__", "__len__", "__iter__")
"""With one of these, an object may be taken for a tensor, or made into one."""
MOVES = frozenset("to cuda cpu float half double detach".split())
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
        report(interp, Misuse(misuses.UNCALLED, interp.site(node, frame), value))


def computes(interp: Interpreter, left: Value, right: Value, node: ast.AST, frame: Frame) -> None:
    """An operation of two values, of which one is a number or a tensor."""
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Tensor | int | float | Scalar | Dim):
            needs_result(interp, one, node, frame)
            if isinstance(one, NamedResult) and one.of is None and one.fields == PAIR:
                report(interp, Misuse(misuses.PAIR, interp.site(node, frame), one))


def enters(interp: Interpreter, manager: Value, node: ast.AST, frame: Frame) -> None:
    """``with manager:``. A class is none, and neither is a method."""
    plain = is_native(manager, *_MANAGERS)
    if plain or (isinstance(manager, Bound | Function) and _is_method(manager)):
        report(interp, Misuse(misuses.UNCALLED, interp.site(node, frame), manager))


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


def iterator(interp: Interpreter, value: Value, node: ast.AST, frame: Frame) -> Value:
    """The value, as one that gives its elements once."""
    if isinstance(value, ListValue):
        value.once, value.made = once(), interp.site(node, frame)
    return value


def _is_plain(element: Value) -> bool:
    """Whether it is a number, a text, or a tuple of them."""
    parts = tuple_of(element)
    return all(part is None or isinstance(part, bool | int | float | complex | str | bytes) for part in parts)


def consume(interp: Interpreter, value: Value, node: ast.AST, frame: Frame) -> None:
    """Something goes through all of an iterator: nothing is left in it for the next one."""
    if isinstance(value, DictValue):
        value = (value.items or {}).get("params")
    state = value.once if isinstance(value, Parameters | ListValue) else None
    if state is None:
        return
    place = tuple((point.execution, point.iteration) for point in interp.loop_points)
    before = state.slots["spent"]
    if before is None and isinstance(value, ListValue):
        elements = as_kind(value.slots["items"], tuple) or ()
        state.slots.setdefault("plain", bool(elements) and all(map(_is_plain, elements)))
    if isinstance(before, tuple) and not (before[0].node is node and before[1] == place):
        report(interp, Misuse(misuses.EXHAUSTED, interp.site(node, frame), value, before[0]))
    interp.heap.set(state.slots, "spent", (interp.site(node, frame), place))


def lacks_entry(interp: Interpreter, container: DictValue, key: Value, node: ast.AST, frame: Frame) -> None:
    """``checkpoint[key]`` of what torch.load has given, ``model.state_dict()[key]``, or a dict of the script's own."""
    if not container.items or not isinstance(key, str) or key in container.items:
        return
    state = as_kind(container.slots.get("state"), LibraryObject)
    known = not interp.trace.escaped and is_certain(interp, frame)
    held = state is not None and known and not states.is_open(interp, state.args[0])
    # Of another key, what asks may be ready for there being none, as Mapping.get is.
    constant = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    written = type(container) is DictValue and container.type_name == "dict" and constant and not interp.entry
    if written and is_certain(interp, frame) and container.identity not in interp.trace.handed:
        held = True
    if container.from_file or held:
        report(interp, Misuse(misuses.KEY, interp.site(node, frame), (container, key)))


def refused(interp: Interpreter, saved: LibraryObject, node: ast.AST, frame: Frame) -> None:
    """torch.load of a file that holds an object of a class."""
    report(interp, Misuse(misuses.PICKLED, interp.site(node, frame), saved))


def lacks(interp: Interpreter, owner: NamedResult, name: str | None, node: ast.AST, frame: Frame) -> None:
    """An attribute that a tuple with names has not, or a call of it (None)."""
    if owner.of is None and owner.fields == KEYS and name not in owner.fields:
        if name is None or not (hasattr(owner, name) or name.startswith("_")):
            report(interp, Misuse(misuses.RESULT, interp.site(node, frame), owner))
    if owner.of is None and owner.fields == PAIR and name is not None and name not in PAIR:
        if not hasattr((), name) and not name.startswith(("_", "n_")):
            report(interp, Misuse(misuses.PAIR, interp.site(node, frame), owner))


def untold(interp: Interpreter, receiver: LibraryObject, call: Arguments) -> None:
    """``step()`` without the closure or the value that this optimizer or schedule cannot do without."""
    node = call.node
    bare = isinstance(node, ast.Call) and not (node.args or node.keywords or call.args or call.kwargs)
    if bare and receiver.path in _NEEDING:
        report(interp, Misuse(misuses.UNTOLD, interp.site(node, call.frame), receiver))


def indexes(interp: Interpreter, container: Value, key: Value, node: ast.AST, frame: Frame) -> None:
    """``optimizer.param_groups["lr"]``: the groups are a list."""
    if isinstance(container, Bound) and container.function == "param_groups" and isinstance(key, str):
        if isinstance(container.receiver, LibraryObject) and container.receiver.path.startswith("torch.optim."):
            report(interp, Misuse(misuses.GROUPS, interp.site(node, frame), container))
    if isinstance(container, Bound) and isinstance(container.receiver, Tensor) and _is_method(container):
        report(interp, Misuse(misuses.SUBSCRIPTED, interp.site(node, frame), container))


def unmade(interp: Interpreter, cls: ClassValue, node: ast.AST, frame: Frame) -> None:
    """``model.parameters()`` where ``model`` is the class of it."""
    if is_dotted(node) and node.attr in _MODULE_METHODS:
        if cls.is_module() and node.value.id != cls.name and node.attr not in cls.slots:
            report(interp, Misuse(misuses.UNMADE, interp.site(node, frame), cls))


_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.ModuleDict"})


def calls(interp: Interpreter, callee: Value, node: ast.AST | None, frame: Frame) -> None:
    """``x.shape(0)``, ``x.T()``: neither a tuple nor a tensor is a function; and a list of modules has no forward."""
    if is_native_kind(callee, "package"):
        calls_package(interp, callee, node, frame)
    if isinstance(callee, LibraryModule) and callee.path in _LISTS and isinstance(node, ast.Call):
        report(interp, Misuse(misuses.CALLED, interp.site(node, frame), callee))
    tensor = isinstance(callee, Tensor) and callee.spec.shape is not None and callee.argument is None
    dtype = isinstance(callee, DType)
    if (tensor or dtype) and isinstance(node, ast.Call) and is_certain(interp, frame):
        report(interp, Misuse(misuses.CALLED, interp.site(node, frame), callee))
    if is_tuple(callee) and is_method_call(node):
        report(interp, Misuse(misuses.CALLED, interp.site(node, frame), callee))


def moves(interp: Interpreter, owner: Value, name: str, node: ast.AST, frame: Frame) -> None:
    """``state.to(device)`` of a tuple of tensors."""
    if is_tuple(owner) and name in MOVES and owner and all_are(owner, Tensor):
        report(interp, Misuse(misuses.MOVED, interp.site(node, frame), owner))


def repeats(
    interp: Interpreter,
    sequence: Value,
    count: Value,
    node: ast.AST,
    frame: Frame,
    holds_parameters: Callable[[Value], bool],
) -> None:
    """``[Block()] * 4``: four times the same module, where it is made on the spot and has parameters."""
    if not isinstance(node, ast.BinOp) or not isinstance(sequence, ListValue) or (isinstance(count, int) and count < 2):
        return
    written = first_of((node.left, node.right), ast.List)
    made = written is not None and all_are(written.elts, ast.Call)
    items = [item for item in sequence.items or () if is_module(item)]
    if made and items and any(holds_parameters(item) for item in items):
        report(interp, Misuse(misuses.REPEATED, interp.site(node, frame), items[0]))


def repeats_one(
    interp: Interpreter,
    items: list[Value],
    made: ast.expr | None,
    frame: Frame,
    holds_parameters: Callable[[Value], bool],
) -> None:
    """``[module for _ in range(n)]`` with a module that the function is given: n times the same one, which has parameters."""
    if isinstance(made, ast.Starred):
        made = made.value
    if not isinstance(made, ast.ListComp | ast.GeneratorExp) or not isinstance(made.elt, ast.Name) or len(items) < 2:
        return
    name, function = made.elt.id, frame.function
    given = function is not None and any(name == one.arg for one in by_position(function.node.args))
    bound = any(is_name(part, name) for one in made.generators for part in ast.walk(one.target))
    if given and not bound and all(item is items[0] for item in items) and holds_parameters(items[0]):
        report(interp, Misuse(misuses.REPEATED, interp.site(made, frame), items[0]))


def assigned(interp: Interpreter, held: Value, value: Value, node: ast.AST, frame: Frame) -> None:
    """A plain tensor for an attribute of a module that is a parameter or a module: it is refused. What nothing computed
    may be a parameter: that is a tensor, too."""
    if isinstance(value, Tensor) and not value.parameter and value.origin is not None:
        if is_module(held) or (isinstance(held, Tensor) and held.parameter):
            report(interp, Misuse(misuses.PARAMETER, interp.site(node, frame), held))


def misfits(interp: Interpreter, parameters: tuple[Parameter, ...] | None, callee: Value, call: Arguments) -> None:
    """A call that Python refuses, as the arguments do not fit the parameters."""
    if parameters is None or not call.exact:
        return
    written = signatures.is_written(call.node, len(call.args), call.kwargs)
    if written or signatures.is_unpacked(call.node, call.kwargs):
        possible = call.kwargs.possible if isinstance(call.kwargs, PossibleArguments) else ()
        certain = [name for name in call.kwargs if name not in possible]
        found = signatures.misfit(parameters, len(call.args), certain)
        if not written and found is not None and found.kind != "unexpected":
            return  # What is missing may have been left out of a dictionary for what wraps the callee.
        if found is not None and is_certain(interp, call.frame):
            report(interp, Misuse(misuses.MISFIT, interp.site(call.node, call.frame), (callee, found)))


def misfits_partly(interp: Interpreter, callee: Value, call: Arguments) -> None:
    """``partial(collate, padding=0)``: whatever else it is called with, the function has no such parameter."""
    function = as_kind(callee.function if isinstance(callee, Bound) else callee, Function)
    if function is None or not call.exact or not is_certain(interp, call.frame):
        return
    if signatures.is_written(call.node, len(call.args), call.kwargs):
        parameters = signatures.of(function, isinstance(callee, Bound))
        found = signatures.misfit(parameters, len(call.args) - 1, call.kwargs)
        if found is not None and found.kind == "unexpected":
            report(interp, Misuse(misuses.MISFIT, interp.site(call.node, call.frame), (callee, found)))


def takes(interp: Interpreter, call: Arguments, given: tuple[str, ...], place: int = 0, name: str = "hook") -> None:
    """A function of the user's is registered to be called with these arguments, and cannot be. `place`, `name`: of the parameter
    that it is passed for."""
    callee = call.given(place, name)
    function = as_kind(callee.function if isinstance(callee, Bound) else callee, Function)
    if function is None or call.expression is None or not is_certain(interp, call.frame):
        return
    if signatures.misfit(signatures.of(function, isinstance(callee, Bound)), len(given), ()) is not None:
        written = call.expression.args[place] if place < len(call.expression.args) else None
        written = written or argument_of(call.expression, None, name)
        if written is not None and not isinstance(written, ast.Starred):
            report(
                interp,
                Misuse(misuses.CALLBACK, interp.site(call.expression, call.frame), (callee, function, given, written)),
            )


def refuses_arguments(interp: Interpreter, operation: Operation, failure: Failure) -> bool:
    """Whether an operator refuses its arguments as they are written, for their names, their number or their kinds. Then
    that is recorded."""
    call, method = operation.site.call, operation.target.startswith("Tensor.")
    given = len(operation.args) - method
    dropped = {keyword.arg for keyword in call.keywords} - set(operation.kwargs) if call is not None else set()
    if None in dropped or not signatures.is_written(call, given, {*operation.kwargs, *map(str, dropped)}):
        return False
    values = (*operation.args, *operation.kwargs.values())
    if any(is_unknown(value) or isinstance(value, Scalar) for value in values):
        return False
    found = signatures.refused(failure.message, interp.oracle.overloads(operation.target), given, operation.kwargs)
    if found is None or not is_certain(interp, operation.site.frame):
        return False
    if interp.entry and "NoneType" in found.name:
        return False  # A method that classes derived from this one define.
    callee = Native(f"torch.{operation.target}" if method else operation.target, "function")
    report(interp, Misuse(misuses.MISFIT, operation.site, (callee, found)))
    return True


def refuses(interp: Interpreter, path: str, call: Arguments, exception: str, text: str) -> None:
    """PyTorch refuses a call for the plain values that it is given: that is recorded, with the error that it raises."""
    if is_certain(interp, call.frame):
        operation = interp.operation(path, (), {}, call.node, call.frame, None)
        interp.report(operation, Failure(exception, text, confirmed=True))


def holds(interp: Interpreter, path: str, value: Value, node: ast.AST, frame: Frame) -> None:
    """A child of a container of modules that is none."""
    plain = isinstance(value, Function | ClassValue | ListValue | DictValue | Tensor | tuple | str | int | float)
    native = is_native_kind(value, "function", "class", "module-class", "package")
    if plain or native:
        near: tuple[str, ...] = ()
        if isinstance(value, Native):
            near = interp.oracle.nearest("torch.nn", value.name) or (value.name,)
        report(interp, Misuse(misuses.UNMODULE, interp.site(node, frame), (path, value, near)))


def computes_with(interp: Interpreter, path: str, call: Arguments) -> None:
    """``F.relu(self.conv)``: a module, an array or an object of a class for a tensor; and ``training=self.train``."""
    name = path.rpartition(".")[2]
    functional = path.startswith(("torch.nn.functional.", "torch.nn.init.")) or path in _FUNCTIONAL
    first = call.args[0] if call.args else None
    if functional and (is_module(first) or isinstance(first, Array)) and not name.startswith("_"):
        report(interp, Misuse(misuses.UNTENSOR, interp.site(call.node, call.frame), (path, first)))
    if isinstance(first, Instance) and (functional or _wants_tensor(interp, path)):
        _takes_object(interp, path, first, call)
    given = given_to(call.expression)
    for value in (*call.args, *call.kwargs.values()) if functional else ():
        for node in given if isinstance(value, Bound) else ():
            asks_mode(interp, value, node, call.frame)


def asks_mode(interp: Interpreter, value: Value, node: ast.AST, frame: Frame) -> None:
    """``if self.train:``. The method is always true; the mode is ``self.training``."""
    if isinstance(value, Bound) and is_module(value.receiver) and is_attribute(node, "train"):
        report(interp, Misuse(misuses.FLAG, interp.site(node, frame), value))


def _wants_tensor(interp: Interpreter, path: str) -> bool:
    """Whether an operator takes a tensor in the first place, in whichever way it is called."""
    ways = interp.oracle.overloads(path) if path.startswith("torch.") else ()
    return bool(ways) and all(way and way[0].name in ("input", "self") for way in ways)


def _takes_object(interp: Interpreter, path: str, value: Value, call: Arguments) -> None:
    """``F.softmax(model(x))`` of a model that gives an object with the logits in it."""
    if not isinstance(value, Instance) or value.is_module or value.native is not None or interp.entry:
        return
    cls = value.cls
    plain = cls.is_made_plainly() and cls.native_base() is None
    if plain and is_certain(interp, call.frame):
        if all(interp.class_attribute(cls, name) is MISSING for name in _AS_TENSORS):
            report(interp, Misuse(misuses.UNTENSOR, interp.site(call.node, call.frame), (path, value)))


def takes_list(interp: Interpreter, path: str, value: Value, call: Arguments) -> None:
    """``nn.Parameter([1.0, 2.0])``"""
    if isinstance(value, ListValue) and value.type_name == "list" and value.items and is_certain(interp, call.frame):
        report(interp, Misuse(misuses.UNTENSOR, interp.site(call.node, call.frame), (path, value)))


def layer_takes(interp: Interpreter, module: LibraryModule, call: Arguments) -> None:
    """``model(x.numpy())``, and ``criterion(output, target)`` of an object."""
    if not call.args:
        return
    if isinstance(call.args[0], Array) and module.type_name in _WITH_WEIGHTS:
        report(interp, Misuse(misuses.UNTENSOR, interp.site(call.node, call.frame), (module.path, call.args[0])))
    if module.type_name in _WITH_WEIGHTS or hierarchy.is_loss(module.path):
        _takes_object(interp, module.path, call.args[0], call)


def is_certain(interp: Interpreter, frame: Frame) -> bool:
    """Whether no condition stands before it that may ask for the version of the library, or for the kind of the callee."""
    return interp.uncertain <= frame.outermost.certain


def absent(interp: Interpreter, owner: str, name: str, node: ast.AST, frame: Frame) -> None:
    """A name that a module or class of the library has not, and that is much like one that it has."""
    near = interp.oracle.nearest(owner, name)
    # Intel's extension adds to torch.xpu what is elsewhere in PyTorch.
    places = interp.oracle.elsewhere(owner, name) if owner != "torch.xpu" else ()
    certain = is_certain(interp, frame)
    if (near or places) and (certain or (near and near[0].casefold() == name.casefold())):
        report(interp, Misuse(misuses.ABSENT, interp.site(node, frame), (owner, name, near, places)))


def calls_package(interp: Interpreter, package: Native, node: ast.AST | None, frame: Frame) -> None:
    """``torch.optim.adam(…)``: the module that a class is in."""
    owner, _, name = package.path.rpartition(".")
    names = interp.oracle.public_names(owner)
    near = tuple(one for one in names if one != name and plain_name(one) == plain_name(name))
    if isinstance(node, ast.Call) and near and is_certain(interp, frame):
        report(interp, Misuse(misuses.ABSENT, interp.site(node.func, frame), (owner, name, near, ())))


def report(interp: Interpreter, misuse: AnyMisuse) -> None:
    """Record it, once a place, unless it is on a way through a function that may never be taken."""
    rejection = as_kind(misuse.value, Rejection)
    key = (misuse.way, misuse.site.span, rejection.reason if rejection is not None else "")
    supposed = interp.entry and interp.uncertain > misuse.site.frame.outermost.certain
    if not interp.guarded and not supposed and key not in interp.failures_seen:
        interp.failures_seen.add(key)
        interp.trace.misuses.append(misuse)


__all__ = [
    "KEYS",
    "MOVES",
    "absent",
    "asks_mode",
    "is_certain",
    "report",
    "computes_with",
    "holds",
    "layer_takes",
    "assigned",
    "calls",
    "computes",
    "consume",
    "enters",
    "indexes",
    "iterator",
    "lacks",
    "lacks_entry",
    "misfits",
    "refused",
    "refuses",
    "moves",
    "needs_result",
    "once",
    "repeats",
    "takes_list",
    "unmade",
    "untold",
]

"""Transforms of functions: vmap, gradients and Jacobians of ``torch.func`` and ``torch.autograd.functional``, checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy, parameters, states
from torchsleuth.interp.models import FunctionModel, models, of_function
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.tensors.dims import Size, is_index
from torchsleuth.values import (
    UNKNOWN,
    Builtin,
    Choice,
    DictValue,
    ListValue,
    Scalar,
    Tensor,
    Value,
    is_module,
    is_unknown,
    items_of,
    tuple_of,
)
from torchsleuth.values.graph import AutogradFault, GraphNode, is_leaf, node_of

_CHECKPOINT_ARGUMENTS = frozenset(
    "use_reentrant preserve_rng_state context_fn determinism_check debug early_stop".split()
)


def _mapped(value: Value, change: Callable[[Tensor], Value]) -> Value:
    """A tree of containers with each of its tensors changed."""
    match value:
        case Tensor():
            return change(value)
        case tuple():
            return tuple(_mapped(item, change) for item in value)
        case ListValue():
            return ListValue(None if value.items is None else tuple(_mapped(item, change) for item in value.items))
        case DictValue():
            items = value.items
            return DictValue(None if items is None else {key: _mapped(item, change) for key, item in items.items()})
    return value


def _shaped(tensor: Tensor, shape: tuple[Size, ...] | None, requires_grad: bool | None = None) -> Tensor:
    """A tensor like another, of another shape."""
    return Tensor(tensor.spec.with_(shape=shape, requires_grad=requires_grad, strides=None), tensor.origin)


def _like(interp: Interpreter, value: Value) -> Value:
    """Gradients by a value: as it is, whether they can be differentiated again is not known."""
    return _mapped(value, lambda tensor: _shaped(tensor, interp.resolved_spec(tensor.spec).shape))


# -- vmap ------------------------------------------------------------------------------------------


def _vmap(interp: Interpreter, made: Arguments) -> Value:
    function, out = made.given(0, "func"), made.given(2, "out_dims", 0)
    dims = made.given(1, "in_dims", 0)

    def run(call: Arguments) -> Value:
        given = dims if isinstance(dims, tuple | ListValue) else (dims,) * len(call.args)
        axes = items_of(given)
        if axes is None or len(axes) != len(call.args) or not call.exact or call.kwargs:
            return UNKNOWN
        counts: list[Size] = []
        args = tuple(_without(interp, value, axis, counts) for value, axis in zip(call.args, axes))
        if not counts or any(is_unknown(value) for value in args):
            interp.escape(call.args)
            return UNKNOWN
        value = interp.call(function, replace(call, args=args))
        return _with(interp, value, out, counts[0])

    return Builtin("vmap", run)


def _without(interp: Interpreter, value: Value, axis: Value, counts: list[Size]) -> Value:
    """One element of a batch along an axis. What it is that several are of, `counts` tells."""
    if axis is None:
        return value
    if isinstance(axis, tuple) and isinstance(value, tuple) and len(axis) == len(value):
        return tuple(_without(interp, item, part, counts) for item, part in zip(value, axis))
    if not isinstance(axis, int):
        return UNKNOWN

    def one(tensor: Tensor) -> Tensor:
        shape = interp.resolved_spec(tensor.spec).shape
        if shape is None or not is_index(axis, shape):
            return _shaped(tensor, None, tensor.spec.requires_grad)
        counts.append(shape[axis])
        place = axis % len(shape)
        return _shaped(tensor, (*shape[:place], *shape[place + 1 :]), tensor.spec.requires_grad)

    return _mapped(value, one) if isinstance(value, Tensor | tuple | ListValue | DictValue) else UNKNOWN


def _with(interp: Interpreter, value: Value, axis: Value, count: Size) -> Value:
    """A batch of such values along an axis."""
    if isinstance(value, tuple) and isinstance(axis, tuple) and len(value) == len(axis):
        return tuple(_with(interp, item, part, count) for item, part in zip(value, axis))
    if not isinstance(axis, int):
        return UNKNOWN

    def several(tensor: Tensor) -> Tensor:
        shape = interp.resolved_spec(tensor.spec).shape
        if shape is None:
            return _shaped(tensor, None)
        place = axis % (len(shape) + 1)
        made = _shaped(tensor, (*shape[:place], count, *shape[place:]), tensor.spec.requires_grad)
        return interp.same_graph(tensor, made)

    return _mapped(value, several)


# -- derivatives -----------------------------------------------------------------------------------


def _argument(call: Arguments, argnums: Value) -> Value:
    """The arguments by which a function is differentiated."""
    if isinstance(argnums, tuple) and all(is_index(part, call.args) for part in argnums):
        return tuple(call.args[part] for part in argnums)
    return call.args[argnums] if is_index(argnums, call.args) else UNKNOWN


def _applied(interp: Interpreter, function: Value, call: Arguments) -> Value:
    """The value of a function that is being differentiated: grad mode is on inside."""
    mode, interp.grad = interp.grad, True
    try:
        return interp.call(function, call)
    finally:
        interp.grad = mode


def _gradient(value_too: bool) -> FunctionModel:
    def model(interp: Interpreter, made: Arguments) -> Value:
        function, argnums, aux = (
            made.given(0, "func"),
            made.given(1, "argnums", 0),
            as_kind(made.given(2, "has_aux", False), bool),
        )

        def run(call: Arguments) -> Value:
            value = _applied(interp, function, call)
            given = _argument(call, argnums)
            if is_unknown(given) or aux is None:
                return UNKNOWN
            grads = _like(interp, given)
            if value_too:
                return grads, value
            if aux:
                return (grads, value[1]) if isinstance(value, tuple) and len(value) == 2 else UNKNOWN
            return grads

        return Builtin("grad", run)

    return model


def _jacobian(order: int) -> FunctionModel:
    def model(interp: Interpreter, made: Arguments) -> Value:
        function, argnums, aux = made.given(0, "func"), made.given(1, "argnums", 0), made.kwargs.get("has_aux", False)

        def run(call: Arguments) -> Value:
            value = _applied(interp, function, call)
            rest: tuple[Value, ...] = ()
            if aux is True and isinstance(value, tuple) and len(value) == 2:
                value, *others = value
                rest = tuple(others)
            elif aux is not False:
                return UNKNOWN
            found = _derivative(interp, value, _argument(call, argnums), order)
            return (found, *rest) if rest else found

        return Builtin("jacobian", run)

    return model


def _derivative(interp: Interpreter, value: Value, given: Value, order: int = 1) -> Value:
    """Of each tensor that a function gives by each of those that it was given: the sizes of the one, then of the other."""
    if is_unknown(given) or is_unknown(value):
        return UNKNOWN

    def by(result: Tensor) -> Value:
        own = interp.resolved_spec(result.spec).shape

        def one(tensor: Tensor) -> Tensor:
            shape = interp.resolved_spec(tensor.spec).shape
            known = own is not None and shape is not None and (order == 1 or isinstance(given, Tensor))
            return _shaped(
                result, (*own, *(shape * order)) if known and own is not None and shape is not None else None
            )

        return _mapped(given, one)

    return _mapped(value, by)


def _jacobian_now(order: int) -> FunctionModel:
    """``torch.autograd.functional.jacobian(func, inputs)``"""

    def model(interp: Interpreter, call: Arguments) -> Value:
        inputs = call.given(1, "inputs")
        args = tuple_of(inputs)
        value = _applied(interp, call.given(0, "func"), replace(call, args=args, kwargs={}))
        return _derivative(interp, value, inputs, order)

    return model


def _checked(interp: Interpreter, call: Arguments) -> Value:
    """``gradcheck(func, inputs)``"""
    inputs = call.given(1, "inputs")
    _applied(interp, call.given(0, "func"), replace(call, args=tuple_of(inputs), kwargs={}))
    return Scalar("bool")


def _jvp(interp: Interpreter, call: Arguments) -> Value:
    primals = as_kind(call.given(1, "primals"), tuple)
    if primals is None or call.kwargs:
        return UNKNOWN
    value = _applied(interp, call.args[0], replace(call, args=primals, kwargs={}))
    return UNKNOWN if is_unknown(value) else (value, _like(interp, value))


def _vjp(interp: Interpreter, call: Arguments) -> Value:
    if call.kwargs or not call.args:
        return UNKNOWN
    primals = call.args[1:]
    value = _applied(interp, call.args[0], replace(call, args=primals, kwargs={}))
    return UNKNOWN if is_unknown(value) else (value, Builtin("vjp", lambda inner: _like(interp, primals)))


# -- modules as functions --------------------------------------------------------------------------


def _functional_call(interp: Interpreter, call: Arguments) -> Value:
    """``functional_call(module, parameters, args, kwargs)``: the module with these tensors in the place of its own."""
    module, given = call.given(0, "module"), call.given(2, "args", ())
    kwargs = call.given(3, "kwargs")
    named = kwargs.items if isinstance(kwargs, DictValue) else {} if kwargs is None else None
    if not is_module(module) or named is None:
        return UNKNOWN
    args = tuple_of(given)
    inner = replace(call, args=args, kwargs={str(key): value for key, value in named.items()})
    taken = call.given(1, "parameter_and_buffer_dicts")
    source = next(iter(hierarchy.tensors_in((taken, *args))), None)
    value = interp.call_module(module, inner)
    exchange = _Exchange.of(interp, module, taken, (*args, *named.values()))

    def placed(tensor: Tensor) -> Tensor:
        requires_grad = tensor.spec.requires_grad if exchange is not None else None
        made = _shaped(tensor, interp.resolved_spec(tensor.spec).shape, requires_grad)
        made.slots["history"] = tensor.history
        if exchange is not None and (node := node_of(tensor)) is not None:
            made.slots["node"] = exchange.graph(node)
        place = tensor.spec.device
        if source is not None and (place is None or place.kind == "meta"):
            interp.heap.set(made.slots, "spec", made.spec.with_(device=source.spec.device))
        return made

    return _mapped(value, placed)


@dataclass(frozen=True)
class _Exchange:
    """The graph of a module's result with other tensors in the place of its parameters. `given`: those for the parameters
    of a layer, by its identity, and for a parameter of the user's own, by its own. `whole`: the layers of which all are
    exchanged. `kept`: what was there before the module was called."""

    given: dict[int, list[Tensor]]
    whole: frozenset[int]
    kept: frozenset[GraphNode]
    made: dict[GraphNode, GraphNode] = field(default_factory=dict)

    @classmethod
    def of(cls, interp: Interpreter, module: Value, taken: Value, inputs: tuple[Value, ...]) -> _Exchange | None:
        """None where it is not known which tensors the module works with, or not all of them are trained."""
        dicts = [parameters.as_entries(interp, one) for one in tuple_of(taken)]
        named = parameters.named(interp, module)
        if named is None or interp.grad is not True or states.has_renamed(interp):
            return None
        entries: dict[Value, Value] = {}
        for one in dicts:
            if not isinstance(one, DictValue) or one.items is None:
                return None
            entries |= one.items
        found: dict[int, list[Tensor]] = {}
        partly: set[int] = set()
        for name, own in named:
            place = own.identity if own.owner is None else own.owner.identity
            tensor = entries.get(name, own)
            if not isinstance(tensor, Tensor) or not (own.spec.requires_grad and tensor.spec.requires_grad):
                return None
            found.setdefault(place, []).append(tensor)
            if tensor is own:
                partly.add(place)
        before = [node for tensor in hierarchy.tensors_in(inputs) if (node := node_of(tensor)) is not None]
        kept = frozenset(part for node in before for part in node.members)
        return cls(found, frozenset(found) - partly, kept)

    def graph(self, root: GraphNode) -> GraphNode:
        """A place in the graph as it is with the tensors that were given."""
        for part in reversed(list(root.reachable(lambda node: node not in self.kept))):
            self._rebuild(part)
        return self._rebuild(root)

    def _rebuild(self, part: GraphNode) -> GraphNode:
        if part in self.kept:
            return part
        if part not in self.made:
            inner = [self._rebuild(one) for one in part.inputs]
            places = [part.module.identity] if part.module is not None else []
            places += [leaf.identity for leaf in part.leaves]
            given = [tensor for place in places for tensor in self.given.get(place, ())]
            leaves = [leaf for leaf in part.leaves if leaf.identity not in self.whole]
            leaves += [tensor for tensor in given if node_of(tensor) is None]
            module = None if part.module is not None and part.module.identity in self.whole else part.module
            self.made[part] = replace(
                part,
                inputs=tuple(dict.fromkeys([*inner, *(node for one in given if (node := node_of(one)) is not None)])),
                module=module,
                leaves=tuple(leaves),
                open=part.open or any(node_of(one) is None and not is_leaf(one) for one in given),
                saved=[(storage, version) for storage, version in part.saved if storage is not part.module],
            )
        return self.made[part]


def _stacked(interp: Interpreter, call: Arguments) -> Value:
    """``stack_module_state(models)``: the parameters and the buffers of models of one kind, in batches."""
    models = interp.sequence(call.given(0, "models"), call.node, call.frame)
    named = parameters.named(interp, models[0]) if models else None
    if named is None or models is None:
        return UNKNOWN

    def several(tensor: Tensor) -> Tensor:
        shape = tensor.spec.shape
        return _shaped(tensor, None if shape is None else (len(models), *shape), True)

    return DictValue({name: several(tensor) for name, tensor in named}), DictValue(None)


def _checkpoint(interp: Interpreter, call: Arguments) -> Value:
    """``checkpoint(function, *args)``: what the function gives."""
    kwargs = {name: value for name, value in call.kwargs.items() if name not in _CHECKPOINT_ARGUMENTS}
    given = (*call.args[1:], *kwargs.values())
    value = _again(interp, call, given, call.given(0, "function"), call.args[1:], kwargs)
    grads = [one.spec.requires_grad for one in of_kind(given, Tensor)]
    known = not any(is_unknown(one) or isinstance(one, Choice) for one in given)
    reentrant = call.kwargs.get("use_reentrant") in (None, True)
    if not reentrant or not known or interp.grad is not True or any(grad is not False for grad in grads):
        return value
    site = interp.site(call.node, call.frame)
    function = call.given(0, "function")
    if is_module(function) and not interp.uncertain:
        interp.fault(AutogradFault("reentrant", site, function))

    def unrecorded(tensor: Tensor) -> Tensor:
        """The function is run without recording, and what its tensors are given decides whether they have a graph."""
        return interp.severed(tensor, _shaped(tensor, tensor.spec.shape, False), "reentrant", site)

    return _mapped(value, unrecorded)


def _again(
    interp: Interpreter,
    call: Arguments,
    given: tuple[Value, ...],
    function: Value,
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
) -> Value:
    """A call that is done again in the backward pass."""
    if interp.tape is None:
        return interp.call(function, replace(call, args=args, kwargs=kwargs))
    interp.tape.begun()
    value = interp.call(function, replace(call, args=args, kwargs=kwargs))
    reentrant = call.kwargs.get("use_reentrant", True) is not False
    interp.tape.ended(interp, given, value, interp.site(call.node, call.frame), reentrant)
    return value


def _checkpoint_sequential(interp: Interpreter, call: Arguments) -> Value:
    function, value = call.given(0, "functions"), call.given(2, "input")
    if is_module(function):
        return interp.call(function, replace(call, args=(value,), kwargs={}))
    for part in interp.sequence(function, call.node, call.frame) or (UNKNOWN,):
        value = interp.call(part, replace(call, args=(value,), kwargs={}))
    return value


_FUNCTIONAL: dict[str, FunctionModel] = {
    "vmap": _vmap,
    "grad": _gradient(False),
    "grad_and_value": _gradient(True),
    "jacrev": _jacobian(1),
    "jacfwd": _jacobian(1),
    "hessian": _jacobian(2),
    "jvp": _jvp,
    "vjp": _vjp,
    "functional_call": _functional_call,
    "stack_module_state": _stacked,
}
_EAGER: dict[str, FunctionModel] = {
    "jacobian": _jacobian_now(1),
    "hessian": _jacobian_now(2),
    "gradcheck": _checked,
    "gradgradcheck": _checked,
    "checkpoint": _checkpoint,
    "checkpoint_sequential": _checkpoint_sequential,
}


@models("torch.func.*", "torch.vmap*", "torch.nn.utils.stateless.*", "torch._functorch.*")
def _functional(interp: Interpreter, call: Arguments) -> Value:
    """A call of a transform, or of what makes one; unknown where it is not modelled."""
    return _or_escape(_FUNCTIONAL.get(call.name), interp, call)


@models(
    "torch.autograd.functional.*",
    "torch.autograd.gradcheck*",
    "torch.autograd.gradgradcheck*",
    "torch.utils.checkpoint.*",
)
def _eager(interp: Interpreter, call: Arguments) -> Value:
    return _or_escape(_EAGER.get(call.name), interp, call)


def _or_escape(model: FunctionModel | None, interp: Interpreter, call: Arguments) -> Value:
    value = UNKNOWN if model is None or not call.exact else model(interp, call)
    if is_unknown(value):
        interp.escape((*call.args, *call.kwargs.values()))
    return value


def is_transform(path: str) -> bool:
    """Whether this is a transform of functions."""
    return of_function(path) in (_functional, _eager)

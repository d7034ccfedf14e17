"""Tensor operators: abstract arguments to the oracle and back, devices, provenance, in-place effects, facts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from torchsleuth.interp import autocast, batch, demands, exceptions, limits, marks, misuse, selection
from torchsleuth.interp.batch import Batch
from torchsleuth.interp.fitting import fitting_operand
from torchsleuth.interp.inputs import certain_shapes
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import contained, data, draws, hierarchy, integers, layers, published, python
from torchsleuth.interp.questions import Questions, Target
from torchsleuth.interp.trace import DeviceConflict, Event, Operation, OperatorFailure, Sighting
from torchsleuth.sifting import all_are, any_are, as_kind, of_kind
from torchsleuth.syntax.forms import nodes_in, plain_name
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import CPU, Device, conflict, parse
from torchsleuth.tensors.dims import Dim, Size, Symbol, is_index
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.tensors.spec import (
    UNKNOWN_TENSOR,
    DType,
    Equality,
    Failure,
    ModuleSpec,
    Native,
    NotASpec,
    Result,
    TensorSpec,
    is_differentiable,
)
from torchsleuth.values import (
    UNKNOWN,
    AnyIndex,
    Array,
    Choice,
    DictValue,
    Ends,
    Function,
    Instance,
    LibraryModule,
    ListValue,
    NamedResult,
    Origin,
    Scalar,
    Several,
    Shape,
    Site,
    SliceValue,
    Tags,
    Tensor,
    Unknown,
    Value,
    elements_of,
    is_int,
    is_unknown,
    items_of,
    opened,
    tuple_of,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import cut_of, node_of
from torchsleuth.values.join import MISSING

_REDUCTIONS = frozenset("sum mean prod norm std var".split())
_WITHOUT_GRADIENT = frozenset(
    "eq ne lt le gt ge greater greater_equal less less_equal not_equal isclose isin isnan isinf isfinite isneginf isposinf isreal signbit"
    " logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not bitwise_xor bitwise_left_shift"
    " bitwise_right_shift all any argmax argmin argsort argwhere nonzero bincount histc bucketize searchsorted count_nonzero one_hot"
    " multinomial gcd lcm floor_divide heaviside igamma igammac matrix_rank unravel_index ldl_solve".split()
)
"""Operators that no gradient passes, beside those that make a tensor like another one."""
_NOT_DIFFERENTIABLE = "is not differentiable with respect to"
"""The answer of PyTorch about an operand that requires grad where autograd records."""
_MORE = frozenset({"return_indices", "as_tuple"})
"""Options by which an operator gives something else than one tensor."""
_OF_DISTRIBUTIONS = frozenset("log_prob entropy sample rsample cdf icdf".split())
"""Methods of distributions that give a tensor."""
_COMPARES = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_BITWISE = frozenset({"and_", "or_", "xor", "invert", "lshift", "rshift"})
"""Operators of Python that no gradient passes: they give booleans, or take integers and booleans alone."""
_GIVES_PARTS = frozenset({"chunk", "split"})
"""Operators whose result is several of them, with as many dimensions."""
MAX_PARTS = 16
_TENSORS_ONLY = ("torch.nn.functional.", "operator.sub", "operator.add", "operator.truediv", "operator.matmul")
"""Operators none of whose operands may be a list."""
_DEVICE_FREE = frozenset(
    "pack_padded_sequence PackedSequence load_state_dict from_numpy copy_ expand_as view_as reshape_as tensor_split".split()
)
"""Operators that take tensors of several devices: copies between them, and what only asks for the sizes of the second."""
_DROPPED_KEYWORDS = frozenset({"generator", "pin_memory", "non_blocking", "memory_format", "layout"})
MAX_SIGHTINGS = 12
"""Different tensors that are kept for one expression; beyond that they are joined."""
_ERRORS_OF_TYPES = ("must be Tensor, not", "must be tuple of ints", "must be tuple of Tensors", "be list of Tensors")
_ERRORS_OF_KINDS = (
    "unsupported operand type", "must be torch.dtype, not", "must be int, not", "must be bool, not", "must be Number, not",
    "expected Tensor as element", "expected np.ndarray", "can't convert np.ndarray", "invalid data type 'str'", "0-d tensor", "format string", "of a single element", "cannot assign",
    "only implemented on integer", "unsupported ScalarType",
)  # fmt: skip
"""Messages about arguments that are no tensors; believed where they are all known."""
_CERTAIN = ("torch.optim.", "accelerate.")
"""Libraries of which a model says only what is certain."""

_BITWISE_NAMES = frozenset(name.strip("_") for name in _BITWISE)
_SAME_DTYPE = marks.KEPT_BY - set("float double half to type identity Identity Flatten".split()) | {"masked_fill"}
"""Operators whose result has the dtype of what they move or pick."""
_ARITHMETIC = frozenset({"add", "sub", "mul", "truediv", "div", "neg"})
_JOINING = frozenset(f"torch.{name}" for name in ("cat", "concat", "stack", "hstack", "vstack", "dstack"))
"""Operators that take tensors alone in their list."""
_KEEPS_GRAPH = frozenset({"add", "sub", "mul", "truediv", "pow", "matmul"})
"""Operators that give numbers with a gradient, whatever the other operand is."""


class TensorOperations(Questions):
    """Everything that touches tensors. The attributes are set by `Execution`."""

    # -- operators ---------------------------------------------------------------------------------

    def operate(
        self,
        target: str,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        device: Device | None = None,
    ) -> Value:
        """Apply an operator by its dotted name. `device`: where a factory puts its result."""
        kwargs = {
            name: value
            for name, value in kwargs.items()
            if name not in _DROPPED_KEYWORDS or (name == "layout" and "sparse" in str(value))
        }
        operation = self.operation(target, args, kwargs, node, frame, None)
        place = device or self._common_device(operation)
        asked = as_kind(kwargs.get("dtype"), Native)
        if asked is not None and asked.path.startswith("numpy."):
            text = f"{target}(): argument 'dtype' must be torch.dtype, not {asked.name}"
            self.report(operation, Failure("TypeError", text, confirmed=True))
            return self._failed(operation, place)
        out = kwargs.get("out")
        overlaps = out is not None and not {id(t) for t in hierarchy.tensors_in(out)}.isdisjoint(
            map(id, hierarchy.tensors_in(args))
        )
        if overlaps and f"Tensor.{target.rpartition('.')[2]}_" not in self.oracle:
            # An operator without an in-place form may refuse to write into its operand.
            value = self._undecided(operation, place)
        else:
            value = self._apply(operation, target, place)
        if isinstance(out, Tensor) and value is not out:
            # Whether it was resized is not known.
            self.heap.set(out.slots, "spec", out.spec.with_(shape=None, strides=None))
        return value if out is None or value is out else UNKNOWN

    def apply_module(self, module: LibraryModule, call: Any) -> Value:
        """Call a library module."""
        if module.built is not None:
            return published.run(self, module, call)
        operation = self.operation(module.path, call.args, call.kwargs, call.node, call.frame, module, call.written)
        place = self._common_device(operation)
        if hierarchy.is_loss(module.path):
            self.event("loss", module, call.node, call.frame)
        target: ModuleSpec | layers.FunctionalForm | None
        try:
            target = self.recipe(module)
        except NotASpec:
            target = layers.functional_form(self, module, operation.specs)
        if isinstance(target, ModuleSpec) and layers.is_plain_sequence(module, operation.specs):
            made = layers.sequence_result(self, module, operation.specs[0])
            if made is not None:
                self.trace.operations.append(operation)
                return self.from_spec(made, self._maker(operation, place))
        if target is None:
            if hierarchy.is_loss(module.path) or module.path in hierarchy.RECURRENT:
                self.trace.operations.append(operation)  # Whatever its sizes are, it is a layer of these operands.
            states = layers.recurrent_result(self, module, operation.specs[0]) if len(operation.specs) == 1 else None
            if states is not None:
                for fact in states.facts:
                    self.learn(fact, operation.site)
                return self.from_spec(states.value, self._maker(operation, place))
            self.demand(operation)
            return self._undecided(operation, place)
        return self._apply(operation, target, place)

    def apply_built(self, operation: Operation, target: ModuleSpec, forget_dtype: bool) -> Value:
        """Call a model of another package: its value, a `PartCall` of a part that has to be called, or a `PartAnswer`. The
        operation is recorded by the caller, who may have to ask several times."""
        return self._applied(operation, target, self._common_device(operation), forget_dtype)

    def operation(
        self,
        target: str,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        module: LibraryModule | None,
        written: bool = True,
    ) -> Operation:
        tensors = hierarchy.tensors_in((*args, *kwargs.values()))
        specs = tuple(self.resolved_spec(tensor.spec) for tensor in tensors)
        nodes = tuple(node_of(tensor) for tensor in tensors)
        points, certain = tuple(self.loop_points), self.uncertain == 0
        site = self.site(node, frame)
        return Operation(target, site, args, kwargs, module, specs, written, nodes, points, certain, tuple(tensors))

    def _apply(self, operation: Operation, target: Target, place: Device | None) -> Value:
        self.trace.operations.append(operation)
        return self._applied(operation, target, place)

    def _applied(self, operation: Operation, target: Target, place: Device | None, forget_dtype: bool = False) -> Value:
        self.tick(3)
        if operation.module is not None or operation.target.startswith(_TENSORS_ONLY):
            site = operation.site
            taken = data.takes_list(self, operation.args, site.node, site.frame)
            if taken or data.refuses_list(self, operation):
                return self._undecided(operation, place)
        if any(spec.shape is None for spec in operation.specs):
            operation = self._ranked(operation)
        guessed = any(spec.shape is not None and spec.dtype is None for spec in operation.specs)
        given = as_kind(operation.first, LibraryModule)
        if operation.target.endswith((".squeeze", ".squeeze_")) and self._may_be_single(operation):
            return self._undecided(operation, place)
        if given is not None and operation.module is not None:
            return self._given_module(operation, operation.module, given, place)
        try:
            outcome = self.outcome(operation, target, autocast.possible(self.autocast, place), guessed)
        except NotASpec:
            refusal = self._refuses_list(operation)
            if refusal is not None:
                self.report(operation, refusal)
            return self._undecided(operation, place)
        if isinstance(outcome, Failure) and self.entry and _NOT_DIFFERENTIABLE in outcome.message:
            return self._undecided(operation, place)  # Who calls the function may have turned recording off.
        if isinstance(outcome, Failure):
            if self.fitting and (fitted := self._fitted(operation, target, place)) is not None:
                return fitted
            self.stopped = True
            self.report(operation, outcome)
            if self.guarded and not self.entry and not self.fitting:
                exceptions.throw(self, exceptions.made(f"builtins.{outcome.exception}", (UNKNOWN,)))
            return self._failed(operation, place)
        if not isinstance(outcome, Result):
            return self._undecided(operation, place)
        if outcome.facts and (failure := self.contradiction(operation, target, outcome)) is not None:
            self.report(operation, failure)
            return self._failed(operation, place)
        for fact in outcome.facts:
            self.learn(fact, operation.site)
        value = self.from_spec(self._own_sizes(outcome), self._maker(operation, place, forget_dtype))
        value = self._in_place(operation, value)
        if self.tape is not None and not (isinstance(target, ModuleSpec) and target.package):
            self.tape.operation(self, operation, target, value)
        return value

    def _own_sizes(self, outcome: Result) -> Any:
        """The value of a result. Of two sizes that are broadcast, one may be 1 where some condition holds, and the result has the
        other one there: it is a size of its own."""
        spec = as_kind(outcome.value, TensorSpec)
        pairs = [(fact.left, fact.right) for fact in outcome.facts if fact.soft]
        mixed = {size for pair in pairs if any(map(self.heap.conditions.is_conditional, pair)) for size in pair}
        if spec is None or not spec.shape or not mixed:
            return outcome.value
        shape = tuple(self.fresh_size("?") if size in mixed else size for size in spec.shape)
        return spec.with_(shape=shape, strides=None)

    def _refuses_list(self, operation: Operation) -> Failure | None:
        """The failure of an operator that is given a list, if it fails for what the list holds, or as it is one: however long it
        is, and whatever shapes its tensors have."""
        given = as_kind(operation.first, ListValue)
        if given is None or given.type_name != "list" or not given.elements:
            return None
        if operation.target in _JOINING and given.items and any_are(given.items, Array):
            place = next(index for index, one in enumerate(given.items) if isinstance(one, Array))
            text = f"expected Tensor as element {place} in argument 0, but got numpy.ndarray"
            return Failure("TypeError", text, confirmed=True)
        kinds = {Tensor if isinstance(one, Tensor) else int if is_int(one) else None for one in given.elements}
        if given.items is not None or len(kinds) > 1 or None in kinds:
            return None
        dtypes = {one.spec.dtype for one in of_kind(given.elements, Tensor)}
        if None in dtypes:
            dtypes = {"float32", "int64"}
        ones: list[Value] = [Tensor(TensorSpec((), dtype, None, False)) for dtype in sorted(map(str, dtypes))] or [1]
        failure: Failure | None = None
        for one in ones:
            asked = replace(operation, args=(ListValue((one, one)), *operation.args[1:]), specs=(), operands=())
            outcome = as_kind(self.asked(asked), Failure)
            if outcome is None or outcome.exception != "TypeError":
                return None
            failure = outcome
        return failure

    def _fitted(self, operation: Operation, target: Target, place: Device | None) -> Value | None:
        """The result that a layer which does not fit would have given for an operand that does. None where that is not known."""
        given = fitting_operand(operation)
        if given is None:
            return None
        spec = operation.specs[0].with_(shape=given, strides=None)
        first = Tensor(spec)
        fits = replace(operation, args=(first, *operation.args[1:]), specs=(spec,), nodes=(None,), operands=(first,))
        try:
            outcome = as_kind(
                self.outcome(fits, target, autocast.possible(self.autocast, place), spec.dtype is None), Result
            )
        except NotASpec:
            return None
        return self.from_spec(outcome.value, self._maker(operation, place)) if outcome is not None else None

    def _may_be_single(self, operation: Operation) -> bool:
        """Whether a dimension that is squeezed is of a size that may be 1: why else would it be squeezed?"""
        shape = operation.specs[0].shape if operation.specs else None
        if shape is None:
            return False
        dim = operation.given(1, "dim")
        places = range(len(shape)) if dim is None else dim if isinstance(dim, tuple) else (dim,)
        squeezed = [shape[place] for place in places if is_index(place, shape)]
        return any(dims.equal(self.resolved(size), 1) is None for size in squeezed)

    def _given_module(
        self, operation: Operation, layer: LibraryModule, given: LibraryModule, place: Device | None
    ) -> Value:
        """A layer with parameters is called with a module for its input: `nn.ReLU(x)` only makes one."""
        value = self._undecided(operation, place)
        if hierarchy.has_own_parameters(layer):
            text = f"argument 'input' (position 1) must be Tensor, not {given.type_name}"
            self.stopped = True
            self.report(operation, Failure("TypeError", text, confirmed=False))
            self.trace.undecided[operation.site.span] -= 1  # It is decided: it fails.
        return value

    def _ranked(self, operation: Operation) -> Operation:
        """The operation with a rank for the operands whose shape is not known, where the operator takes no other."""
        certain = certain_shapes(operation)
        if not certain:
            self.demand(operation)
            return operation
        for tensor, names in certain:
            self.found_shape(tensor, tuple(self.fresh_size(name) for name in names))
        tensors = hierarchy.tensors_in((*operation.args, *operation.kwargs.values()))
        return replace(operation, specs=tuple(self.resolved_spec(tensor.spec) for tensor in tensors))

    def found_shape(self, tensor: Tensor, shape: tuple[Size, ...]) -> None:
        """A tensor of unknown shape turns out to have this one, or some code fails."""
        self.demand_rank(tensor, shape)
        self.heap.set(tensor.slots, "spec", tensor.spec.with_(shape=shape))

    def _maker(
        self, operation: Operation, place: Device | None, forget_dtype: bool = False
    ) -> Callable[[TensorSpec], Tensor]:
        tensors = operation.operands
        name = operation.name
        tags = batch.plain(marks.of_result(name, tensors, operation.args, operation.kwargs))
        history = frozenset(item for tensor in tensors for item in tensor.history)
        origin = Origin(operation.site, operation.target, operation.specs, tensors)
        made: list[Tensor] = []

        def make(spec: TensorSpec) -> Tensor:
            requires_grad = self.recorded(spec, operation, tensors)
            spec = spec.with_(device=place, requires_grad=requires_grad)
            if forget_dtype:
                spec = spec.with_(dtype=None)
            axis = batch.after(operation, tensors, spec.shape, len(made))
            layout = frozenset() if axis is None else frozenset({Batch(axis)})
            layout |= batch.ordered(operation, tensors, spec.shape, len(made))
            tensor = Tensor(spec, origin, tags | layout, history if requires_grad is not False else frozenset())
            made.append(tensor)
            self.connect([tensor], operation, tensors)
            if made[0].slots["node"] is not None and tensor.slots["node"] is not None:
                tensor.slots["node"] = made[0].slots["node"]
            return tensor

        return make

    def gathered(self, path: str, spec: TensorSpec, call: Any) -> Tensor:
        """The result of an operator over a list, of which all is known but its place in the graph."""
        operation = self.operation(path, call.args, call.kwargs, call.node, call.frame, None)
        grads = [tensor.spec.requires_grad for tensor in hierarchy.tensors_in((*call.args, *call.kwargs.values()))]
        recorded = self.grad is not False and True in grads
        return self._maker(operation, spec.device)(spec.with_(requires_grad=recorded))

    def _failed(self, operation: Operation, place: Device | None) -> Value:
        """The value that an operator which raises would have given: what follows is not held against its operands."""
        value = self._undecided(operation, place)
        self.trace.undecided[operation.site.span] -= 1  # It is decided: it fails.
        if isinstance(value, Tensor) and self.grad is not False and value.spec.requires_grad is False:
            self.heap.set(value.slots, "spec", value.spec.with_(requires_grad=None))
        return value

    def _undecided(self, operation: Operation, place: Device | None) -> Value:
        """The value of an operator whose outcome is not known: a tensor where that much is certain."""
        self.trace.undecided[operation.site.span] += 1
        if self.tape is not None:
            self.tape.undecided(self, operation)
        name = operation.name
        writes = self.is_inplace(operation) or _is_inplace_method(operation)
        changed = as_kind(operation.args[0], Tensor) if operation.args and writes else None
        if changed is not None and not self.keeps_values(operation):
            self.retag(changed)
            self.count_change(changed.storage, operation.site)
        if changed is not None and operation.module is None and self.oracle.keeps_form(operation.target):
            return changed
        tensors = hierarchy.tensors_in((*operation.args, *operation.kwargs.values()))
        pair = _gives_pair(name, operation)
        if (
            operation.module is None
            and not pair
            and not (operation.target.startswith("operator.") and name != "getitem")
        ):
            if name not in marks.KEPT_BY | _GIVES_PARTS and not self._gives_tensor(operation):
                history = frozenset(item for tensor in tensors for item in tensor.history)
                self.trace.consumed.update(history if not python.is_pure(name) else ())
                return UNKNOWN
        plain = all_are(operation.args, Tensor, Dim, bool, int, float, Scalar)
        if operation.target.startswith("operator.") and not plain:
            if name != "getitem" or not isinstance(operation.args[0], Tensor):
                return UNKNOWN
        if operation.module is not None and not hierarchy.returns_tensor(operation.module):
            return self._parts_of_result(operation, operation.module, place)
        requires_grad: bool | None = None
        if self.grad is False or never_differentiable(operation.target):
            requires_grad = False
        elif self.grad and (self.is_trainable(operation.module) or any(part.spec.requires_grad for part in tensors)):
            requires_grad = True
        elif self._without_graph(operation, tensors):
            requires_grad = False
        make = self._maker(operation, place)
        tensor = make(
            TensorSpec(self._known_shape(operation), _dtype_of_operator(operation), place, bool(requires_grad))
        )
        # It is new: no branch and no entry that is undone has seen it otherwise.
        tensor.slots["spec"] = tensor.spec.with_(requires_grad=requires_grad)
        if pair:
            return NamedResult(("values", "indices"), (tensor, Tensor(TensorSpec(None, "int64", place, False))))
        return _parts(tensor, operation) if name in _GIVES_PARTS else tensor

    def _known_shape(self, operation: Operation) -> tuple[Size, ...] | None:
        """The shape of the result of an operator whose outcome is not known, where it follows from the operator alone."""
        name, tensor = operation.name, as_kind(operation.first, Tensor)
        if operation.module is not None:
            return () if hierarchy.is_reduced_loss(operation.module) else None
        if name in _REDUCTIONS and len(operation.args) == 1 and not operation.kwargs:
            return ()
        shape = self.resolved_spec(tensor.spec).shape if tensor is not None and name in _GIVES_PARTS else None
        axis = as_kind(operation.given(2, "dim", 0), int)
        if not shape or axis is None or not is_index(axis, shape):
            return None
        most = as_kind(operation.given(1, "split_size"), int) if name == "split" else None
        part = draws.between(self, 1, most) if most is not None and most > 0 else self.fresh_size("?")
        return (*shape[: axis % len(shape)], part, *shape[axis % len(shape) + 1 :])

    def _gives_tensor(self, operation: Operation) -> bool:
        """Whether an operator returns one tensor, whatever is not known of its operands."""
        if operation.name == "where":
            return len(operation.args) == 3
        if operation.target.startswith("torch.distributions."):
            return operation.name in _OF_DISTRIBUTIONS
        if operation.name in ("max", "min") and operation.target.startswith(("torch.", "Tensor.")):
            # Of one tensor, or element by element of two; with a dimension it is a pair.
            second = operation.given(1, "other")
            return isinstance(second, Tensor) or len(operation.args) + len(operation.kwargs) == 1
        if (
            operation.name.endswith("_")
            or operation.target.startswith("torch.special.")
            or _MORE & set(operation.kwargs)
        ):
            return False
        return self.oracle.gives_tensor(operation.target)

    def _parts_of_result(self, operation: Operation, module: LibraryModule, place: Device | None) -> Value:
        """The result of a layer that gives several things: of a recurrent one that is given a tensor, its output is one."""
        parts = hierarchy.parts_of_result(module)
        given = as_kind(operation.first, Tensor)
        if module.path not in hierarchy.RECURRENT or given is None or not isinstance(parts, tuple):
            return parts
        output = self._maker(operation, place)(TensorSpec(None, None, place, False))
        output.slots["spec"] = output.spec.with_(requires_grad=False if self.grad is False else None)
        return output, *parts[1:]

    @staticmethod
    def _without_graph(operation: Operation, tensors: list[Tensor]) -> bool:
        """Whether nothing that an operator was given can carry a graph."""
        module = operation.module
        if module is not None and (module.children is not None or hierarchy.has_own_parameters(module)):
            return False
        given: tuple[Value, ...] = (*operation.args, *operation.kwargs.values())
        if operation.target in hierarchy.ENTROPIES and tensors and is_unknown(operation.given(1, "target")):
            given = (operation.first,)  # The classes are not computed with a graph.
        plain = all(isinstance(value, Tensor | bool | int | float | str | Scalar | Dim | None) for value in given)
        return plain and all(tensor.spec.requires_grad is False for tensor in tensors)

    def _in_place(self, operation: Operation, value: Value) -> Value:
        """Methods ending in an underscore change their receiver and return it."""
        inplace = _is_inplace_method(operation)
        if self.is_inplace(operation) and operation.args:
            if isinstance(operation.args[0], Tensor) and not self.keeps_values(operation):
                self.retag(operation.args[0])
                if isinstance(value, Tensor):
                    value.storage = operation.args[0].storage
                    self.written(operation.args[0], value, operation.site.node, operation.site.frame)
        receiver = as_kind(
            operation.kwargs.get("out", operation.args[0] if inplace and operation.args else None), Tensor
        )
        if receiver is None:
            return value
        if isinstance(value, Tensor):
            spec = value.spec.with_(device=receiver.spec.device)
            if receiver.parameter:
                spec = spec.with_(requires_grad=receiver.spec.requires_grad)
            self.written(receiver, value, operation.site.node, operation.site.frame)
            self.heap.set(receiver.slots, "spec", spec)
            self.heap.set(receiver.slots, "history", receiver.history | value.history)
            self.retag(receiver, value.tags)
        return receiver

    def retag(self, tensor: Tensor, tags: Tags = frozenset()) -> None:
        """The tensor holds new values: `tags` are true of them, and what was true of the old ones is forgotten."""
        layout = frozenset(of_kind(tensor.tags, Batch))
        kept = layout | batch.plain(tags)
        if kept != tensor.tags:
            self.heap.set(tensor.slots, "tags", kept)

    def _callers_may_mend(self, operation: Operation, failure: Failure) -> bool:
        """Whether what fails in code that nothing calls may work with what its callers give."""
        functions = [frame.function for frame in _stack(operation.site.frame) if frame.function is not None]
        if "NoneType" in failure.message:
            return any(map(_may_be_given, functions))
        if "non-empty" in failure.message:
            # Parts that are left out, as the defaults of the calls or of the constructors have it.
            owners = [function.owner for function in functions if function.owner is not None]
            made = [self.class_attribute(owner, "__init__") for owner in owners]
            return any(_may_be_given(one) for one in of_kind((*functions, *made), Function))
        # Bounds that callers choose: which of them is greater depends on what stands for them.
        return "to be less than 'to'" in failure.message

    def report(self, operation: Operation, failure: Failure) -> None:
        """Record that PyTorch raises here, once per place and message."""
        if self.guarded:
            return
        if self.entry_point is not None:
            if failure.exception == "TypeError" and _of_supposed_type(operation):
                return
            if self._callers_may_mend(operation, failure):
                return
        if failure.exception == "TypeError" and misuse.refuses_arguments(self, operation, failure):
            return
        if failure.exception == "TypeError" and not self._is_of_script(operation, failure):
            return
        if self.entry and self.uncertain > operation.site.frame.outermost.certain:
            # One way through a function that is called with arguments that may be any: it may never be taken so.
            return
        if self._may_be_filled(operation):
            return
        span = operation.site.span
        key = (span, failure.message.partition("(")[0])
        if key not in self.failures_seen:
            self.failures_seen.add(key)
            last_batch = any(point.last for point in self.loop_points)
            self.trace.failures.append(OperatorFailure(operation, failure, last_batch))

    def _may_be_filled(self, operation: Operation) -> bool:
        """Whether it is given an empty list of an object that code which is not known has, too: another process, a thread, a
        callback."""
        given = as_kind(operation.first, ListValue)
        if given is None or given.items != ():
            return False
        frame = operation.site.frame
        names = (value for scope in (frame.names, *frame.closure) for value in scope.values())
        owners = [one for one in of_kind(names, Instance) if one.identity in self.trace.escaped]
        parts = [
            part for owner in owners for held in owner.slots.values() for part in of_kind(_parts_of(held), ListValue)
        ]
        stood_for = [id(slots) for slots in given.slots.stands_for or ()]
        return any(part is given or id(part.slots) in stood_for for part in parts)

    def _is_of_script(self, operation: Operation, failure: Failure) -> bool:
        """Whether a TypeError is certain to be one of the script's: what it is about is known, and no condition that is not
        decided stands before it, which may ask for the kind."""
        if any(part in failure.message for part in _ERRORS_OF_TYPES) or operation.target.startswith(_CERTAIN):
            return True
        values = (*operation.args, *operation.kwargs.values())
        known = failure.confirmed and not any(
            is_unknown(value) or isinstance(value, Scalar | NamedResult) for value in values
        )
        certain = misuse.is_certain(self, operation.site.frame)
        return known and certain and any(part in failure.message for part in _ERRORS_OF_KINDS)

    def learn(self, fact: Equality, site: Site | None = None) -> None:
        """Take in an equality of sizes that an operator proved; soft ones prove nothing."""
        if fact.soft and not self.rigid:
            return
        difference = dims.subtract(self.resolved(fact.left), self.resolved(fact.right))
        if self.rigid and self.keeps_apart(difference, fact, site):
            return
        solution = None if fact.soft else dims.solve(difference, self.rigid)
        if solution is not None:
            self.heap.set(self.substitution, solution[0], solution[1])

    # -- devices -----------------------------------------------------------------------------------

    def _common_device(self, operation: Operation) -> Device | None:
        """The device of the result; operands on different ones are recorded as a conflict."""
        sides: list[tuple[str, Device | None, Value, int | None]] = []
        if operation.module is not None and hierarchy.has_parameters(self, operation.module):
            sides.append(("module", operation.module.device, operation.module, None))
        elsewhere = _on_any_device(operation)
        for tensor in operation.operands:
            if not any(tensor is other for other in elsewhere):
                sides.append(("tensor", tensor.spec.device, tensor, tensor.spec.rank))
        if operation.module is not None:
            for value in of_kind((*operation.module.args, *operation.module.kwargs.values()), Tensor):
                if hierarchy.is_loss(operation.module.path):
                    place = value.spec.device if operation.module.device == CPU else operation.module.device
                    sides.append(("weight", place, value, value.spec.rank))
        name = operation.name
        if self.heap.conditions.assumed:
            sides = [(kind, self.heap.conditions.place(place), value, rank) for kind, place, value, rank in sides]
        known = [side for side in sides if side[1] is not None]
        if not sides:
            whole = all(map(_is_whole, (*operation.args, *operation.kwargs.values())))
            return CPU if operation.module is None and whole else None
        if name in _DEVICE_FREE:
            return known[0][1] if known else None
        # A zero-dimensional CPU tensor mixes with any device, and CPU indices may index any tensor.
        strict = [side for side in known if side[3] != 0 and not (side[:2] == ("tensor", CPU) and side[3] is None)]
        if name == "getitem" and strict and strict[0][2] is sides[0][2] and strict[0][1] != CPU:
            strict = [strict[0], *(side for side in strict[1:] if side[1] != CPU)]
        for side in strict[1:]:
            left, right = strict[0], side
            assert left[1] is not None and right[1] is not None
            if conflict(left[1], right[1]):
                self._report_conflict(operation, left[:3], right[:3])
                # What follows is analysed as if the stray operand had been moved.
                return left[1] if left[1] != CPU else right[1]
        if len(known) < len(sides):
            return None
        ranked = strict or known
        return ranked[0][1] if ranked else None

    def _report_conflict(self, operation: Operation, left: Any, right: Any) -> None:
        key = (operation.site.span, "device")
        if not self.guarded and key not in self.failures_seen:
            self.failures_seen.add(key)
            self.trace.conflicts.append(DeviceConflict(operation, left, right))

    # -- binary operators, items, attributes -------------------------------------------------------

    def tensor_binary(self, name: str, left: Value, right: Value, node: ast.AST, frame: Frame, inplace: bool) -> Value:
        if is_unknown(left) or is_unknown(right):
            tensors = hierarchy.tensors_in((left, right))
            history = frozenset(item for tensor in tensors for item in tensor.history)
            if inplace and isinstance(left, Tensor):
                # Whatever it is, it is written into the same memory.
                self.written(left, None, node, frame)
                grad = left.spec.requires_grad if left.parameter or left.slots.get("leaf") else None
                self.heap.set(left.slots, "spec", left.spec.with_(requires_grad=grad))
                self.retag(left)
                return left
            made = self._opaque(history)
            cuts = [cut_of(tensor) for tensor in tensors if tensor.spec.requires_grad is False]
            made.slots["cut"] = next((cut for cut in cuts if cut is not None and cut.kind == "first_order"), None)
            if name in _KEEPS_GRAPH and self.grad and any(part.spec.requires_grad for part in tensors):
                # Whatever the other one is, the result is computed from what requires grad.
                made.slots["spec"] = made.spec.with_(requires_grad=True)
                operation = self.operation(f"operator.{name}", (left, right), {}, node, frame, None)
                self.connect([made], operation, tensors)
                part = node_of(made)
                if part is not None:
                    part.open = True
            return made
        if inplace and isinstance(left, Tensor):
            method = f"Tensor.__i{name.rstrip('_')}__"
            value = self.operate(method, (left, right), {}, node, frame)
            if isinstance(value, Tensor):
                self.written(left, value, node, frame)
                self.heap.set(left.slots, "spec", value.spec.with_(device=left.spec.device))
                self.heap.set(left.slots, "history", left.history | value.history)
                self.retag(left, value.tags)
                return left
            return value
        value = self.operate(f"operator.{name}", (left, right), {}, node, frame)
        return draws.computed(self, name, left, right, value)

    def _opaque(self, history: frozenset[int]) -> Tensor:
        """A tensor about which nothing is known but the graph it may carry."""
        tensor = Tensor(UNKNOWN_TENSOR, None, frozenset(), history)
        return tensor

    def tensor_get_item(self, container: Tensor, key: Value, node: ast.AST, frame: Frame) -> Value:
        if is_unknown(key):
            return self._opaque(container.history)
        if container.spec.shape is None:
            operation = self.operation("operator.getitem", (container, key), {}, node, frame, None)
            self.trace.operations.append(operation)
            return self._undecided(operation, container.spec.device)
        if isinstance(key, str):
            # A text is taken for a sequence of indices, none of which is one.
            operation = self.operation("operator.getitem", (container, key), {}, node, frame, None)
            self.report(operation, Failure("TypeError", "new(): invalid data type 'str'", confirmed=True))
            return self._opaque(container.history)
        selected = selection.item(self, container, key, node, frame)
        if selected is not None:
            return self._opaque(container.history) if is_unknown(selected) else selected
        parts = tuple_of(key)
        if any(is_unknown(part) or isinstance(part, Scalar) for part in parts):
            return self._opaque(container.history)
        # An index that is not known picks one element: any index does for the shape.
        parts = tuple(
            AnyIndex(0) if isinstance(self.resolved(part), Dim) else self._with_plain_bounds(part) for part in parts
        )
        bounds = [bound for part in of_kind(parts, SliceValue) for bound in (part.start, part.stop)]
        if any_are(bounds, Unknown, Scalar, Tensor, Array):
            return self._opaque(container.history)
        one = self.operate(
            "operator.getitem", (container, parts if isinstance(key, tuple) else parts[0]), {}, node, frame
        )
        self._size_slices(container, parts, one)
        return draws.mark(container, self.resolved(key), one, self)

    def _size_slices(self, container: Tensor, parts: tuple[Value, ...], result: Value) -> None:
        """Sizes of slices between random integers, which the oracle does not know to lie within the tensor."""
        slices = of_kind(parts, SliceValue)
        symbolic = any(isinstance(bound, Dim) for part in slices for bound in (part.start, part.stop))
        if not symbolic and not any_are(container.spec.shape or (), Dim):
            return
        if not all_are(parts, SliceValue, int, Dim):
            return
        if not isinstance(result, Tensor) or container.spec.shape is None or result.spec.shape is None:
            return
        shape, place = list(result.spec.shape), 0
        for part, size in zip(parts, container.spec.shape):
            if isinstance(part, SliceValue):
                size = self.resolved(size)
                whole = part.start is None and part.stop is None and part.step in (None, 1)
                known = size if whole else draws.sliced(self, part, size)
                shape[place] = shape[place] if known is None else known
                place += 1
        self.heap.set(result.slots, "spec", result.spec.with_(shape=tuple(shape)))

    def _with_plain_bounds(self, part: Value) -> Value:
        """A slice between elements of tensors or arrays, as the numbers that they are."""
        if not isinstance(part, SliceValue):
            return part
        return SliceValue(*(draws.plain_number(self, bound) for bound in (part.start, part.stop, part.step)))

    def tensor_set_item(self, container: Tensor, key: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        demands.to_part(self, container, key, value, node, frame)
        if is_unknown(value) or (isinstance(value, Choice) and any_are(value.options, Tensor)):
            # It may bring a graph with it.
            value = Tensor(UNKNOWN_TENSOR)
        self.written(container, as_kind(value, Tensor), node, frame, copied=True)
        left = integers.rest(container, self.resolved_spec(container.spec).shape, self.resolved(key))
        new = contained.written(self.resolved(value))
        ends = contained.together((new, None if left is None else Ends(left[0], left[0])))
        self.retag(container, frozenset({ends} - {None}))
        self.heap.set(container.slots, "rest", left)
        if isinstance(value, Tensor):
            self.heap.set(container.slots, "history", container.history | value.history)
            passes = value.spec.requires_grad is not False and is_differentiable(container.spec.dtype)
            if passes and container.spec.requires_grad is False:
                grad = value.spec.requires_grad if self.grad else False
                self.heap.set(container.slots, "spec", container.spec.with_(requires_grad=grad))

    def set_tensor_attribute(self, owner: Tensor, name: str, value: Value, node: ast.AST, frame: Frame) -> None:
        self.named_by_hand.add(name)
        if name == "requires_grad":
            self.require_grad(owner, self.truth(value), node, frame)
        elif name == "data":
            spec = value.spec if isinstance(value, Tensor) else UNKNOWN_TENSOR
            self.heap.set(owner.slots, "spec", spec.with_(requires_grad=owner.spec.requires_grad))
            self.retag(owner)
        elif name == "grad":
            self.event("grad_touched", owner, node, frame)
            self.heap.set(owner.slots, "has_grad", True)
            self.cleared((owner if owner.owner is None else owner.owner,))
            self.passes += value is not None

    def iterate_tensor(self, value: Tensor, node: ast.AST, frame: Frame) -> Iteration:
        shape = self.resolved_spec(value.spec).shape
        if not shape:
            if shape is not None:
                self.operate("Tensor.__iter__", (value,), {}, node, frame)
            return Iteration((UNKNOWN,), exact=False)
        count = shape[0]
        if count == 0:
            return Iteration((), exact=True)
        element = self.tensor_get_item(value, 0, node, frame)
        if isinstance(count, int) and count <= 64:
            items = [element, *(self._next_item(value, element, index, node, frame) for index in range(1, count))]
            return Iteration(tuple(items[:count]), exact=True, alike=True)
        return Iteration((element,), exact=False)

    def _next_item(self, container: Tensor, first: Value, index: int, node: ast.AST, frame: Frame) -> Value:
        """Another part of a tensor: all that holds of the first one but its place, where there is no graph."""
        if not isinstance(first, Tensor) or first.slots["node"] is not None or first.spec.requires_grad is not False:
            return self.tensor_get_item(container, index, node, frame)
        part = first.copy()
        part.storage = first.storage
        return draws.mark(container, index, part, self)

    def unpacked(
        self, value: Value, count: int, names: list[str], node: ast.AST, frame: Frame
    ) -> tuple[Value, ...] | None:
        """The values that ``a, b, c = value`` binds. The unpacked shape of a tensor of unknown rank fixes
        its rank, and the targets name its sizes."""
        if isinstance(value, Shape):
            tensor = value.tensor
            if tensor.spec.shape is None and not any(name.startswith("*") for name in names):
                shape = tuple(
                    dims.of(self.fresh_symbol(name if name.isidentifier() and name != "_" else "?")) for name in names
                )
                self.heap.set(tensor.slots, "spec", tensor.spec.with_(shape=shape))
                return shape
            return tensor.spec.shape
        iteration = self.iterate(value, node, frame)
        items: tuple[Value, ...] = iteration.items
        if iteration.exact:
            return items
        rows = self.resolved_spec(value.spec).shape if isinstance(value, Tensor) else None
        if rows and isinstance(rows[0], int) and rows[0] != count:
            return None
        if len(items) == 1 and isinstance(items[0], Tensor) and not any(name.startswith("*") for name in names):
            return tuple(items[0].copy() for _ in names)
        return None

    # -- records -----------------------------------------------------------------------------------

    def record_fact(self, node: ast.AST, value: Value, frame: Frame, binding: str | None) -> None:
        if isinstance(value, Choice):
            for option in value.options:
                self.record_fact(node, option, frame, binding)
            return
        if not isinstance(value, Tensor) and not is_unknown(value):
            return
        start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        place = (frame.path, *start, *end)
        seen = self.trace.facts.get(place)
        if seen is not None and self.entry and seen.certain:
            # What calls that are known have shown is not blurred by one with arguments that stand for any.
            return
        if not isinstance(value, Tensor):
            self.trace.obscure.add(place)
            return
        if seen is None:
            site = self.site(node, frame)
            seen = self.trace.facts[place] = Sighting(site, binding, certain=not self.entry)
        seen.obscured = seen.obscured or value.obscured
        spec = self.resolved_spec(value.spec)
        if self.learned_aside and _mentions(value.spec, self.learned_aside):
            seen.demanded |= _found_out(value.spec, spec)
        if spec.shape is None and len(seen.shapeless) < MAX_SIGHTINGS:
            seen.shapeless.append(value)
        elif spec not in seen.specs:
            if len(seen.specs) >= MAX_SIGHTINGS:
                spec = self.heap.join_specs(seen.specs.pop(), spec)
            seen.specs.append(spec)
        _note_call(seen, spec, frame)

    def settle_facts(self) -> None:
        """Put into the facts what was found out after they were recorded."""
        for seen in self.trace.facts.values():
            specs = [*seen.specs, *(tensor.spec for tensor in seen.shapeless)]
            found = [self.resolved_spec(spec) for spec in specs]
            for before, after in zip([*seen.specs, *(UNKNOWN_TENSOR for _ in seen.shapeless)], found):
                if after is not before:
                    seen.demanded |= _found_out(before, after)
                    seen.calls.setdefault(after, {}).update(seen.calls.pop(before, {}))
            seen.specs = list(dict.fromkeys(found))
            seen.shapeless.clear()

    def event(self, kind: str, subject: Value, node: ast.AST, frame: Frame, **more: Any) -> None:
        if self.tape is not None:
            self.tape.event(self, kind, subject, node, frame)
        tensor = as_kind(more.get("tensor"), Tensor)
        self.passes += kind == "backward"
        if tensor is not None:
            more |= {"history": tensor.history, "node": node_of(tensor)}
        self.trace.events.append(
            Event(
                kind,
                len(self.trace.events),
                self.site(node, frame),
                subject,
                tuple(self.loop_points),
                self.uncertain == 0,
                self.grad,
                **more,
            )
        )


def _gives_pair(name: str, operation: Operation) -> bool:
    """Whether an operator gives values and their indices: ``x.max(dim)``, ``x.topk(k)``."""
    if name not in ("max", "min", "topk", "sort") or not operation.target.startswith(("torch.", "Tensor.")):
        return False
    dim = as_kind(operation.given(1, "dim"), int)
    return name in ("topk", "sort") or dim is not None


def _found_out(before: TensorSpec, after: TensorSpec) -> set[int]:
    """The dimensions whose sizes are numbers now, and were not before."""
    old: tuple[Size | None, ...] = before.shape or (None,) * len(after.shape or ())
    return {
        number
        for number, (size, known) in enumerate(zip(after.shape or (), old))
        if isinstance(size, int) and not isinstance(known, int)
    }


def _mentions(spec: TensorSpec, symbols: set[Symbol]) -> bool:
    return any(symbol in symbols for size in spec.shape or () for symbol in dims.symbols(size))


def _is_inplace_method(operation: Operation) -> bool:
    """Whether an operator is, by its name, one of those that write into their operand: ``x.add_(y)``."""
    return operation.module is None and is_in_place(operation.target)


def never_differentiable(target: str) -> bool:
    """Whether no gradient passes an operator, whatever it is applied to."""
    name = target.rpartition(".")[2]
    if target.startswith("operator."):
        return name in _COMPARES | _BITWISE
    if target.startswith("torch.distributions."):
        return name == "sample"
    return name in _WITHOUT_GRADIENT or name.endswith("_like") or name.startswith("new_")


def _dtype_of_operator(operation: Operation) -> str | None:
    """The dtype of what an operator gives, where it follows from its name and the dtypes of the operands."""
    name = operation.name.removeprefix("__i").strip("_")
    first = as_kind(operation.first, Tensor)
    if operation.target.startswith("operator."):
        logical = name in _BITWISE_NAMES and all(
            isinstance(value, bool) or (isinstance(value, Tensor) and value.spec.dtype == "bool")
            for value in operation.args
        )
        if name in _COMPARES or logical:
            return "bool"
    if operation.module is not None:
        return None
    if name in _SAME_DTYPE and first is not None:
        return None if any_are(operation.args, DType) else first.spec.dtype  # `x.view(torch.int32)` reads other numbers
    dtypes = {tensor.spec.dtype for tensor in operation.operands}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    if operation.target in _JOINING:
        return dtype
    numbers = all_are([one for one in operation.args if not isinstance(one, Tensor)], Dim, int, float)
    floating = dtype is not None and "float" in dtype
    return dtype if name in _ARITHMETIC and floating and numbers else None


def _parts(part: Tensor, operation: Operation) -> Value:
    """As many parts as are asked for, unless the tensor has fewer elements than that."""
    asked = operation.given(1, "chunks")
    sizes = opened(asked)
    whole = operation.target.endswith("split") and not isinstance(sizes, tuple)
    count = as_kind(None if whole else len(sizes) if isinstance(sizes, tuple) else sizes, int)
    if count is None or not 0 < count <= MAX_PARTS:
        return ListValue(Several((part,)), "tuple")
    return tuple(part.copy() for _ in range(count))


def _stack(frame: Frame | None) -> Iterator[Frame]:
    """A frame, and those that called it."""
    while frame is not None:
        yield frame
        frame = frame.caller


def _may_be_given(function: Function) -> bool:
    """Whether a function has an argument that is None where a caller gives nothing else."""
    return None in (*function.defaults, *function.keyword_defaults.values())


def _of_supposed_type(operation: Operation) -> bool:
    """Whether an argument is a number, for which there may be nothing but an annotation, or a None that may be nothing but
    the default of a parameter: callers may give a tensor, or something else than None."""
    if any_are(operation.args, Scalar, Dim):
        return True
    function, node = operation.site.frame.function, operation.site.call
    if None not in operation.args or node is None:
        return False
    parameters = {part.arg for part in nodes_in(function.node.args, ast.arg)} if function else set()
    return any(isinstance(part, ast.Attribute) or (plain_name(part) in parameters) for part in node.args)


def _parts_of(held: Value) -> Iterator[Value]:
    """A value, what it may be, and what it holds, if it is a dict or a list."""
    for option in held.options if isinstance(held, Choice) else (held,):
        yield option
        held_in = option.elements if isinstance(option, DictValue) else elements_of(option)
        yield from held_in or ()


def _on_any_device(operation: Operation) -> list[Value]:
    """Operands that need not be where the others are: lengths for CTC, and its targets where cuDNN may take them."""
    if operation.name not in ("ctc_loss", "CTCLoss"):
        return []
    named = ("targets", "input_lengths", "target_lengths")
    given = dict(zip(named, operation.args[1:4])) | operation.kwargs
    targets = as_kind(given.get("targets"), Tensor)
    own_device = targets is not None and targets.spec.dtype not in ("int32", None)
    return [given.get(name) for name in (named[1:] if own_device else named)]


def _is_whole(value: Value) -> bool:
    """Whether all of a value is known, so that it holds no tensor but those that are seen in it."""
    if isinstance(value, ListValue | tuple):
        if limits.is_large(value):
            return False
        items = items_of(value)
        return items is not None and all(map(_is_whole, items))
    return not (is_unknown(value) or isinstance(value, Choice))


def _note_call(seen: Sighting, spec: TensorSpec, frame: Frame) -> None:
    """Keep which call of the function around an expression gave a tensor."""
    while frame.around is not None:
        frame = frame.around
    call, caller = frame.call, frame.caller
    calls = seen.calls.setdefault(spec, {})
    if call is not None and caller is not None and len(calls) < MAX_SIGHTINGS:
        ends = (call.end_lineno or call.lineno, call.end_col_offset or call.col_offset)
        place = (caller.path, call.lineno, call.col_offset, *ends)
        calls[place] = caller.source, call


__all__ = ["MISSING", "Instance", "TensorOperations", "parse"]

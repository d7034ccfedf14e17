"""Questions to the oracle: abstract values as specs and back, and what operators answer whatever is not known of the operands."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, overload

from torchsleuth.interp import autocast, limits, selection
from torchsleuth.interp.autograd import Autograd
from torchsleuth.interp.library import distributions, draws, hierarchy, layers, published, records
from torchsleuth.interp.trace import Operation
from torchsleuth.oracle.sizes import map_sizes
from torchsleuth.sifting import as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size, Symbol
from torchsleuth.tensors.generality import always_apart
from torchsleuth.tensors.spec import (
    Autocast,
    DictSpec,
    DType,
    Failure,
    Hole,
    ListSpec,
    ModuleSpec,
    Native,
    NotASpec,
    ObjectSpec,
    Outcome,
    PartCall,
    Result,
    SliceSpec,
    StructSpec,
    TensorSpec,
    is_differentiable,
    scalar_types,
    with_dtypes,
    without_dtype,
    without_sizes,
)
from torchsleuth.values import (
    UNKNOWN,
    Array,
    DictValue,
    LibraryModule,
    ListValue,
    NamedResult,
    Record,
    Scalar,
    SliceValue,
    Tensor,
    Value,
    is_plain,
)

_DTYPES = ("float64", "bfloat16", "float16", "int64", "uint8", "bool", "complex128")
"""Dtypes that operands of unknown dtype may have: a result's dtype is known where it is the same for all that work. First
those that most often make a difference."""
_FLOATING = "bfloat16"
"""The dtype that stands for those of tensors that require grad, where another one is assumed that is of integers."""
_ABOUT_DTYPES = frozenset(
    "is_complex is_floating_point is_signed element_size itemsize nbytes type is_conj isreal".split()
)
"""Operators that say something of the dtype of their operand, or of its bytes."""
_NUMBERS = ((48, 5), (97, 7), (224, 3))
"""The first number and the distance to the next one, of those that names stand for where an operator is tried."""
MAX_JOINT = 1 << 15
"""Answers that are remembered for calls that are asked about in several ways."""

Target = str | ModuleSpec | layers.FunctionalForm
"""The operator or module that the oracle is asked to apply."""


class Questions(Autograd):
    """The interpreter's questions about operators. The attributes are set by `Execution`."""

    assumed_dtype: str | None = None
    made = 0
    """Symbols made for sizes that depend on data."""

    # -- from abstract values to specs -------------------------------------------------------------

    @overload
    def resolved(self, value: Size) -> Size: ...

    @overload
    def resolved(self, value: Value) -> Value: ...

    def resolved(self, value: Value) -> Value:
        """A symbolic size with everything that is known by now put in."""
        known = self.substitution
        if isinstance(value, Dim) and any(symbol in known for symbol in value.symbols):
            value = dims.rebuild(value, self._known)
        if isinstance(value, Dim) and self.heap.conditions.assumed:
            return self.heap.conditions.size(value)
        return value

    def named(self, value: Value, name: str) -> Value:
        """An unknown integer gets the name of the variable that it is assigned to first."""
        symbol = dims.symbol(value) if isinstance(value, Dim) else None
        if symbol is None or symbol.name != "?" or symbol in self.substitution or name == "_":
            return value
        renamed = dims.of(self.fresh_symbol(name, symbol.positive))
        self.heap.set(self.substitution, symbol, renamed)
        self.heap.conditions.renamed(symbol, dims.symbol(renamed) or symbol)
        return renamed

    def _known(self, symbol: Symbol) -> Size:
        value = self.substitution.get(symbol)
        return dims.of(symbol) if value is None else self.resolved(value)

    def resolved_spec(self, spec: TensorSpec) -> TensorSpec:
        if spec.shape is None or not spec.symbolic or not (self.substitution or self.heap.conditions.assumed):
            return spec
        shape = tuple(map(self.resolved, spec.shape))
        strides = spec.strides and tuple(map(self.resolved, spec.strides))
        return spec if shape == spec.shape and strides == spec.strides else spec.with_(shape=shape, strides=strides)

    def to_spec(self, value: Value) -> Any:
        """The oracle's description of a value. Raises NotASpec."""
        value = records.plain(value)
        match value:
            case Tensor():
                if self.held is not None:
                    return self.held(value)
                spec = value.spec
                if spec.shape is None or (spec.dtype is None and self.assumed_dtype is None):
                    raise NotASpec("a tensor of unknown shape or dtype")
                spec = self.resolved_spec(spec)
                if spec.device is not None and spec.device.when is not None:
                    spec = spec.with_(device=None)
                return self._assumed(spec) if spec.dtype is None and self.assumed_dtype else spec
            case Dim():
                return self.resolved(value)
        if value is None or isinstance(value, bool | int | float | complex | str | type(...) | DType):
            return value
        match value:
            case tuple():
                return tuple(self.to_spec(item) for item in value)
            case ListValue():
                if value.items is None:
                    raise NotASpec("a list of unknown length")
                return ListSpec(tuple(self.to_spec(item) for item in value.items))
            case DictValue():
                if value.items is None:
                    raise NotASpec("an unknown dict")
                return DictSpec(tuple((key, self.to_spec(item)) for key, item in value.items.items()))
        if isinstance(value, Array):
            number = draws.plain_number(self, value)
            if number is not value:
                return self.to_spec(number)
        match value:
            case Scalar():
                return Hole(value.type)
            case SliceValue():
                return SliceSpec(*(self.to_spec(part) for part in (value.start, value.stop, value.step)))
            case Native(kind="function" | "module-class" | "class"):
                return value
            case Native() if value.path.startswith(published.PACKAGES):
                return value
            case LibraryModule():
                return self.recipe(value)
        if distributions.is_distribution(value) or (published.is_configuration(value) and not value.slots):
            kwargs = sorted((name, self.to_spec(item)) for name, item in value.kwargs.items())
            return ObjectSpec(value.path, tuple(self.to_spec(item) for item in value.args), tuple(kwargs))
        raise NotASpec(type(value).__name__)

    def changed(self, module: LibraryModule) -> dict[str, Value]:
        """The attributes that were set on a layer, but for marks: plain values under names that the layer knows nothing of."""
        assigned: dict[str, Value] = module.slots["attributes"]
        own = self.oracle.attributes(module.path) if assigned else frozenset()
        return {name: value for name, value in assigned.items() if not own or name in own or not is_plain(value)}

    def recipe(self, module: LibraryModule) -> ModuleSpec:
        """How to build the module. Raises NotASpec if that depends on something unknown."""
        if module.built is not None:
            return published.recipe(self, module)
        if module.slots["children"] is not None or self.changed(module) or module.broken:
            raise NotASpec("a container or a changed module")
        kwargs = {
            name: value
            for name, value in module.kwargs.items()
            if name != "device" and not (name == "dtype" and value is None)
        }
        return ModuleSpec(
            module.path,
            tuple(self.to_spec(value) for value in module.args),
            tuple(sorted((name, self.to_spec(value)) for name, value in kwargs.items())),
            module.slots["training"] is not False,
            module.slots["dtype"],
            module.slots["requires_grad"] is not False,
        )

    def from_spec(self, value: Any, make: Callable[[TensorSpec], Tensor]) -> Value:
        match value:
            case TensorSpec():
                return make(value)
            case tuple():
                return tuple(self.from_spec(item, make) for item in value)
            case StructSpec():
                parts = tuple(self.from_spec(item, make) for item in value.items)
                if value.of is not None:
                    return Record(dict(zip(value.fields, parts)), value.of)
                return NamedResult(value.fields, parts)
            case ListSpec():
                return ListValue(tuple(self.from_spec(item, make) for item in value.items))
            case DictSpec():
                return DictValue({key: self.from_spec(item, make) for key, item in value.items})
            case PartCall():
                kwargs = tuple((name, self.from_spec(item, make)) for name, item in value.kwargs)
                return PartCall(value.part, tuple(self.from_spec(item, make) for item in value.args), kwargs)
            case Hole():
                return UNKNOWN if value.type == "?" else Scalar(value.type)
        return value

    # -- asking -------------------------------------------------------------------------------------

    def asked(self, operation: Operation) -> Any:
        """The outcome of an operator that nothing else depends on; None where the question cannot be put."""
        guessed = any(spec.dtype is None for spec in operation.specs)
        try:
            return self.outcome(operation, operation.target, (None,), guessed)
        except NotASpec:
            return None

    def outcome(
        self, operation: Operation, target: Target, casts: tuple[Autocast | None, ...], guessed: bool
    ) -> Outcome | None:
        """The oracle's answer, whichever autocast is in effect and, if `guessed`, whichever dtype the operands have of
        which it is not known. None where that is not one thing. Raises NotASpec."""
        args, kwargs = self._described(operation, "" if guessed else None)
        if not guessed and len(casts) == 1:
            return self._ask(operation, target, args, kwargs, casts[0])
        given, grad = tuple(sorted(kwargs.items())), self.grad is not False
        question = (target, args, given, casts, grad, scalar_types(args), scalar_types(given))
        joint = self.oracle.joint
        try:
            if question in joint:
                self.oracle.hits += 1
                self.oracle.work += 1
                return joint[question]
        except TypeError:
            return None  # what cannot be compared cannot be asked

        def ask(cast: Autocast | None) -> Outcome:
            if guessed:
                return self._ask_guessing(operation, target, cast)
            return self._ask(operation, target, args, kwargs, cast)

        symbols = self.made
        outcome: Outcome | None = None
        with contextlib.suppress(NotASpec):
            outcomes = [ask(casts[0])]
            for cast in casts[1:]:
                # Sizes do not depend on the autocast, and dtypes do not depend on sizes.
                kind = (without_sizes(target), without_sizes(args), without_sizes(given), cast, grad)
                alike, first = as_kind(joint.get(kind), Result), as_kind(outcomes[0], Result)
                if alike is not None and first is not None:
                    outcomes.append(Result(with_dtypes(first.value, alike.value), first.facts))
                    continue
                outcomes.append(ask(cast))
                joint[kind] = outcomes[-1]
            outcome = outcomes[0] if len(outcomes) == 1 else autocast.common(outcomes)
        if symbols == self.made:
            # A size that depends on data is another one each time.
            if len(joint) >= MAX_JOINT:
                joint.clear()
            joint[question] = outcome
        return outcome

    def contradiction(self, operation: Operation, target: Target, outcome: Result) -> Failure | None:
        """The failure of an operator that needs two sizes to be equal which never are. Of sizes that nobody has given, those below three
        are left out for what is broadcast."""
        pairs = [(self.resolved(fact.left), self.resolved(fact.right), fact.soft) for fact in outcome.facts]
        if not any(
            not soft and dims.equal(left, right) is False or self.entry and always_apart(left, right, not soft)
            for left, right, soft in pairs
        ):
            return None
        dtypes = _likely_dtypes(operation) or (None,)
        failures = [self._failure_by_numbers(operation, target, dtype) for dtype in dtypes]
        return failures[0] if all(failures) else None

    def _failure_by_numbers(self, operation: Operation, target: Target, dtype: str | None) -> Failure | None:
        """The failure of an operator whatever its sizes are, as PyTorch words it for some numbers. `dtype`: of operands of which it is
        not known."""
        args, kwargs = self._described(operation, dtype)
        given = (args, tuple(kwargs.items()))
        names: dict[Symbol, None] = {}

        def noted(size: Size) -> Size:
            names.update(dict.fromkeys(dims.symbols(size)))
            return size

        map_sizes(given, noted)
        outcomes: list[Outcome] = []
        for least, apart in _NUMBERS:
            known: dict[Symbol, Size] = {name: least + apart * index for index, name in enumerate(names)}
            args, named = map_sizes(given, partial(dims.substitute, values=known))
            outcomes.append(self._ask(operation, target, args, dict(named), None))
        first = outcomes[0]
        return first if isinstance(first, Failure) and all(isinstance(one, Failure) for one in outcomes) else None

    def _described(self, operation: Operation, dtype: str | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the oracle takes them. `dtype`: of tensors of which it is not known, empty to leave it open.
        Raises NotASpec."""
        if any(map(limits.is_large, (operation.args, *operation.kwargs.values()))):
            raise NotASpec("arguments with too many parts")
        with self.assuming(dtype):
            args = tuple([self.to_spec(value) for value in operation.args])
            return args, {name: self.to_spec(value) for name, value in operation.kwargs.items()}

    def _assumed(self, spec: TensorSpec) -> TensorSpec:
        """A tensor of unknown dtype with the one that is assumed. One that requires grad is of no integers."""
        fits = not spec.requires_grad or is_differentiable(self.assumed_dtype)
        return spec.with_(dtype=self.assumed_dtype if fits else _FLOATING)

    @contextlib.contextmanager
    def assuming(self, dtype: str | None) -> Iterator[None]:
        """Descriptions of tensors of unknown dtype have this one, empty to leave it open; None: there are none."""
        self.assumed_dtype = dtype
        try:
            yield
        finally:
            self.assumed_dtype = None

    def _ask(
        self,
        operation: Operation,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        cast: Autocast | None,
    ) -> Outcome:
        counted = selection.COUNTS.get(operation.name, "?")

        def fresh(name: str) -> Symbol:
            self.made += 1
            return self.fresh_symbol(counted if name == "?" else name)

        grad = self.grad is not False
        if isinstance(target, layers.FunctionalForm):
            outcome = self.oracle.call(target.path, target.arguments(args), kwargs, fresh, grad, cast)
            if isinstance(outcome, Failure) and not target.exact:
                raise NotASpec("a layer that stands for others")
            return outcome
        return self.oracle.call(target, args, kwargs, fresh, grad, cast)

    def _ask_guessing(self, operation: Operation, target: Target, cast: Autocast | None) -> Outcome:
        """Operands of unknown dtype: shapes are decided with a dtype that the operator accepts. An error stands
        only if numbers of any kind give the same, and neither complex ones nor masks go through."""
        if operation.name in _ABOUT_DTYPES:
            raise NotASpec("the outcome depends on the dtype")
        failures: list[Failure] = []
        dtypes = _likely_dtypes(operation)
        for dtype in dtypes:
            args, kwargs = self._described(operation, dtype)
            try:
                outcome = self._ask(operation, target, args, kwargs, cast)
            except NotASpec:
                if isinstance(target, layers.FunctionalForm):
                    continue  # one of the layers that this one stands for refuses the dtype, or the sizes
                raise
            if isinstance(outcome, Result):
                return self._whichever(operation, target, cast, outcome, dtype)
            if not isinstance(outcome, Failure):
                return outcome
            failures.append(outcome)
        if len(failures) < 2:
            raise NotASpec("a layer that stands for others")
        if failures[0].message != failures[1].message:
            raise NotASpec("the outcome depends on the dtype")
        # Some operators take complex numbers alone, or masks.
        for dtype in ("complex64", "bool") if "int64" in dtypes else ("complex64",):
            args, kwargs = self._described(operation, dtype)
            outcome = self._ask(operation, target, args, kwargs, cast)
            if isinstance(outcome, Result):
                return self._whichever(operation, target, cast, outcome, dtype)
        return failures[0]

    def _whichever(
        self, operation: Operation, target: Target, cast: Autocast | None, outcome: Result, tried: str
    ) -> Result:
        """The outcome with those dtypes alone that it has whichever dtype the operands have. `tried`: the one it is for."""
        if operation.module is not None and hierarchy.has_own_parameters(operation.module):
            return outcome  # A layer with weights takes operands of their dtype alone.
        # A result of the dtype of the operands would be another one for others.
        value = without_dtype(without_dtype(outcome.value, tried), _FLOATING)
        if value == without_dtype(value):
            return replace(outcome, value=value)
        args, kwargs = self._described(operation, "")
        described = without_sizes((target, args, tuple(sorted(kwargs.items()))))
        kind = ("dtypes", described, cast, self.grad is not False)
        agreed = self.oracle.joint.get(kind)
        if not isinstance(agreed, Result):
            agreed = Result(value)
            for dtype in _DTYPES:
                if agreed.value == without_dtype(agreed.value):
                    break
                other = as_kind(self._ask(operation, target, *self._described(operation, dtype), cast), Result)
                if other is not None:
                    agreed = Result(with_dtypes(agreed.value, other.value, same=True))
            self.oracle.joint[kind] = agreed
        return replace(outcome, value=with_dtypes(value, agreed.value, same=True))


def _likely_dtypes(operation: Operation) -> tuple[str, ...]:
    """Two dtypes of different kinds that operands of unknown dtype may have, none where each is known: first that of the weights of a
    layer. What requires grad is floating point."""
    nameless = [spec for spec in operation.specs if spec.dtype is None]
    floating = all(spec.requires_grad is True for spec in nameless)
    module = operation.module
    own = module.slots["dtype"] if module is not None and hierarchy.has_own_parameters(module) else None
    first = own if isinstance(own, str) else "float32"
    other = "bfloat16" if first == "float32" else "float32"
    return (first, other if floating else "int64") if nameless else ()

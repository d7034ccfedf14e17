"""Records what a script does to tensors up to the second step of its optimizers, so that its memory can be counted."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy, optim, published
from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import given_to, is_literal
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import Dim
from torchsleuth.tensors.program import Gap, Held, Layer, Owned, Place, Program, Step, note_last
from torchsleuth.tensors.spec import DictSpec, DType, ListSpec, ModuleSpec, NotASpec, StructSpec, TensorSpec
from torchsleuth.values import (
    Bound,
    Choice,
    DictValue,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Maybe,
    NamedResult,
    Parameters,
    Partial,
    Scalar,
    Site,
    Tensor,
    Value,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import is_leaf

STEPS = 2
"""Steps of each optimizer that are recorded: from the second one on, its state is there."""
MOST_STEPS = 12
"""Steps of one optimizer after which the others are waited for no more."""
MOST_ITERATIONS = 64
"""Iterations of a training loop that are executed one by one while the steps are waited for."""
_EVENTS = frozenset({"backward", "step", "zero_grad"})
_ANY_RATE = 0.01
"""The number for a learning rate that is not known: no memory depends on it."""


class Complete(BaseException):
    """The tape has what it was made for. No `Exception`: nothing of the program may catch it."""


class Tape:
    """The recorder of one execution."""

    def __init__(self) -> None:
        self.program = Program()
        self.trained = 0
        """How many backward passes were recorded."""
        self._into = [self.program.steps]
        self._tensors: dict[int, Tensor] = {}
        """By their identity, those that are there."""
        self._stored: dict[int, int] = {}
        """For each storage a tensor in it."""
        self._layers: dict[int, LibraryModule] = {}
        self._built: dict[int, tuple[LibraryModule, str]] = {}
        """The parts of models that packages have built, with the model and their names."""
        self._optimizers: dict[int, int] = {}
        """How often each of them has stepped."""
        self._gaps: list[Gap] = []
        self._arguments: list[tuple[int, ...]] = []
        """The tensors that each of the calls of modules was given that are going on."""
        self._located: str | None = None

    # -- what the interpreter tells ----------------------------------------------------------------

    def operation(self, interp: Interpreter, operation: Operation, target: Any, value: Value) -> None:
        """An operator or a layer was applied."""
        if self._is_off(interp):
            return
        place = _place(operation.site)
        module = operation.module
        try:
            if not isinstance(target, str) and module is None:
                raise NotASpec(operation.target)
            args = tuple(self._spec(interp, item, operation.site) for item in operation.args)
            kwargs = {name: self._spec(interp, item, operation.site) for name, item in operation.kwargs.items()}
            results = self._results(value)
            kind = "operator" if module is None else "call"
            what: Any = operation.target
            if module is not None:
                what = self._layer(interp, module, operation.site)
                what = replace(what, method=target.method) if isinstance(target, ModuleSpec) else what
        except NotASpec as error:
            self._missing(place, operation.target, str(error))
            return
        first = next(iter(hierarchy.tensors_in(value)), None)
        self._add(
            interp,
            operation.site,
            Step(kind, place, what, args, tuple(sorted(kwargs.items())), results, device=_kind(first)),
        )
        self._known(hierarchy.tensors_in(value))

    def undecided(self, interp: Interpreter, operation: Operation) -> None:
        """An operator was applied of which the result is not known."""
        if not self._is_off(interp) and operation.operands:
            self._missing(_place(operation.site), operation.target)

    def same(self, interp: Interpreter, tensor: Tensor, made: Tensor) -> None:
        """A tensor was made that is another one, perhaps with another dtype or elsewhere."""
        spec = interp.resolved_spec(made.spec)
        if self._is_off(interp) or spec.shape is None or spec.shape != interp.resolved_spec(tensor.spec).shape:
            return
        origin = made.origin or tensor.origin
        if origin is None:
            return
        site = replace(origin.site, frame=interp.running)
        try:
            held = self._held(interp, tensor, site)
        except NotASpec:
            return
        what, result = spec.with_(device=None), Held(made.identity)
        self._add(interp, site, Step("alias", _place(site), what, (held,), (), result, device=_kind(made)))
        self._known([made])

    def event(self, interp: Interpreter, kind: str, subject: Value, node: ast.AST, frame: Frame) -> None:
        """A part of a training loop: backward, step, zero_grad."""
        if kind not in _EVENTS or self._is_off(interp):
            return
        site = interp.site(node, frame)
        getattr(self, f"_{kind}")(interp, subject, site)

    def entered(self, interp: Interpreter, name: str, call: Arguments) -> None:
        """A module of this class is called, which holds what it is given until it returns."""
        given = hierarchy.tensors_in((*call.args, *call.kwargs.values()))
        if not self._arguments and given and not self.trained and given[0].spec.shape:
            first = given[0].spec.shape[0]
            self.program.batch = as_kind(first, int)
        self._arguments.append(tuple(tensor.identity for tensor in given))
        self._mark(interp, "enter", name, call)

    def left(self, interp: Interpreter, name: str, call: Arguments) -> None:
        """The call of a module ends."""
        self._arguments.pop()
        self._mark(interp, "leave", name, call)

    def _mark(self, interp: Interpreter, kind: str, name: str, call: Arguments) -> None:
        if not self._is_off(interp):
            self._put(interp, Step(kind, _place(interp.site(call.node, call.frame)), name))

    def begun(self) -> None:
        """The beginning of a checkpoint."""
        self._into.append([])

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Operations inside are part of something that is recorded as one."""
        self._into.append([])
        try:
            yield
        finally:
            self._into.pop()

    def ended(self, interp: Interpreter, args: tuple[Value, ...], value: Value, site: Site, reentrant: bool) -> None:
        """The end of a checkpoint that was given these arguments, and what it gives."""
        steps = self._into.pop()
        if self._is_off(interp):
            return
        given = tuple(Held(tensor.identity) for tensor in hierarchy.tensors_in(args))
        try:
            results = self._results(value)
        except NotASpec as error:
            self._missing(_place(site), "torch.utils.checkpoint", str(error))
            return
        step = Step("checkpoint", _place(site), reentrant, given, (), results, steps=steps)
        self._add(interp, site, step)

    def finish(self) -> Program:
        """The recorded program, with the moments at which tensors are dropped."""
        program = self.program
        if program.gap is None and program.backward is None:
            program.gap = self._gaps[0] if self._gaps else Gap("no_step", ("", 0))
        note_last(program.steps)
        return program

    # -- events ------------------------------------------------------------------------------------

    def _backward(self, interp: Interpreter, subject: Value, site: Site) -> None:
        place = _place(site)
        self.program.backward = self.program.backward or place
        self.trained += 1
        if not isinstance(subject, Tensor) or subject.identity not in self._tensors:
            self._end(self._gaps[-1] if self._gaps else Gap("loss", place))
            return
        call = site.call
        keywords = {item.arg for item in call.keywords} if call is not None else set()
        kwargs = tuple((name, True) for name in ("retain_graph", "create_graph") if name in keywords)
        self._add(interp, site, Step("backward", place, None, (Held(subject.identity),), kwargs))
        self._gaps.clear()

    def _step(self, interp: Interpreter, subject: Value, site: Site) -> None:
        if not isinstance(subject, LibraryObject):
            self._end(Gap("optimizer", _place(site)))
            return
        if not self._optimizer(interp, subject, site):
            return
        self._add(interp, site, Step("step", _place(site), subject.identity))
        self._optimizers[subject.identity] += 1
        # One that has not stepped yet may do so later: a critic takes several steps before its generator takes one.
        made = {one.identity for one in interp.trace.optimizers} | self._optimizers.keys()
        counts = [self._optimizers.get(identity, 0) for identity in made]
        if self.trained and (min(counts) >= STEPS or max(counts) >= MOST_STEPS):
            raise Complete

    def _zero_grad(self, interp: Interpreter, subject: Value, site: Site) -> None:
        call = site.call
        kept = call is not None and any(is_literal(item, False) for item in given_to(call))
        owners: tuple[Any, ...]
        match subject:
            case LibraryObject():
                if not self._optimizer(interp, subject, site):
                    return
                owners = (subject.identity,)
            case LibraryModule() | Instance():
                owners = tuple(self._parameters(interp, Parameters((subject,)), site))
            case _:
                return
        self._add(interp, site, Step("zero_grad", _place(site), kept, owners))

    def _optimizer(self, interp: Interpreter, optimizer: LibraryObject, site: Site) -> bool:
        """Make the optimizer, if it is not there, and whether all of it is known."""
        if optimizer.identity in self._optimizers:
            return True
        place = _place(optimizer.site or site)
        if optimizer.type_name == "LBFGS":
            self._end(Gap("lbfgs", place))
            return False
        try:
            options = self._options(interp, optimizer)
            given = [part for value in optim.given_to(optimizer) for part in self._parameters(interp, value, site)]
        except NotASpec as error:
            self._end(Gap("optimizer", place, str(error)))
            return False
        self._optimizers[optimizer.identity] = 0
        step = Step("optimizer", place, (optimizer.path, optimizer.identity), tuple(given), options)
        self._add(interp, site, step)
        return True

    def _options(self, interp: Interpreter, optimizer: LibraryObject) -> tuple[tuple[str, Any], ...]:
        """The options of an optimizer by their names. Raises NotASpec where one is not known."""
        parameters = interp.oracle.signature(optimizer.path) or ()
        named = dict(zip((part.name for part in parameters), optimizer.args)) | optimizer.kwargs
        found = {}
        for name, value in named.items():
            if name in ("params", "named_parameters"):
                continue
            if name == "lr":
                value = _ANY_RATE
            if isinstance(value, Scalar) and value.type == "float" and name in ("betas", "eps", "alpha", "lr_decay"):
                continue
            found[name] = interp.to_spec(value)
        found.setdefault("lr", _ANY_RATE)
        return tuple(sorted(found.items()))

    def _parameters(self, interp: Interpreter, value: Value, site: Site) -> Iterator[Owned | Held]:
        """The parameters that an optimizer or zero_grad() is given. Raises NotASpec."""
        if isinstance(value, Tensor):
            yield self._held(interp, value, site)
            return
        if not isinstance(value, Parameters):
            raise NotASpec("parameters")
        for module in value.modules:
            if hierarchy.has_unknown_parts(module):
                raise NotASpec("modules")
            for part in hierarchy.parts_of(module):
                if isinstance(part, Tensor):
                    yield self._held(interp, part, site)
                elif part.built is not None:
                    layer = self._layer(interp, part, site)
                    yield Owned(layer.identity, layer.part)
                elif part.children is None and hierarchy.has_own_parameters(part):
                    self._layer(interp, part, site)
                    yield Owned(part.identity)

    # -- operands ----------------------------------------------------------------------------------

    def _spec(self, interp: Interpreter, value: Value, site: Site) -> Any:
        """A description of an argument with the tensors in it by identity. Raises NotASpec."""
        interp.held = lambda tensor: self._held(interp, tensor, site)
        try:
            spec = interp.to_spec(value)
        finally:
            interp.held = None
        if _has_sizes(spec):
            raise NotASpec("size")
        return spec

    def _held(self, interp: Interpreter, tensor: Tensor, site: Site) -> Held:
        """A tensor that is there, or that comes to be there now. Raises NotASpec where it is not known how it was made."""
        if tensor.owner is not None and tensor.member:
            layer = self._layer(interp, tensor.owner, site)
            return Held(layer.identity, f"{layer.part}.{tensor.member}".lstrip("."))
        if tensor.identity in self._tensors:
            return Held(tensor.identity)
        spec = interp.resolved_spec(tensor.spec)
        if spec.shape is None or spec.dtype is None or spec.symbolic or spec.requires_grad is None:
            raise NotASpec("tensor")
        at = tensor.origin.site if tensor.origin is not None else site
        stored = self._stored.get(id(tensor.storage))
        if stored is not None and stored in self._tensors:
            same = interp.resolved_spec(self._tensors[stored].spec).shape == spec.shape
            if spec.requires_grad and not same:
                raise NotASpec("tensor")
            what = spec.with_(device=None)
            made = Step("alias", _place(at), what, (Held(stored),), (), Held(tensor.identity), device=_kind(tensor))
        elif spec.requires_grad and not (tensor.parameter or is_leaf(tensor)):
            raise NotASpec("tensor")
        else:
            kind = "parameter" if tensor.parameter else "buffer" if tensor.buffer else "data"
            made = Step(
                "leaf", _place(at), spec.with_(device=None), (kind,), (), Held(tensor.identity), device=_kind(tensor)
            )
        self._put(interp, made, outermost=made.kind == "leaf")
        self._known([tensor])
        return Held(tensor.identity)

    def _layer(self, interp: Interpreter, module: LibraryModule, site: Site) -> Layer:
        """A layer as it is now; it is made where it is not there yet. Raises NotASpec."""
        if module.built is not None:
            return self._model(interp, module, site)
        if module.identity not in self._layers:
            self._make(interp, module, interp.recipe(module), site)
        grad = module.requires_grad
        if grad is None and hierarchy.has_own_parameters(module):
            raise NotASpec("requires_grad")
        ties = tuple((name, self._held(interp, tensor, site)) for name, tensor in module.slots["tied"].items())
        dtype = module.slots["dtype"]
        return Layer(
            module.identity,
            module.slots["training"] is not False,
            grad is not False,
            as_kind(dtype, str),
            ties,
        )

    def _make(self, interp: Interpreter, module: LibraryModule, recipe: ModuleSpec, site: Site) -> None:
        if _has_sizes(recipe.args) or _has_sizes(recipe.kwargs):
            raise NotASpec("size")
        self._layers[module.identity] = module
        kind = "cpu" if module.device is None else module.device.kind
        made = Step("make", _place(module.site or site), replace(recipe, requires_grad=True), (module.identity,))
        made.device = kind
        self._put(interp, made, outermost=True)
        if self._located is None and hierarchy.has_own_parameters(module):
            self._located = self.program.device = kind

    def _model(self, interp: Interpreter, module: LibraryModule, site: Site) -> Layer:
        """A model that a package has built, or a part of one, as it is now. Raises NotASpec."""
        root, part = self._root(module, site)
        assert root.built is not None
        if root.identity not in self._layers:
            self._make(interp, root, root.built.model, site)
        states = []
        for name, one in _parts_of_model(root, root.built.model):
            grad = one.slots["requires_grad"]
            if not isinstance(grad, bool) and hierarchy.has_own_parameters(one):
                raise NotASpec("requires_grad")
            state = (name, one.slots["training"] is not False, grad is not False)
            if state[1:] != (True, True):
                states.append(state)
        replaced = []
        for name, value in published.changed(root):
            if not isinstance(value, LibraryModule):
                raise NotASpec(name)
            if value.built is None:
                replaced.append((name, self._in_place(interp, value, site)))
        dtype = root.slots["dtype"]
        return Layer(
            root.identity,
            dtype=as_kind(dtype, str),
            part=part,
            states=tuple(states),
            replaced=tuple(replaced),
        )

    def _in_place(self, interp: Interpreter, module: LibraryModule, site: Site) -> Layer | tuple[Layer, ...]:
        """The module in the place of a part of a model."""
        if module.children is None:
            return self._layer(interp, module, site)
        plain = [child for _, child in module.children if isinstance(child, LibraryModule) and child.children is None]
        if module.path != "torch.nn.Sequential" or len(plain) < len(module.children):
            raise NotASpec(module.path)
        return tuple(self._layer(interp, child, site) for child in plain)

    def _root(self, module: LibraryModule, site: Site) -> tuple[LibraryModule, str]:
        """The model that a part was built in, and the name of the part. Raises NotASpec where no variable leads to it."""
        if module.identity not in self._built:
            for value in of_kind((module, *_reached(site)), LibraryModule):
                if value.built is not None and not value.built.part:
                    for name, part in _parts_of_model(value, value.built.model):
                        self._built.setdefault(part.identity, (value, name))
        if module.identity not in self._built:
            raise NotASpec(module.path)
        return self._built[module.identity]

    def _results(self, value: Value) -> Any:
        """The tensors in a result, as a tree of the same structure."""
        match value:
            case Tensor():
                return Held(value.identity)
            case NamedResult():
                return StructSpec(value.fields, tuple(map(self._results, value)))
            case tuple():
                return tuple(map(self._results, value))
            case ListValue():
                return ListSpec(tuple(map(self._results, value.items or ())))
            case DictValue():
                return DictSpec(tuple((key, self._results(item)) for key, item in (value.items or {}).items()))
        return None

    # -- the tape ----------------------------------------------------------------------------------

    def _is_off(self, interp: Interpreter) -> bool:
        """Whether it is not certain that what is executed now happens, or nothing more is needed."""
        return bool(interp.uncertain or interp.entry or interp.entering or self.program.gap)

    def _add(self, interp: Interpreter, site: Site, step: Step) -> None:
        step.holds = frozenset(self._reachable(interp, site))
        self._put(interp, step)

    def _put(self, interp: Interpreter, step: Step, outermost: bool = False) -> None:
        step.grad = interp.grad is not False
        step.casts = tuple(sorted(interp.autocast.items()))
        self._into[0 if outermost else -1].append(step)

    def _known(self, tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            self._tensors[tensor.identity] = tensor
            self._stored.setdefault(id(tensor.storage), tensor.identity)

    def _missing(self, place: Place, target: str, what: str = "") -> None:
        self._gaps.append(Gap("operator", place, target.removeprefix("operator.")))

    def _end(self, gap: Gap) -> None:
        self.program.gap = gap
        raise Complete

    def _reachable(self, interp: Interpreter, site: Site) -> set[int]:
        """The tensors that variables hold, and the arguments of the calls that are going on. Those that are seen for the first
        time, and layers, come to be there."""
        found = {identity for held in self._arguments for identity in held}
        for value in _reached(site):
            match value:
                case Tensor():
                    if value.identity not in self._tensors:
                        try:
                            self._held(interp, value, site)
                        except NotASpec:
                            continue
                    found.add(value.identity)
                case LibraryModule() if value.children is None or value.built is not None:
                    if value.identity not in self._layers | self._built.keys() and hierarchy.has_own_parameters(value):
                        try:
                            self._layer(interp, value, site)
                        except NotASpec:
                            continue
        return found


_EMPTY = (int, float, str, bytes, type(None), Scalar, Dim, DType, Device)


def _reached(site: Site) -> Iterator[Value]:
    """All values that the variables lead to which are there at a site."""
    pending: list[Value] = []
    at: Frame | None = site.frame
    while at is not None:
        pending += at.names.values()
        for scope in (*at.closure, at.globals):
            pending += scope.values()
        at = at.caller
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) not in seen and not isinstance(value, _EMPTY):
            seen.add(id(value))
            yield value
            pending += _parts(value)


def _parts_of_model(module: LibraryModule, model: ModuleSpec, name: str = "") -> Iterator[tuple[str, LibraryModule]]:
    """A model that a package has built, and those of its parts that are still there, by their names."""
    yield name, module
    for own, child in module.children or ():
        path = f"{name}.{own}".lstrip(".")
        if isinstance(child, LibraryModule) and child.built is not None and child.built.is_part(model, path):
            yield from _parts_of_model(child, model, path)


def _parts(value: Value) -> Iterable[Value]:
    """The values that a value holds."""
    match value:
        case tuple():
            return value
        case ListValue() | DictValue():
            return value.elements or ()
        case Instance():
            native = () if value.native is None else (value.native,)
            return (*value.slots.values(), *native)
        case LibraryModule():
            return tuple(child for _, child in value.children or ())
        case LibraryObject():
            return (*value.args, *value.kwargs.values(), *value.slots.values())
        case Choice():
            return value.options
        case Maybe():
            return (value.value,)
        case Bound():
            return (value.receiver,)
        case Partial():
            return (*value.args, *value.kwargs.values())
    return ()


def _place(site: Site) -> Place:
    return site.span.path, site.span.start.line


def _kind(tensor: Tensor | None) -> str:
    """The kind of device that a tensor is on."""
    device = None if tensor is None else tensor.spec.device
    return "" if device is None else device.kind


def _has_sizes(tree: Any) -> bool:
    """Whether a size in a tree of arguments is not known."""
    if isinstance(tree, Dim):
        return True
    items = as_kind(tree if isinstance(tree, tuple) else getattr(tree, "items", ()), tuple)
    if isinstance(tree, TensorSpec):
        return tree.symbolic
    return items is not None and any(map(_has_sizes, items))


__all__ = ["MOST_ITERATIONS", "Complete", "Tape"]

"""Optimizers, schedulers and gradient scalers: the events of a training loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, ClassVar

from torchsleuth.interp import kinds, misuse
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy, parameters
from torchsleuth.interp.models import Model, attribute, method, models, of_class
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.callbacks import CALLED_WITH
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.tensors.spec import NotASpec
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    Bound,
    Builtin,
    DictValue,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Scalar,
    Site,
    Tensor,
    Trained,
    Value,
    is_plain,
    items_of,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import AutogradFault, node_of

_SCHEDULES = "torch.optim.lr_scheduler."
_SCHEDULE = re.compile(r"schedul|warm_?up|LR$", re.IGNORECASE)


def _check(interp: Interpreter, path: str, call: Arguments) -> None:
    """The error that PyTorch raises for the options of an optimizer or a schedule, where all of them are plain values."""
    first = 0 if {"params", "optimizer"} & set(call.kwargs) else 1
    try:
        args = tuple(map(_plain, call.args[first:]))
        kwargs = {name: _plain(value) for name, value in call.kwargs.items() if name not in ("params", "optimizer")}
    except NotASpec:
        return
    failure = interp.oracle.refusal(path, args, kwargs) if first == 0 or call.args else None
    if failure is not None and "'str'" not in failure.message:  # a text for a number is told of as such
        interp.report(interp.operation(path, (), {}, call.node, call.frame, None), failure)


def _plain(value: Value) -> Any:
    """Numbers, texts, and lists of them as Python has them. Raises NotASpec for anything else."""
    items = items_of(value)
    if items is not None:
        return [_plain(item) for item in items] if isinstance(value, ListValue) else tuple(map(_plain, items))
    if is_plain(value):
        return value
    raise NotASpec(str(value))


def schedule(interp: Interpreter, path: str, call: Arguments) -> LibraryObject | None:
    """A scheduler of another package, made for an optimizer: it changes learning rates, and nothing else."""
    given = of_kind((*call.args, *call.kwargs.values()), LibraryObject)
    optimizer = next((value for value in given if is_optimizer(value)), None)
    if optimizer is None or not _SCHEDULE.search(path.rpartition(".")[2]):
        return None
    return LibraryObject(path, (optimizer,), {}, interp.site(call.node, call.frame))


def some_class(interp: Interpreter) -> Builtin:
    """``getattr(torch.optim, name)`` for a name that is not known: what it makes is an optimizer of some kind."""

    def make(call: Arguments) -> Value:
        given = call.args[0] if call.args else call.kwargs.get("params", UNKNOWN)
        made = LibraryObject("torch.optim.Optimizer", (given, {}), {}, interp.site(call.node, call.frame))
        _give(interp, made, given)
        interp.trace.optimizers.append(made)
        return made

    return Builtin("torch.optim.Optimizer", make)


@models("torch.optim.*")
class Optimizer(Model):
    """An optimizer: what it is given, and the events of a training loop that its methods are."""

    closed = True
    kind = "optimizer"

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        made = cls.object(interp, call)
        given = made.given(0, "params", UNKNOWN) if call.exact else UNKNOWN
        kinds.trained(interp, given, call)
        _meets_twice(interp, given, call)
        if isinstance(given, ListValue) and given.items == () and given.type_name == "list":
            misuse.refuses(interp, call.path, call, "ValueError", "optimizer got an empty parameter list")
        _give(interp, made, given)
        interp.trace.optimizers.append(made)
        if call.exact:
            _check(interp, call.path, call)
        return made

    @method
    def step(self, call: Arguments) -> Value:
        interp, optimizer, value = self.interp, self.value, None
        misuse.untold(interp, optimizer, call)
        site, closure = interp.site(call.node, call.frame), call.given(0, "closure")
        if closure is not None:
            value = interp.call(closure, Arguments((), {}, call.node, call.frame))
            if optimizer.type_name == "LBFGS" and optimizer.given(2, "max_iter", 20) != 1:
                interp.stepped(optimizer, site)
                interp.call(closure, Arguments((), {}, call.node, call.frame))
        interp.event("step", optimizer, call.node, call.frame)
        interp.stepped(optimizer, site)
        return value

    @method
    def zero_grad(self, call: Arguments) -> Value:
        self.interp.event("zero_grad", self.value, call.node, call.frame)
        if call.given(0, "set_to_none", True) is True:
            self.interp.cleared(trained_parts(self.value))
        return None

    @method
    def add_param_group(self, call: Arguments) -> Value:
        _give(self.interp, self.value, call.given(0, "param_group", UNKNOWN), added=True)
        return None

    @method
    def state_dict(self, call: Arguments) -> Value:
        """The state of each parameter, by numbers, and the groups with these numbers in the place of their parameters."""
        groups = _groups(self.value)
        if groups is None:
            return UNKNOWN
        listed, number = [], 0
        for count in groups:
            numbers = None if count is None else tuple(range(number, number + count))
            listed.append(DictValue({"params": ListValue(numbers), OTHERS: (Scalar("str"), UNKNOWN)}))
            number += count or 0
        return DictValue({"state": DictValue(None), "param_groups": ListValue(tuple(listed))})

    @method
    def load_state_dict(self, call: Arguments) -> Value:
        """It raises for a state with other groups, or with groups of other sizes."""
        self.interp.heap.set(self.value.slots, "scheduled", UNKNOWN)
        kinds.state(self.interp, call.given(0, "state_dict"), call)
        own, given = _groups(self.value), _groups_of_state(call.given(0, "state_dict"))
        if own is not None and given is not None and call.exact and not self.interp.guarded:
            text = ""
            if len(own) != len(given):
                text = f"loaded state dict has a different number of parameter groups: {len(given)}, not {len(own)}"
            elif any(one != other for one, other in zip(own, given) if one is not None and other is not None):
                text = "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            if text:
                misuse.refuses(self.interp, "torch.optim.Optimizer.load_state_dict", call, "ValueError", text)
        return None

    @attribute
    def param_groups(self, node: ast.AST, frame: Frame) -> Value:
        """The groups, whose changes are not followed."""
        self.interp.heap.set(self.value.slots, "scheduled", UNKNOWN)
        return Bound(self.value, self.name)

    def other(self, call: Arguments) -> Value:
        return UNKNOWN


def _resumes(interp: Interpreter, schedule: LibraryObject, call: Arguments) -> None:
    """A schedule that goes on in the middle wants the first rates of an optimizer that has had one. Any is given them."""
    optimizer = as_kind(schedule.given(0, "optimizer"), LibraryObject)
    if optimizer is None or not is_optimizer(optimizer):
        return
    last = as_kind(interp.resolved(call.kwargs.get("last_epoch", -1)), int)
    given = items_of(optimizer.given(0, "params"))
    new = "scheduled" not in optimizer.slots and not of_kind(given or (), DictValue)
    if new and call.exact and last is not None and last >= 0 and optimizer.identity not in interp.trace.escaped:
        text = "param 'initial_lr' is not specified in param_groups[0] when resuming an optimizer"
        misuse.refuses(interp, call.path, call, "KeyError", text)
    interp.heap.set(optimizer.slots, "scheduled", True)


@models("torch.optim.swa_utils.*")
class Averaging(Model):
    """Things that average weights, beside modules and schedules."""

    closed = True


@models("torch.optim.lr_scheduler.*", "torch.optim.swa_utils.SWALR")
class Scheduler(Model):
    """A learning-rate schedule."""

    closed = True
    kind: ClassVar[str | None] = "schedule"

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        made = super().made(interp, call)
        if call.exact and call.path.startswith(_SCHEDULES):
            _check(interp, call.path, call)
            if call.path.endswith((".LambdaLR", ".MultiplicativeLR")):
                misuse.takes(interp, call, CALLED_WITH["lr_lambda"], 1, "lr_lambda")
        if isinstance(made, LibraryObject):
            _resumes(interp, made, call)
        return made

    @method
    def step(self, call: Arguments) -> Value:
        misuse.untold(self.interp, self.value, call)
        self.interp.event("scheduler_step", self.value, call.node, call.frame)
        return None

    @method
    def get_last_lr(self, call: Arguments) -> Value:
        return ListValue((Scalar("float"),))

    def other(self, call: Arguments) -> Value:
        return None if self.name == "load_state_dict" else UNKNOWN


class ForeignScheduler(Scheduler):
    """One of another package, of which nothing else is known."""

    closed = False
    kind = None


WITH_WARMUP = tuple(
    f"{module}.get_{kind}_schedule_with_warmup"
    for module in ("transformers", "transformers.optimization")
    for kind in ("linear", "cosine", "cosine_with_hard_restarts", "polynomial_decay", "cosine_with_min_lr")
)
"""Schedules of transformers that rise for a number of steps and have fallen at the end of all of them."""


@models(*WITH_WARMUP)
class WarmupSchedule(ForeignScheduler):
    """One of these. Its second argument is the number of steps for which it rises, the third that of all."""


@models(
    "torch.GradScaler",
    *(f"torch.{name}.GradScaler" for name in ("amp", "cuda.amp", "cpu.amp", "amp.grad_scaler", "cuda.amp.grad_scaler")),
)
class Scaler(Model):
    """A gradient scaler."""

    @method
    def scale(self, call: Arguments) -> Value:
        scaled = call.first
        tensor = None
        if isinstance(scaled, Tensor):
            copied = Tensor(scaled.spec, scaled.origin, scaled.tags, scaled.history)
            scaled = tensor = self.interp.same_graph(scaled, copied)
        self.interp.event("scale", self.value, call.node, call.frame, tensor=tensor)
        return scaled

    @method
    def step(self, call: Arguments) -> Value:
        optimizer = call.first
        self.interp.event("scaler_step", self.value, call.node, call.frame)
        self.interp.event("step", optimizer, call.node, call.frame)
        if isinstance(optimizer, LibraryObject):
            self.interp.stepped(optimizer, self.interp.site(call.node, call.frame))
        return None

    @method
    def update(self, call: Arguments) -> Value:
        self.interp.event("scaler_update", self.value, call.node, call.frame)
        return None

    @method
    def unscale_(self, call: Arguments) -> Value:
        if call.args:
            self.interp.event("unscale", call.args[0], call.node, call.frame)
        return None

    @method
    def get_scale(self, call: Arguments) -> Value:
        return Scalar("float")

    def other(self, call: Arguments) -> Value:
        return None if self.name == "load_state_dict" else UNKNOWN


def model_of(value: LibraryObject) -> type[Model]:
    """The model of an object, which may be a schedule of another package."""
    model = of_class(value.path)
    first = as_kind(value.args[0], LibraryObject) if model is Model and value.args else None
    return ForeignScheduler if first is not None and is_optimizer(first) else model


def is_optimizer(value: LibraryObject) -> bool:
    return of_class(value.path) is Optimizer


def is_off(scaler: Value) -> bool:
    """Whether a gradient scaler was made with ``enabled=False``: it scales nothing."""
    return isinstance(scaler, LibraryObject) and scaler.kwargs.get("enabled") is False


def _trained(optimizer: Value) -> Trained | None:
    trained = optimizer.slots.get("trained") if isinstance(optimizer, LibraryObject) else None
    return as_kind(trained, Trained)


def given_to(optimizer: Value) -> tuple[Value, ...]:
    """The values that an optimizer was given: `Parameters` and tensors, UNKNOWN for what is not known."""
    trained = _trained(optimizer)
    return (UNKNOWN,) if trained is None else trained.given


def trained_parts(optimizer: Value) -> tuple[LibraryModule | Tensor, ...]:
    """The same by the library modules that hold the parameters, as far as they are known."""
    trained = _trained(optimizer)
    return () if trained is None else tuple(of_kind(trained.parts, LibraryModule, Tensor))


Groups = tuple[int | None, ...]
"""How many parameters each group of an optimizer has, None where that is not known."""


def _groups(optimizer: LibraryObject) -> Groups | None:
    """The groups of an optimizer, None where it is not known how many there are."""
    groups = as_kind(optimizer.slots.get("groups"), tuple)
    return groups if groups is not None and "param_groups" not in optimizer.slots else None


def _groups_of_state(state: Value) -> Groups | None:
    """The groups that the result of ``state_dict()`` has."""
    groups = items_of((state.entries or {}).get("param_groups")) if isinstance(state, DictValue) else None
    if groups is None or len(of_kind(groups, DictValue)) < len(groups):
        return None
    numbers = [items_of((group.entries or {}).get("params")) for group in of_kind(groups, DictValue)]
    return tuple(None if one is None else len(one) for one in numbers)


def _groups_in(interp: Interpreter, value: Value) -> Groups | None:
    """The groups that an optimizer makes of what it is given."""
    items = items_of(value)
    if items and len(of_kind(items, DictValue)) == len(items):
        return tuple(_count(interp, one) for one in items)
    count = _count(interp, value)
    return None if count is None else (count,)


def _count(interp: Interpreter, given: Value) -> int | None:
    """How many parameters there are in what makes one group."""
    if isinstance(given, DictValue):
        return _count(interp, (given.entries or {}).get("params"))
    items: tuple[Value, ...] | None = (given,) if isinstance(given, Tensor) else parameters.listed(interp, given)
    items = items_of(given) if items is None else items
    return len(items) if items is not None and len(of_kind(items, Tensor)) == len(items) else None


def _give(interp: Interpreter, optimizer: LibraryObject, value: Value, added: bool = False) -> None:
    """The parameters as they are now: what is put into a module later is not among them."""
    had, more = (_groups(optimizer), (_count(interp, value),)) if added else ((), _groups_in(interp, value))
    interp.heap.set(optimizer.slots, "groups", UNKNOWN if had is None or more is None else (*had, *more))
    if optimizer.site is not None:
        misuse.needs_result(interp, value, optimizer.site.node, optimizer.site.frame)
        groups = value.elements or () if isinstance(value, ListValue) else ()
        for each in (value, *of_kind(groups, DictValue)):
            misuse.consume(interp, each, optimizer.site.node, optimizer.site.frame)
    for one in of_kind(_flattened(value), Tensor):
        if one.spec.requires_grad is True and (made := node_of(one)) is not None:
            # `x.to(device)` of a device that is not known may be `x` itself.
            unknown = made.operator == "to" and None in (one.spec.dtype, one.spec.device)
            if optimizer.site is not None and not unknown:
                interp.fault(AutogradFault("non_leaf", optimizer.site, one))
    before = given_to(optimizer) if "trained" in optimizer.slots else ()
    interp.heap.set(optimizer.slots, "frozen", None if added else _freeze_of_all(value))
    now = Trained((*before, *_flattened(value)), (*trained_parts(optimizer), *parts_in(value)))
    interp.heap.set(optimizer.slots, "trained", now)


def _freeze_of_all(value: Value) -> Site | None:
    """Where the last of the parameters was frozen that an optimizer is given, None where one may be trained, or is not known."""
    given = list(_flattened(value))
    modules = [module for one in of_kind(given, Parameters) for module in one.modules]
    if (
        UNKNOWN in given
        or any(map(hierarchy.has_unknown_parts, modules))
        or not all(map(hierarchy.children_known, modules))
    ):
        return None
    held = [part for part in parts_in(value) if isinstance(part, Tensor) or hierarchy.has_own_parameters(part)]
    places = [as_kind(part.slots.get("frozen"), Site) for part in held if isinstance(part, LibraryModule)]
    frozen = [part.spec.requires_grad if isinstance(part, Tensor) else part.requires_grad for part in held]
    known = of_kind(places, Site)
    return max(known, key=lambda site: site.scene.moment) if known and all(one is False for one in frozen) else None


def freeze_of_all(optimizer: LibraryObject) -> Site | None:
    """Where all that an optimizer was given had been frozen when it was made."""
    return as_kind(optimizer.slots.get("frozen"), Site)


def _meets_twice(interp: Interpreter, groups: Value, call: Arguments) -> None:
    """Two groups that hold the same parameters: ``model.parameters()`` in one, those of a part of it in another."""
    items = groups.items if isinstance(groups, ListValue) else None
    seen: set[int] = set()
    for group in items or ():
        given = as_kind((group.items or {}).get("params"), Parameters) if isinstance(group, DictValue) else None
        if given is None or given.named:
            return
        made = given.made.node if given.made is not None else None
        if not is_method_call(made, "parameters"):
            return
        held = {id(part) for part in parts_in(given) if isinstance(part, Tensor) or hierarchy.has_own_parameters(part)}
        if held & seen:
            text = "some parameters appear in more than one parameter group"
            misuse.refuses(interp, call.path, call, "ValueError", text)
            return
        seen |= held


def parts_in(value: Value) -> list[LibraryModule | Tensor]:
    """The holders of the parameters in ``model.parameters()``, lists of parameters and groups of them."""
    return [part for item in _flattened(value) for part in _parts(item)]


def _flattened(value: Value) -> Iterator[Value]:
    match value:
        case ListValue() | tuple():
            for item in (value.elements or (UNKNOWN,)) if isinstance(value, ListValue) else value:
                yield from _flattened(item)
        case DictValue():
            yield from _flattened((value.items or {}).get("params", UNKNOWN))
        case Parameters() | Tensor():
            yield value
        case _ if not isinstance(value, str | Scalar):
            yield UNKNOWN


def _parts(given: Value) -> Iterator[LibraryModule | Tensor]:
    match given:
        case Parameters():
            for module in given.modules:
                yield from hierarchy.parts_of(module)
        case Tensor():
            yield given if given.owner is None else given.owner


__all__ = [
    "freeze_of_all",
    "given_to",
    "is_off",
    "is_optimizer",
    "model_of",
    "parts_in",
    "schedule",
    "trained_parts",
]

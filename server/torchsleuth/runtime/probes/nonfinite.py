"""Finds where the first non-finite value was born: every operator is looked at, forward and backward.

An operator whose result is not finite while its operands were is a birth; what is computed from it carries it on. When a loss
or a gradient that an optimizer uses is not finite, the birth that it carries is the result. Values that are infinite on purpose
(a mask of ``-inf``) are told by a number that is infinite in the call itself; they are the cause of nothing, but a NaN made of
them is born where that happens.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

from torchsleuth.runtime import places
from torchsleuth.runtime.places import Key
from torchsleuth.runtime.probes.desk import Desk
from torchsleuth.runtime.probes.loop import Loop

MAX_CLONED = 1_000_000
"""Elements of an operand that is changed in place, of which a copy is made first."""
MAX_PLACES = 1_000_000
MAX_OPERANDS = 6
_UNINITIALISED = ("empty", "new_empty", "resize")
MEANT, BORN, OUTSIDE, UNSET = "meant", "born", "outside", "unset"


class Birth:
    """Where something became non-finite. `kind`: on purpose, out of finite operands, outside of what was seen, or never set."""

    __slots__ = ("kind", "function", "node", "key", "step", "number", "operands", "value", "index", "names")

    def __init__(self, kind: str, function: str, node: str | None, key: Key | None, step: int, number: int) -> None:
        self.kind, self.function, self.node, self.key, self.step, self.number = kind, function, node, key, step, number
        self.operands: list[dict[str, Any]] = []
        self.value = "nan"
        self.index: list[int] = []


class Probe:
    """`settings`: {steps: the last one to look at, or None}."""

    def __init__(self, desk: Desk, settings: dict[str, Any]) -> None:
        self._desk = desk
        self._limit = settings.get("steps")
        self._loop = Loop(desk)
        self._torch: Any = None
        self._births: dict[int, Birth] = {}
        """By the identity of the storage that holds what is not finite."""
        self._first: Birth | None = None
        """The first birth of this step that nobody meant."""
        self._count = 0
        self._losses: list[float] = []
        """The first one, and the last one that was finite."""
        self._made: dict[int, Key | None] = {}
        """The places where the functions of this step's graph were called, by their sequence numbers."""
        self._plain: tuple[type, ...] = ()
        self._mode: Any = None

    def install(self, torch: Any) -> None:
        self._torch = torch
        self._plain = (torch.Tensor, torch.nn.Parameter)
        self._loop.install(torch)
        self._loop.on_loss = self._loss
        self._loop.before_step = self._before_step
        self._loop.after_step = self._after_step
        self._mode = watching(self._called)
        self._mode.__enter__()

    def ended(self) -> None:
        if self._desk.told:
            return
        if self._first is not None and (self._desk.crashed or not self._loop.backwards):
            self._tell(self._first, "value")
        self._send(None)

    # what is not finite, and matters

    def _loss(self, value: Any) -> None:
        if self._is_bad(value):
            self._tell(self._births.get(_storage(value)) or self._first, "loss")
            self._desk.stop()

    def _before_step(self, optimizer: Any) -> None:
        if getattr(optimizer, "found_inf", None) is not None:
            return  # a scaler leaves this step out by itself
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is not None and self._is_bad(gradient):
                    self._tell(self._births.get(_storage(gradient)) or self._first, "gradient")
                    self._desk.stop()

    def _after_step(self, loss: float | None) -> None:
        self._first = None
        self._made.clear()
        if loss is not None and math.isfinite(loss):
            self._losses[1:] = [loss]
        if self._limit is not None and self._loop.steps >= self._limit:
            self.ended()
            self._desk.stop()

    def _tell(self, birth: Birth | None, reached: str) -> None:
        found: dict[str, Any] = {"born": None}
        if birth is not None:
            found = {
                "born": birth.kind,
                "function": birth.function,
                "node": birth.node,
                "place": places.to_json(birth.key),
                "step": birth.step,
                "value": birth.value,
                "index": birth.index,
                "operands": birth.operands,
            }
        found["reached"], found["reached_at"] = reached, self._desk.here(3) or self._loop.place
        self._send(found)

    def _send(self, found: dict[str, Any] | None) -> None:
        steps, backwards = self._loop.steps, self._loop.backwards
        self._desk.tell("nonfinite", found=found, steps=steps, backwards=backwards, losses=self._losses)

    # operators

    def _called(self, function: Any, args: Any, kwargs: Any) -> Any:
        if os.getpid() != self._desk.process:
            return function(*args, **kwargs)
        operands = list(_named(function, args, kwargs))
        tensors = [(name, value) for name, value in operands if self._may_look(value)]
        changed: list[tuple[str, Any, bool]] = []
        if function._schema.is_mutable:
            changed = [(name, _kept(value), self._is_bad(value)) for name, value in tensors]
        result = function(*args, **kwargs)
        try:
            self._look(function, operands, tensors, changed, result)
        except Exception:  # an error of ours; the script does not meet it
            return result
        return result

    def _look(self, function: Any, operands: Any, tensors: Any, changed: Any, result: Any) -> None:
        node = self._current_node()
        if node is None and self._torch.is_grad_enabled() and len(self._made) < MAX_PLACES:
            self._made[self._torch.autograd._get_sequence_nr() - 1] = self._desk.places.here(3)
        for made in _flat(result):
            if not self._may_look(made):
                continue
            if not self._is_bad(made):
                self._births.pop(_storage(made), None)
                continue
            before = changed or [(name, value, self._is_bad(value)) for name, value in tensors]
            self._births[_storage(made)] = self._birth(function, node, operands, before, made)

    def _birth(self, function: Any, node: Any, operands: Any, before: Any, made: Any) -> Birth:
        """The origin of a result that is not finite: the birth of an operand, or a new one."""
        name = function.overloadpacket.__name__
        if name.startswith(_UNINITIALISED):
            return self._new(UNSET, name, node, before, made)
        bad = [value for _, value, is_bad in before if is_bad]
        if not bad:
            meant = any(type(value) is float and not math.isfinite(value) for _, value in operands)
            return self._new(MEANT if meant else BORN, name, node, before, made)
        known = [birth for value in bad if (birth := self._births.get(_storage(value))) is not None]
        nan = bool(self._torch.isnan(made).any())
        if nan and not any(bool(self._torch.isnan(value).any()) for value in bad):
            grave = [birth for birth in known if birth.kind == BORN]
            return min(grave, key=lambda birth: birth.number) if grave else self._new(BORN, name, node, before, made)
        grave = [birth for birth in known if birth.kind != MEANT]
        if grave:
            return min(grave, key=lambda birth: birth.number)
        return known[0] if known else self._new(OUTSIDE if nan else MEANT, name, node, before, made)

    def _new(self, kind: str, function: str, node: Any, before: Any, made: Any) -> Birth:
        key = (
            self._desk.places.here(5)
            if node is None
            else self._made.get(node._sequence_nr(), self._desk.places.here(5))
        )
        self._count += 1
        birth = Birth(kind, function, None if node is None else node.name(), key, self._loop.steps + 1, self._count)
        flat = self._torch.isfinite(made.detach()).logical_not().flatten()
        first = int(flat.int().argmax())
        birth.index = _unravel(first, made.shape)
        birth.value = str(made.detach().flatten()[first].item())
        names = self._names() if kind != MEANT else {}
        birth.operands = [self._described(names, birth.index, made, *item) for item in before[:MAX_OPERANDS]]
        if self._first is None and kind in (BORN, OUTSIDE):
            self._first = birth
        return birth

    def _described(self, names: Any, index: list[int], made: Any, name: str, value: Any, bad: bool) -> dict[str, Any]:
        torch = self._torch
        finite = value.detach()
        if bad:
            finite = finite[torch.isfinite(finite)]
        known = finite.numel() > 0 and not finite.is_complex()
        low, high = (float(item) for item in torch.aminmax(finite)) if known else (None, None)
        at = None
        if made.shape == value.shape or value.dim() <= made.dim():
            try:
                at = float(value.detach().expand(made.shape)[tuple(index)])
            except (RuntimeError, TypeError, ValueError):
                at = None
        return {
            "name": name,
            "variable": names.get((_storage(value), tuple(value.shape))),
            "shape": [int(size) for size in value.shape],
            "dtype": str(value.dtype).removeprefix("torch."),
            "low": low,
            "high": high,
            "bad": value.numel() - finite.numel() if bad else 0,
            "at": None if at is None else at if math.isfinite(at) else str(at),
        }

    def _names(self) -> dict[Any, str]:
        """The variables of the user's innermost frame, and the parameters of modules, by storage and shape."""
        found: dict[Any, str] = {}
        for module in self._desk.alive():
            for name, parameter in (module.__dict__.get("_parameters") or {}).items():
                if self._may_look(parameter):
                    found[_storage(parameter), tuple(parameter.shape)] = name
        frame = self._desk.places.frame(2)
        for name, value in dict(frame.f_locals if frame is not None else {}).items():
            if self._may_look(value):
                found[_storage(value), tuple(value.shape)] = name
        return found

    def _current_node(self) -> Any:
        current = getattr(self._torch._C, "_current_autograd_node", None)
        return current() if current is not None else None

    def _may_look(self, value: Any) -> bool:
        return (
            type(value) in self._plain
            and value.layout == self._torch.strided
            and value.device.type != "meta"
            and (value.is_floating_point() or value.is_complex())
            and value.numel() > 0
        )

    def _is_bad(self, value: Any) -> bool:
        return self._may_look(value) and not bool(self._torch.isfinite(value.detach()).all())


def _storage(value: Any) -> int:
    identity: int = value.untyped_storage()._cdata
    return identity


def _kept(value: Any) -> Any:
    """An operand as it is now."""
    return value.detach().clone() if value.numel() <= MAX_CLONED else value


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _named(function: Any, args: Any, kwargs: Any) -> Iterator[tuple[str, Any]]:
    """The arguments with the names that the operator has for them, those in lists one by one."""
    names = [argument.name for argument in function._schema.arguments]
    for name, value in [*zip(names, args), *kwargs.items()]:
        for item in _flat(value):
            yield name, item


def _unravel(number: int, shape: Any) -> list[int]:
    index: list[int] = []
    for size in reversed(shape):
        number, rest = divmod(number, size)
        index.insert(0, rest)
    return index


def watching(called: Any) -> Any:
    """A mode in which `called` gets each operator with its arguments, and makes its result."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watching(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return called(func, args, kwargs or {})

    return Watching()

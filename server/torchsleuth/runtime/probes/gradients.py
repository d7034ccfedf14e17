"""Checks the backward() of every autograd Function of the user's that the run meets, against finite differences.

Each is called again with small copies of what it got, in float64. What is no derivative on purpose is left alone: a forward()
that is the identity (gradient reversal) or piecewise constant (straight-through estimators).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from torchsleuth.runtime.probes.desk import Desk
from torchsleuth.runtime.probes.loop import Loop
from torchsleuth.runtime.registry import file_of

MAX_KEPT = 200_000
"""Elements of a tensor of which a copy is kept."""
MAX_SIGNATURES = 3
"""Different shapes and types of the arguments of one Function."""
MAX_NUMBERS = 2_000
"""Elements of all inputs of a check; above `EXACT`, random projections are compared, not all of them."""
EXACT = 200
SMALL = 4
"""Sizes up to here stay as they are."""
MAX_COMPARED = 64
RIGHT, WRONG, FAILS, IDENTITY, CONSTANT, UNCHECKED = "right", "wrong", "fails", "identity", "constant", "unchecked"


class _Met:
    """A Function and what it was called with."""

    def __init__(self, kind: Any, place: dict[str, Any] | None, arguments: list[Any], wanted: list[bool]) -> None:
        self.kind, self.place, self.arguments, self.wanted = kind, place, arguments, wanted


class Probe:
    """`settings`: {steps}."""

    def __init__(self, desk: Desk, settings: dict[str, Any]) -> None:
        self._desk = desk
        self._steps = settings["steps"]
        self._loop = Loop(desk)
        self._met: dict[Any, _Met] = {}
        self._checking = False
        self._torch: Any = None

    def install(self, torch: Any) -> None:
        self._torch = torch
        self._loop.install(torch)
        self._loop.after_step = self._after_step
        function, meet = torch.autograd.Function, self._meet
        apply = function.__dict__["apply"].__func__

        def met(of: Any, *args: Any, **kwargs: Any) -> Any:
            meet(of, args)
            return apply(of, *args, **kwargs)

        function.apply = classmethod(met)

    def ended(self) -> None:
        if self._desk.told:
            return
        self._checking = True
        with self._torch.enable_grad():
            checked = [self._check(met) for met in self._met.values()]
        self._desk.tell("gradcheck", functions=checked, steps=self._loop.steps)

    def _after_step(self, loss: float | None) -> None:
        if self._loop.steps >= self._steps:
            self.ended()
            self._desk.stop()

    def _meet(self, kind: Any, arguments: tuple[Any, ...]) -> None:
        code = getattr(getattr(kind, "backward", None), "__code__", None)
        if self._checking or code is None or not self._desk.places.is_own(code):
            return
        torch = self._torch
        tensors = [item for item in arguments if isinstance(item, torch.Tensor)]
        signature = (kind, tuple((tuple(item.shape), item.dtype) for item in tensors))
        known = sum(key[0] is kind for key in self._met)
        if signature in self._met or known >= MAX_SIGNATURES:
            return
        kept = [_kept(item) if isinstance(item, torch.Tensor) else item for item in arguments]
        wanted = [isinstance(item, torch.Tensor) and item.requires_grad for item in arguments]
        self._met[signature] = _Met(kind, self._desk.here(2), kept, wanted)

    def _check(self, met: _Met) -> dict[str, Any]:
        code = met.kind.backward.__code__
        line = code.co_firstlineno
        text = self._desk.texts.get(file_of(code), b"").splitlines()
        while line <= len(text) and text[line - 1].lstrip().startswith(b"@"):
            line += 1
        found: dict[str, Any] = {
            "name": met.kind.__name__,
            "place": {"path": file_of(code), "line": line, "span": None, "function": code.co_name},
            "called_at": met.place,
            "shapes": [list(item.shape) for item in met.arguments if isinstance(item, self._torch.Tensor)],
        }
        reason = "no floating point input"
        for arguments in self._sizes(met.arguments):
            inputs = self._inputs(met, arguments)
            if not inputs or sum(arguments[index].numel() for index in inputs) > MAX_NUMBERS:
                continue
            try:
                outputs = self._call(met.kind, arguments)
            except Exception as error:  # these sizes do not go together
                reason = f"{type(error).__name__}: {error}"
                continue
            if outputs and all(bool(self._torch.isfinite(item).all()) for item in outputs):
                return {**found, **self._compared(met, arguments, inputs, outputs)}
            reason = "its result is not finite"
        return {**found, "status": UNCHECKED, "reason": reason[:200]}

    def _sizes(self, arguments: list[Any]) -> Iterator[list[Any]]:
        """The arguments in float64: all sizes small, the first one small, and as they were."""
        torch = self._torch
        sizes = {size for item in arguments if isinstance(item, torch.Tensor) for size in item.shape}
        smaller = {size: size for size in sizes if size <= SMALL}
        for size in sorted(sizes - set(smaller)):
            smaller[size] = next(number for number in range(3, 100) if number not in smaller.values())
        first = next((item.shape[0] for item in arguments if isinstance(item, torch.Tensor) and item.dim()), 0)
        for small in (smaller, {first: min(first, 3)}, {}):
            made = []
            for item in arguments:
                if isinstance(item, torch.Tensor):
                    part = tuple(slice(0, min(size, small.get(size, size))) for size in item.shape)
                    item = item[part].clone()
                    item = item.double() if item.is_floating_point() else item
                made.append(item)
            yield made

    def _inputs(self, met: _Met, arguments: list[Any]) -> list[int]:
        """The arguments whose gradient is checked: those that had one in the run, else all that can have one."""
        numbers = [
            index
            for index, item in enumerate(arguments)
            if isinstance(item, self._torch.Tensor) and item.is_floating_point()
        ]
        wanted = [index for index in numbers if met.wanted[index]] or numbers
        for index in wanted:
            arguments[index].requires_grad_()
        return wanted

    def _call(self, kind: Any, arguments: list[Any]) -> list[Any]:
        """The outputs that can have a gradient. What is random in it is the same each time."""
        self._torch.manual_seed(0)
        # A Function may change its arguments in place, which leaves cannot be.
        given = [item.clone() if isinstance(item, self._torch.Tensor) else item for item in arguments]
        outputs = kind.apply(*given)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return [item for item in outputs if isinstance(item, self._torch.Tensor) and item.requires_grad]

    def _compared(self, met: _Met, arguments: list[Any], inputs: list[int], outputs: list[Any]) -> dict[str, Any]:
        torch = self._torch
        try:
            if self._error(met.kind, arguments, inputs, outputs) is None:
                return {"status": RIGHT}
            # At a kink there is no derivative to compare with.
            moved = self._moved(arguments, inputs)
            results = self._call(met.kind, moved)
            if all(bool(torch.isfinite(item).all()) for item in results):
                arguments, outputs = moved, results
            if self._error(met.kind, arguments, inputs, outputs) is None:
                return {"status": RIGHT}
            for index in inputs:
                if any(out.shape == arguments[index].shape and torch.equal(out, arguments[index]) for out in outputs):
                    return {"status": IDENTITY}
            worst = self._worst(met.kind, arguments, inputs)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            status = UNCHECKED if "scalar type" in text or "dtype" in text else FAILS
            return {"status": status, "reason": text[:200]}
        if worst is None:
            return {"status": CONSTANT}
        index, element, analytic, numeric = worst
        names = list(inspect.signature(met.kind.forward).parameters)
        if not hasattr(met.kind, "setup_context") or met.kind.setup_context is torch.autograd.Function.setup_context:
            names = names[1:]
        return {
            "status": WRONG,
            "input": names[index] if index < len(names) else str(index),
            "element": element,
            "analytic": analytic,
            "numeric": numeric,
        }

    def _error(self, kind: Any, arguments: list[Any], inputs: list[int], outputs: list[Any]) -> str | None:
        """The objection of gradcheck; None where it agrees."""
        torch = self._torch
        exact = all(item.dtype in (torch.float64, torch.complex128) for item in outputs)
        tolerance = {} if exact else {"eps": 1e-2, "atol": 1e-2, "rtol": 1e-2}
        given = [arguments[index] for index in inputs]
        many = sum(item.numel() for item in given) > EXACT
        try:
            torch.autograd.gradcheck(self._function(kind, arguments, inputs), given, fast_mode=many, **tolerance)
        except sys.modules["torch.autograd.gradcheck"].GradcheckError as error:
            return str(error)
        return None

    def _function(self, kind: Any, arguments: list[Any], inputs: list[int]) -> Any:
        def call(*given: Any) -> Any:
            filled = list(arguments)
            for index, item in zip(inputs, given):
                filled[index] = item
            return tuple(self._call(kind, filled))

        return call

    def _worst(self, kind: Any, arguments: list[Any], inputs: list[int]) -> tuple[int, int, float, float] | None:
        """The input and the element at which the gradient is furthest off; None where the function does not change at all.
        What is derived is the sum of all outputs, weighted at random."""
        torch = self._torch
        generator = torch.Generator().manual_seed(0)
        outputs = self._call(kind, arguments)
        weights = [
            torch.rand(item.shape, generator=generator, dtype=torch.float64).to(item.device) + 0.5 for item in outputs
        ]

        def total(made: list[Any]) -> Any:
            return sum((item * weight).sum() for item, weight in zip(made, weights))

        step = 1e-6 if all(item.dtype == torch.float64 for item in outputs) else 1e-2
        given = [arguments[index] for index in inputs]
        gradients = torch.autograd.grad(total(outputs), given, allow_unused=True)
        worst, changes = (inputs[0], 0, 0.0, 0.0), False
        for index, gradient in zip(inputs, gradients):
            held = arguments[index]
            for element in range(min(held.numel(), MAX_COMPARED)):
                values = []
                for sign in (1, -1):
                    moved = held.detach().clone()
                    moved.view(-1)[element] += sign * step
                    filled = [
                        moved.requires_grad_() if number == index else item for number, item in enumerate(arguments)
                    ]
                    values.append(float(total(self._call(kind, filled)).detach()))
                numeric = (values[0] - values[1]) / (2 * step)
                analytic = 0.0 if gradient is None else float(gradient.reshape(-1)[element])
                changes = changes or numeric != 0
                if abs(analytic - numeric) > abs(worst[2] - worst[3]):
                    worst = (index, element, analytic, numeric)
        return worst if changes else None

    def _moved(self, arguments: list[Any], inputs: list[int]) -> list[Any]:
        torch = self._torch
        generator = torch.Generator().manual_seed(1)
        moved = list(arguments)
        for index in inputs:
            held = arguments[index].detach()
            noise = torch.rand(held.shape, generator=generator, dtype=torch.float64).to(held.device)
            moved[index] = (held * (1 + 0.05 * noise) + 1e-3 * (noise + 0.5)).requires_grad_()
        return moved


def _kept(value: Any) -> Any:
    part = tuple(slice(0, 8) for _ in value.shape) if value.numel() > MAX_KEPT else ()
    return value.detach()[part].clone()

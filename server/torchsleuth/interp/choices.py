"""Values that are one of a few, such as None or a tensor: operations on each of them, and tests that rule some out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.library import python
from torchsleuth.interp.tensors import TensorOperations
from torchsleuth.sifting import only
from torchsleuth.syntax.forms import is_method_call, is_reference
from torchsleuth.values import UNKNOWN, Choice, Tensor, Value, is_unknown
from torchsleuth.values.conditions import Condition, Fact, is_constant
from torchsleuth.values.frames import Frame

MAX_COMBINATIONS = 16
"""Values of the arguments of a call that are tried together."""


_VALUES = ("max", "min", "any", "all", "sum", "item")


class Choices(TensorOperations):
    """The part of the interpreter that knows `Choice`."""

    def over(self, choice: Choice, run: Callable[[Any], Value], without_none: bool = False) -> Value:
        """The join of what an operation gives for each of the values. Those for which PyTorch or Python raises are ruled out: no
        execution goes on with them. `without_none`: the operation raises for None."""
        options = tuple(option for option in choice.options if option is not None or not without_none)
        if len(options) == 1:
            return run(options[0])
        mark = self.heap.mark()
        deltas, values = [], []
        stopped = self.stopped
        self.uncertain += 1
        self.guarded += 1
        try:
            for option in options:
                self.stopped = False
                value = run(option)
                delta = self.heap.rollback(mark)
                if not self.stopped:
                    deltas.append(delta)
                    values.append(value)
        finally:
            self.uncertain -= 1
            self.guarded -= 1
            self.stopped = stopped
        if not values:
            return UNKNOWN
        return self.heap.join(deltas, values=values)

    def call_each(self, callee: Value, call: Arguments, run: Callable[[Value, Arguments], Value]) -> Value:
        """A call of which the callee or an argument is a `Choice`."""
        from dataclasses import replace

        if isinstance(callee, Choice):
            return self.over(callee, lambda option: run(option, call), without_none=True)
        call = self._with_few_choices(call)
        for position, value in enumerate(call.args):
            if isinstance(value, Choice):
                before, after = call.args[:position], call.args[position + 1 :]
                return self.over(value, lambda option: run(callee, replace(call, args=(*before, option, *after))))
        for name, value in call.kwargs.items():
            if isinstance(value, Choice):
                return self.over(value, lambda option: run(callee, replace(call, kwargs={**call.kwargs, name: option})))
        return run(callee, call)

    def _with_few_choices(self, call: Arguments) -> Arguments:
        """The call with as many arguments undecided as can be tried together, and the others unknown."""
        from dataclasses import replace

        combinations = 1
        dropped: list[Value] = []

        def kept(value: Value) -> Value:
            nonlocal combinations
            if isinstance(value, Choice):
                combinations *= len(value.options)
                if combinations > MAX_COMBINATIONS:
                    dropped.append(value)
                    return UNKNOWN
            return value

        args = tuple(kept(value) for value in call.args)
        kwargs = {name: kept(value) for name, value in call.kwargs.items()}
        if not dropped:
            return call
        self.escape(tuple(dropped))
        return replace(call, args=args, kwargs=kwargs)

    # -- tests -------------------------------------------------------------------------------------

    def assume(self, fact: Fact | None, outcome: bool = True) -> None:
        """From here on a fact is the case, or with a false `outcome`, is not."""
        if fact is None:
            return
        assumed = self.heap.conditions.assumed
        for condition, holds in self.heap.conditions.implied(fact if outcome else fact.negated, self._holds_of):
            self.heap.set(assumed, condition, holds)
            if holds and condition.kind in ("is", "eq") and is_constant(condition.operands[1]):
                self.heap.set(assumed, Condition("value", condition.operands[:1]), condition.operands[1:])

    def _holds_of(self, condition: Condition, value: Value) -> bool | None:
        """Whether a test holds of a value."""
        if isinstance(value, Choice):
            verdicts = {self._holds_of(condition, option) for option in value.options}
            return only(verdicts)
        kind, operands = condition
        if kind == "truth":
            return self.truth(value)
        if kind == "isinstance":
            types = self.heap.conditions.types[operands[1]]
            found: bool | None = python.is_instance(self, value, types)
            return found
        if kind in ("is", "eq") and is_constant(operands[1]):
            kept = operands[1][1]  # type: ignore[index]
            if isinstance(value, type(None) | bool | int | float | str | bytes):
                return value is kept if kept is None or isinstance(kept, bool) else bool(value == kept)
            return False if kept is None and not is_unknown(value) else None
        return None

    def dispatches(self, test: ast.expr, frame: Frame) -> bool:
        """Whether an undecided test, in a function that is called, asks what kind of argument it got: the caller may know,
        and what else it passes goes with it. So does a test of the value of a tensor of one element, which is no batch."""
        if frame.call is None:
            return False
        for part in ast.walk(test):
            asked: ast.expr | None = None
            held: ast.expr | None = None
            match part:
                case ast.Attribute(attr="ndim" | "dim" | "shape"):
                    asked = part.value
                case ast.Call(func=ast.Name(id="isinstance" | "len")):
                    asked = part.args[0] if part.args else None
                case _ if is_method_call(part, *_VALUES):
                    held = part.func.value
            if isinstance(held, ast.Name):
                value = self.lookup(held.id, frame)
                if isinstance(value, Tensor) and self.resolved_spec(value.spec).shape == (1,):
                    return True
            if is_reference(asked):
                value = self.eval(asked, frame)
                if is_unknown(value) or (isinstance(value, Tensor) and self.resolved_spec(value.spec).shape is None):
                    return True
        return False

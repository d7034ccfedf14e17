"""Comprehensions and generator expressions: the elements that they make."""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeGuard

from torchsleuth.interp import kinds, misuse, streams
from torchsleuth.interp.arithmetic import MAX_SEQUENCE
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import parameters
from torchsleuth.interp.trace import LoopPoint
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.syntax.forms import is_name, last_word, parts_of_tuple
from torchsleuth.tensors.dims import Dim, Size
from torchsleuth.values import UNKNOWN, Array, ListValue, Scalar, Several, Tensor, Value
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MAX_KINDS, MISSING, alike
from torchsleuth.values.names import Names

Node = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_PURE = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)
"""The nodes of an expression that does nothing."""
_PURE_CALLS = ("get", "index", "ord", "int", "str", "len", "lower", "upper")


class Comprehension:
    """One evaluation of a comprehension."""

    def __init__(
        self, interp: Interpreter, node: Node, element: ast.expr, frame: Frame, source: Value = MISSING
    ) -> None:
        """`source`: the value of the first iterable, where that is evaluated already."""
        self._interp = interp
        self._node = node
        self._element = element
        self._outer = frame
        self._inner = _scope_in(frame, interp.heap.mark())
        self._span = frame.source.span(node)
        self._results: list[Value] = []
        self._exact = True
        """Whether the results are all elements, in their order."""
        self._count: Size | None = None
        """The number of elements, where only that is known."""
        self._source = source

    def elements(self) -> tuple[Value, ...] | None:
        """All elements, or some that stand for them where their number is not known; None if nothing is known of them."""
        counted = self._interp.counted()
        if self._source is MISSING:
            self._source = self._interp.eval(self._node.generators[0].iter, self._outer)
        if isinstance(self._source, streams.Stream) and self._source.transient:
            try:
                return tuple(self.steps())
            except streams.Lost:
                return None
        self._run(0)
        if self._exact:
            return tuple(self._results)
        if self._count is not None and self._results and all(map(_is_numeric, self._results)):
            self._interp.tabulated(counted)
        if not self._results or UNKNOWN in self._results:
            return None
        return Several.counted(self._interp.heap.several(tuple(self._results)), self._count)

    def source_read(self) -> tuple[tuple[Any, str, Value], ...]:
        """The variables that the first iterable reads as its elements are asked for."""
        held = as_kind(self._source, ListValue)
        return streams.reads_of(held) if held is not None and held.once is None else ()

    def steps(self) -> Generator[Value, Value, Any]:
        """The elements, each made when it is asked for."""
        return self._steps(0, self._source)

    def _steps(self, position: int, sequence: Value) -> Generator[Value, Value, Any]:
        interp, generator = self._interp, self._node.generators[position]
        for item in streams.each(interp, sequence, generator.iter, self._inner):
            interp.assign(generator.target, interp.renewed(item), self._inner)
            if not self._passes(generator.ifs):
                continue
            if position + 1 == len(self._node.generators):
                yield interp.eval(self._element, self._inner)
            else:
                following = self._node.generators[position + 1]
                yield from self._steps(position + 1, interp.eval(following.iter, self._inner))
        misuse.consume(interp, sequence, generator.iter, self._outer if position == 0 else self._inner)

    def _passes(self, tests: Sequence[ast.expr]) -> bool:
        """Whether all the tests of a ``for`` hold. Raises `streams.Lost` where that is not known."""
        for test in tests:
            verdict = self._interp.truth(self._interp.eval(test, self._inner))
            if verdict is None:
                raise streams.Lost
            if not verdict:
                return False
        return True

    def _run(self, position: int) -> None:
        """One ``for`` of the comprehension, with those behind it; behind the last one, the element."""
        if position == len(self._node.generators):
            self._results.append(self._interp.eval(self._element, self._inner))
            return
        interp, generator = self._interp, self._node.generators[position]
        iteration = self._iteration(position)
        items = list(iteration.items)
        if not iteration.exact or len(items) > MAX_SEQUENCE:
            self._exact, items = False, items[:MAX_KINDS]
        execution, begun = next(interp.loop_executions), len(interp.trace.events)
        before, steps = len(self._results), interp.steps
        plain = not generator.ifs and position == len(self._node.generators) - 1
        seen: dict[str, Value] | None = {} if plain and position == 0 and _is_function_of_names(self._element) else None
        for number, item in enumerate(items):
            if (
                number == 2
                and iteration.alike
                and plain
                and self._exact
                and _are_alike(latest := self._results[before:])
            ):
                second = latest[-1]
                self._results.extend(second.copy() for _ in items[2:])
                break
            if seen is not None and type(item) is str and item in seen:
                self._results.append(seen[item])
                continue
            with self._at(LoopPoint(self._node, self._span, execution, number, iteration.over_loader)):
                interp.assign(generator.target, interp.renewed(item), self._inner)
                if self._may_pass(generator.ifs):
                    self._run(position + 1)
            if seen is not None and type(item) is str and type(self._results[-1]) in (int, str, float, bool):
                seen[item] = self._results[-1]
            if number == 1 and iteration.exact and self._is_too_long(len(items), interp.steps - steps):
                if len(self._node.generators) == 1 and not generator.ifs:
                    self._count = len(items)
                self._exact = False
                del items[2:]
            trains = any(event.kind in ("backward", "step") for event in interp.trace.events[begun:])
            if trains and len(items) == 1 and not iteration.exact:
                items.append(item)  # it changes the state, as a loop does: once more from there

    def _iteration(self, position: int) -> Iteration:
        """The iterable of one ``for``; the first one is evaluated where the comprehension stands."""
        interp, generator = self._interp, self._node.generators[position]
        scope = self._outer if position == 0 else self._inner
        sequence = self._source if position == 0 else interp.eval(generator.iter, scope)
        misuse.consume(interp, sequence, generator.iter, scope)
        listed = parameters.listed(interp, sequence)
        kinds.goes_through(interp, sequence, listed or (), generator.target, generator.iter, scope)
        iteration = interp.iterate(sequence, generator.iter, scope)
        if len(self._node.generators) == 1 and not generator.ifs and not iteration.over_loader:
            self._count = iteration.count
        if not iteration.exact and listed is not None and not _hands_on(self._element, generator.target):
            iteration = Iteration(listed, exact=True)
        return replace(iteration, over_loader=True) if self._node in interp.batch_loops else iteration

    def _is_too_long(self, count: int, steps: int) -> bool:
        """Whether so many elements, two of which took so many steps, are not evaluated one by one: tables of numbers."""
        budget = self._interp.budget
        return count > budget.unroll and steps * count > 2 * budget.long_loop_steps

    @contextmanager
    def _at(self, point: LoopPoint) -> Iterator[None]:
        """One iteration: what a test assumes in it holds no longer."""
        interp = self._interp
        uncertain, assumed = interp.uncertain, interp.heap.conditions.assumed
        before = dict(assumed)
        interp.loop_points.append(point)
        try:
            yield
        finally:
            for condition in [key for key in assumed if key not in before]:
                interp.heap.set(assumed, condition, MISSING)
            interp.loop_points.pop()
            interp.uncertain = uncertain

    def _may_pass(self, tests: Sequence[ast.expr]) -> bool:
        """Whether the tests of a ``for`` may all hold. Where that is not known, they are assumed to."""
        interp = self._interp
        values = [interp.eval(test, self._inner) for test in tests]
        verdicts, facts = [interp.truth(value) for value in values], list(map(interp.heap.conditions.of, values))
        if None in verdicts:
            self._exact = False
            interp.uncertain += 1
            for fact in facts:
                interp.assume(fact)
        return False not in verdicts


def _is_numeric(value: Value) -> bool:
    """Whether an element is a number, or several."""
    match value:
        case int() | float() | Dim() | Array():
            return True
        case Scalar():
            return value.type in ("int", "float", "bool")
        case ListValue():
            elements = value.elements
            return elements is not None and all(map(_is_numeric, elements))
    return False


def _scope_in(frame: Frame, mark: int) -> Frame:
    """The scope of a comprehension that stands in a frame."""
    inner = Frame(
        frame.source,
        Names(),
        frame.globals,
        frame.scopes,
        frame.function,
        frame.receiver,
        frame.caller,
        frame.call,
        frame.depth,
        mark,
    )
    inner.loops, inner.around, inner.global_names = frame.loops, frame, frame.global_names
    inner.given = frame.given
    return inner


def _are_alike(results: Sequence[Value]) -> TypeGuard[Sequence[Tensor]]:
    """Whether two results are tensors that differ in nothing, and that no gradient flows through."""
    if len(results) != 2 or not all_are(results, Tensor):
        return False
    first, second = results
    return first is not second and first.slots["node"] is None and alike(first, second)


def _is_function_of_names(element: ast.expr) -> bool:
    """Whether an expression gives the same whenever its names have the same values, and does nothing else."""
    for part in ast.walk(element):
        if isinstance(part, ast.Call):
            called = last_word(part.func)
            if called not in _PURE_CALLS:
                return False
        elif not isinstance(part, _PURE):
            return False
    return True


def _hands_on(element: ast.expr, target: ast.expr) -> bool:
    """Whether a comprehension collects the parameters that it runs over as they are; the names alone are not those."""
    parts, last = parts_of_tuple(element), parts_of_tuple(target)[-1]
    collected = not isinstance(last, ast.Name) or any(is_name(part, last.id) for part in parts)
    return all_are(parts, ast.Name) and collected

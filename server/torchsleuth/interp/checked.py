"""Calls against the contract of what they call: where an operator fails, which condition on the sizes that were passed is broken."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from torchsleuth.interp.inferred import InferredContracts
from torchsleuth.interp.outcomes import Learned, Running
from torchsleuth.interp.plans import Plan
from torchsleuth.interp.suppositions import Entry, Supposition, Trial
from torchsleuth.interp.trace import BrokenCondition, OperatorFailure
from torchsleuth.interp.written import parameters_of
from torchsleuth.messages import message
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import by_position, contains, is_spread
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Call, Size, Symbol, is_number
from torchsleuth.tensors.requirements import Condition, compare, number, required, size_text, together
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import ClassValue, Function, Instance, Tensor, Value
from torchsleuth.values.frames import Frame
from torchsleuth.values.names import Names

MAX_CALLS = 3
"""Calls of a document that are held against the contract of what they call."""
TIME_LEFT = 0.5
"""Share of the document's time that has to be left for that."""
MOST_TIMES = 2
"""A size is searched for up to so many times the one that is passed, and down to that part of it."""
MOST_TRIED = 400
"""New questions to the oracle to find the least sizes that work."""
_FEATURE_MAPS = {3: ("N", "C", "L"), 4: ("N", "C", "H", "W"), 5: ("N", "C", "D", "H", "W")}
_INDICES = {1: ("T",), 2: ("N", "T"), 3: ("N", "S", "T")}
_CHANNELS = re.compile(r"[cde]|ch|\w*(chan|channels|dim|embd|features|hidden)(_\w+)?", re.IGNORECASE)
"""Names of sizes that are the channels."""
_SHORT = 60
"""Characters of a condition that is said with names of the constructor's parameters."""


_WORDS = {"==": "other", "!=": "other", "<=": "more", "<": "not_less", ">=": "less", ">": "not_more"}
_KINDS = {"<=": "most", ">=": "least"}


@dataclass
class _Call:
    """A call that leads to a failure. `frame`: of what is called. `values`: its arguments, by parameter; `shapes`: of the tensors
    among them of which all sizes are numbers, `symbols`: what stands for these sizes, `numbers`: what the symbols are."""

    frame: Frame
    function: Function
    node: ast.Call
    caller: Frame
    values: dict[str, Value]
    shapes: dict[str, tuple[int, ...]]
    symbols: dict[str, tuple[Symbol, ...]] = field(default_factory=dict)
    numbers: dict[Symbol, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Made:
    """How the receiver of a call is made again: its class, and the arguments of the constructor."""

    cls: ClassValue
    values: dict[str, Value]
    frame: Frame


class CheckedCalls(InferredContracts):
    """Says which condition a call breaks that leads to a failure of an operator."""

    checks_calls = True
    """Whether calls are held against contracts: not when only the findings are asked for."""

    def check_contracts(self, source: SourceText, frame: Frame) -> None:
        super().check_contracts(source, frame)
        if not self.checks_calls:
            return
        self.most_questions = self.oracle.misses + self.budget.supposed_questions
        checked: set[ast.AST] = set()
        for failure in list(self.trace.failures):
            late = time.process_time() > self.deadline - self.budget.seconds * TIME_LEFT
            if self.overdue or late or len(checked) >= MAX_CALLS or self.oracle.misses > self.most_questions:
                break
            call = self._call_behind(failure)
            if call is not None and call.node not in checked:
                checked.add(call.node)
                broken = self._broken(call, failure)
                if broken is not None:
                    self.trace.broken[failure.operation.site.span] = broken
        self.most_questions = None
        self.settle_facts()

    # -- the call ------------------------------------------------------------------------------------------

    def _call_behind(self, failure: OperatorFailure) -> _Call | None:
        """The call that leads to a failure and passes tensors: of the outermost module, or of a function in another file."""
        found: list[_Call] = []
        frame: Frame | None = failure.operation.site.frame
        while frame is not None:
            call = self._as_call(frame)
            if call is not None:
                found.append(call)
            frame = frame.caller
        outermost = list(reversed(found))
        forwards = [
            one for one in outermost if one.function.name == "forward" and isinstance(one.frame.receiver, Instance)
        ]
        crossing = [one for one in outermost if one.function.path != one.caller.path]
        return next(iter([*forwards, *crossing, *outermost]), None)

    def _as_call(self, frame: Frame) -> _Call | None:
        function, node, caller = frame.function, frame.call, frame.caller
        if function is None or node is None or caller is None or function.is_generator:
            return None
        if isinstance(function.node, ast.Lambda) or function.node.args.vararg or function.node.args.kwarg:
            return None
        values: dict[str, Value] = {}
        for argument, _ in parameters_of(function, 0):
            given = _bound(frame.names, argument.arg)
            if given is None:
                return None
            values[argument.arg] = given[0]
        shapes = {
            name: shape
            for name, value in values.items()
            if isinstance(value, Tensor) and (shape := _numbers(self.resolved_spec(value.spec).shape))
        }
        return _Call(frame, function, node, caller, values, shapes) if shapes else None

    # -- the condition -------------------------------------------------------------------------------------

    def _broken(self, call: _Call, failure: OperatorFailure) -> BrokenCondition | None:
        at = failure.operation.site.span
        if not self._fails(self._run_call(call, call.shapes), failure):
            return None  # The objects are others now than they were then.
        for name, shape in call.shapes.items():
            usual = _usual_names(call.values[name], len(shape))
            call.symbols[name] = tuple(self.fresh_symbol(one) for one in usual)
            call.numbers |= dict(zip(call.symbols[name], shape))
        plain = self._learned(call, None)
        made = self._remade(call)
        for learned, names in (self._of_any_size(call, made), plain):
            broken = next((one for one in learned if _is_broken(one, call.numbers)), None)
            if broken is None or broken.site is None or broken.site.span != at:
                continue
            stated = together(
                [one for part in learned if (one := required(part.operator, part.left, part.right)) is not None]
            )
            condition = _stated(broken, stated, call.numbers)
            if condition is not None and len(condition.text) <= _SHORT:
                text = _words(condition, call.numbers, self._told(call, names))
                return self._with_sizes(call, text, condition, stated, names)
        return self._too_small(call, failure)

    def _run_call(
        self,
        call: _Call,
        shapes: dict[str, tuple[Size, ...]] | dict[str, tuple[int, ...]],
        made: _Made | None = None,
        running: Running | None = None,
    ) -> Trial:
        """Make the call again with tensors of other shapes, perhaps on an object that is made with other arguments."""

        def run(given: Supposition) -> None:
            self.inference = running
            values = dict(call.values)
            for name, shape in shapes.items():
                before = as_kind(call.values[name], Tensor)
                assert before is not None
                spec: TensorSpec = self.resolved_spec(before.spec).with_(shape=tuple(shape), strides=None)
                values[name] = Tensor(spec)
            if made is not None:
                first = next(iter(values))
                values[first] = self.instantiate(made.cls, (), dict(made.values), None, made.frame)
            spec_of = call.function.node.args
            positional = [values.pop(one.arg) for one in by_position(spec_of)]
            self.call_function(call.function, tuple(positional), values, None, call.caller)

        try:
            return self._trial(Entry(run), Supposition(general=running is not None))
        finally:
            self.inference = None

    @staticmethod
    def _fails(trial: Trial, failure: OperatorFailure) -> bool:
        return any(one.operation.site.span == failure.operation.site.span for one in trial.trace.failures)

    def _learned(
        self, call: _Call, made: _Made | None, plan: Plan | None = None
    ) -> tuple[list[Learned], dict[Symbol, str]]:
        """The comparisons that a run with symbols for the sizes needs, in their order, and the variables that sizes are
        unpacked into."""
        plan = plan or Plan(None, call.function)
        plan.shapes = {name: tuple(map(dims.of, symbols)) for name, symbols in call.symbols.items()}
        running = Running(plan, False)
        self._run_call(call, plan.shapes, made, running)
        return running.learned, plan.aliases

    def _of_any_size(self, call: _Call, made: _Made | None) -> tuple[list[Learned], dict[Symbol, str]]:
        """The same with symbols for the integers that the constructor is given, under the names of its parameters."""
        if made is None:
            return [], {}
        plan = self.plan(made.cls, call.function)
        values, numbers = dict(made.values), dict(call.numbers)
        for path, setting in plan.settings.items():
            given = values.get(path)
            if is_number(given):
                values[path], numbers[setting.symbol] = dims.of(setting.symbol), given
                self.lasting[setting.symbol] = (path, 0, 0)
        plan.shapes = {name: tuple(map(dims.of, symbols)) for name, symbols in call.symbols.items()}
        running = Running(plan, False)
        trial = self._run_call(call, plan.shapes, replace(made, values=values), running)
        counted = {place[0] for place in trial.counted}
        if counted:
            values |= {path: made.values[path] for path in counted if path in made.values}
            running = Running(plan, False)
            self._run_call(call, plan.shapes, replace(made, values=values), running)
        call.numbers.update(numbers)
        return running.learned, plan.aliases

    def _remade(self, call: _Call) -> _Made | None:
        """How the receiver of a call was made, if that can be told: by a call with arguments that are numbers and the like."""
        receiver = as_kind(call.frame.receiver, Instance)
        if receiver is None or receiver.site is None or call.function.kind != "function":
            return None
        node, frame = receiver.site.call, receiver.site.frame
        made = as_kind(self.class_attribute(receiver.cls, "__init__"), Function)
        if node is None or made is None or isinstance(made.node, ast.Lambda):
            return None
        if is_spread(node.args) or any(one.arg is None for one in node.keywords):
            return None
        if made.node.args.vararg or made.node.args.kwarg or not all(map(_is_plain, _arguments(node))):
            return None
        args = tuple(self.eval(one, frame) for one in node.args)
        kwargs = {one.arg: self.eval(one.value, frame) for one in node.keywords if one.arg is not None}
        names = self._bind(made, (receiver, *args), kwargs)
        if names is None:
            return None
        names.pop(next(iter(names)))
        return _Made(receiver.cls, names, frame)

    # -- words ---------------------------------------------------------------------------------------------

    @staticmethod
    def _told(call: _Call, names: dict[Symbol, str]) -> Callable[[Symbol], str]:
        """The name of each size: of the variable that it is unpacked into, or the usual one where that is no other's."""
        usual = [symbol.name for symbols in call.symbols.values() for symbol in symbols]

        def told(symbol: Symbol) -> str:
            if symbol in names:
                return names[symbol]
            for parameter, symbols in call.symbols.items():
                if symbol in symbols and (usual.count(symbol.name) > 1 or symbol.name.startswith("shape[")):
                    return f"{parameter}.shape[{symbols.index(symbol)}]"
            return symbol.name

        return told

    # -- sizes with which it works -------------------------------------------------------------------------

    def _with_sizes(
        self,
        call: _Call,
        text: str,
        condition: Condition,
        stated: Sequence[Condition],
        names: dict[Symbol, str],
    ) -> BrokenCondition:
        """A broken condition, with the nearest shapes of the tensor it is about with which all the conditions hold."""
        broken = BrokenCondition(self.site(call.node, call.caller), text, _KINDS.get(condition.operator, "needs"))
        owners = [name for name, symbols in call.symbols.items() if set(symbols) & set(condition.symbols)]
        if len(owners) != 1:
            return broken
        name = owners[0]
        symbols, shape = call.symbols[name], call.shapes[name]
        axes = _adjustable(call.values[name], len(shape), [names.get(symbol, "") for symbol in symbols])
        free = [symbols[axis] for axis in axes]

        def fitting(larger: bool) -> tuple[int, ...] | None:
            numbers = dict(call.numbers)
            for _ in range(2 * len(free)):
                wrong = next((one for one in stated if one.holds(numbers) is False), None)
                if wrong is None:
                    return tuple(numbers[symbol] for symbol in symbols)
                held = [one for one in stated if one is wrong or one.holds(numbers) is not False]
                changed = _adjusted([one for one in free if one in wrong.symbols], numbers, held, wrong, larger)
                if changed is None:
                    return None
                numbers |= changed
            return None

        return self._about(call, broken, name, fitting(True), fitting(False))

    def _about(
        self,
        call: _Call,
        broken: BrokenCondition,
        name: str,
        larger: tuple[int, ...] | None,
        smaller: tuple[int, ...] | None,
    ) -> BrokenCondition:
        passed = as_kind(call.values[name], Tensor)
        assert passed is not None
        argument = _argument(call, name)
        return replace(
            broken, passed=passed, argument=argument, shape=call.shapes[name], larger=larger, smaller=smaller
        )

    def _too_small(self, call: _Call, failure: OperatorFailure) -> BrokenCondition | None:
        """The least height and width, where a larger input works: found by trying."""
        if len(call.shapes) != 1:
            return None
        ((name, shape),) = call.shapes.items()
        axes = _adjustable(call.values[name], len(shape))
        if not axes or not _is_of_extent(failure):
            return None

        if len({shape[axis] for axis in axes}) > 1:
            return None

        def sized(size: int) -> tuple[int, ...]:
            return tuple(size if axis in axes else before for axis, before in enumerate(shape))

        def works(size: int) -> bool | None:
            trial = self._run_call(call, {name: sized(size)})
            return trial.sane if trial.trace.failures or not trial.trace.undecided.total() else None

        self.most_questions = self.oracle.misses + MOST_TRIED
        low = shape[axes[0]]
        high = next((low * factor for factor in (2, 4, 8, 16) if works(low * factor)), 0)
        while high - low > 1:
            middle = (low + high) // 2
            working = works(middle)
            if working is None:
                return None
            low, high = (low, middle) if working else (middle, high)
        if not high:
            return None
        names = [call.symbols[name][axis].name for axis in axes]
        left = " = ".join((*names, str(shape[axes[0]])))
        text = message("broken.less", left=left, right=high)
        broken = BrokenCondition(self.site(call.node, call.caller), text, "least")
        return self._about(call, broken, name, sized(high), None)


def _is_of_extent(failure: OperatorFailure) -> bool:
    """Whether a failure says that the extent of a tensor is too small."""
    text = failure.failure.message
    return "Kernel size can't be greater" in text or "Output size is too small" in text or "Padding size" in text


def _adjusted(
    symbols: Sequence[Symbol], numbers: dict[Symbol, int], held: Sequence[Condition], wrong: Condition, larger: bool
) -> dict[Symbol, int] | None:
    """The nearest numbers for one of the symbols, or for all of them where they are equal, with which a condition holds, too.
    Where several in a row would do, the one with the most factors of two."""
    together = [tuple(symbols)] if len(symbols) > 1 and len({numbers[one] for one in symbols}) == 1 else []
    bounded = wrong.operator != "=="
    for group in [*((one,) for one in reversed(symbols)), *together]:
        now = numbers[group[0]]
        least = 0 if bounded else now // MOST_TIMES - 1
        working: list[int] = []
        for value in range(now + 1, MOST_TIMES * now + 1) if larger else range(now - 1, max(least, 0), -1):
            tried = numbers | dict.fromkeys(group, value)
            if all(one.holds(tried) is not False for one in held):
                working.append(value)
                if bounded:
                    break
            elif working:
                break
        if working:
            return dict.fromkeys(group, max(working, key=lambda value: value & -value))
    return None


def _bound(names: object, name: str) -> tuple[Value, ...] | None:
    """The value that a parameter was bound to, whatever was assigned to it since; None where it has none."""
    if not isinstance(names, Names):
        return None
    first = next((before for _, key_, before in names.history if key_ == name), None)
    if first is not None:
        return first or _second(names, name)
    return (names[name],) if name in names else None


def _second(names: Names, name: str) -> tuple[Value, ...] | None:
    """The value that the first write gave to a name: what stood there before the second one."""
    writes = [before for _, key_, before in names.history if key_ == name]
    if len(writes) > 1:
        return writes[1] or None
    return (names[name],) if name in names else None


def _numbers(shape: tuple[Size, ...] | None) -> tuple[int, ...] | None:
    sizes = tuple(of_kind(shape or (), int))
    return sizes if shape and len(sizes) == len(shape) else None


def _usual_names(value: Value, rank: int) -> tuple[str, ...]:
    """The usual names of the sizes of a tensor that nothing else names."""
    whole = isinstance(value, Tensor) and (value.spec.dtype or "").startswith("int")
    names = (_INDICES if whole else _FEATURE_MAPS).get(rank)
    return names or tuple(f"shape[{axis}]" for axis in range(rank))


def _adjustable(value: Value, rank: int, names: Sequence[str] = ()) -> tuple[int, ...]:
    """The dimensions that a caller can pad or crop: height and width, or the steps of a sequence; not the channels, which may
    come last by the names of the sizes."""
    whole = isinstance(value, Tensor) and (value.spec.dtype or "").startswith("int")
    if whole:
        return (1,) if rank == 2 else ()
    last = bool(names) and _CHANNELS.fullmatch(names[-1]) is not None
    if last:
        return tuple(range(1, rank - 1))
    return {3: (1, 2), 4: (2, 3), 5: (2, 3, 4)}.get(rank, ())


def _is_broken(one: Learned, numbers: dict[Symbol, int]) -> bool:
    left, right = number(one.left, numbers), number(one.right, numbers)
    return left is not None and right is not None and not compare(one.operator, left, right)


def _stated(broken: Learned, stated: Sequence[Condition], numbers: dict[Symbol, int]) -> Condition | None:
    """The condition that a comparison is a part of, as the contract states it with the others."""
    own = required(broken.operator, broken.left, broken.right)
    if own is None or not own.symbols or own.holds(numbers) is not False:
        return None
    mine = [one for one in stated if set(one.symbols) <= set(own.symbols) and one.holds(numbers) is False]
    return next(iter(mine), own)


def _arguments(node: ast.Call) -> Iterator[ast.expr]:
    yield from node.args
    yield from (one.value for one in node.keywords)


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression can be evaluated again without doing anything."""
    return not contains(node, ast.Call, ast.NamedExpr, ast.Await, ast.Yield)


def _argument(call: _Call, name: str) -> ast.expr | None:
    """The expression that is passed for a parameter, None where it is not written in the call."""
    for one in call.node.keywords:
        if one.arg == name:
            return one.value
    positional = [argument.arg for argument, _ in parameters_of(call.function, 0)]
    place = positional.index(name) - (1 if isinstance(call.frame.receiver, Instance) else 0)
    if is_spread(call.node.args) or not 0 <= place < len(call.node.args):
        return None
    return call.node.args[place]


def _words(condition: Condition, numbers: dict[Symbol, int], name: Callable[[Symbol], str]) -> str:
    """A broken condition in words, with the numbers: ``H = 30 is not a multiple of 4``."""
    named = {symbol: dims.of(Symbol(name(symbol), 0)) for symbol in condition.symbols}

    def said(size: Size) -> str:
        if isinstance(size, int):
            return str(size)
        return f"{size_text(dims.substitute(size, dict(named)))} = {number(size, numbers)}"

    left, right = condition.left, condition.right
    remainder = _remainder_of(left) if right == 0 else None
    if remainder is not None and condition.operator == "==":
        return message("broken.multiple", left=said(remainder[0]), right=said(remainder[1]))
    return message(f"broken.{_WORDS[condition.operator]}", left=said(left), right=said(right))


def _remainder_of(size: Size) -> tuple[Size, Size] | None:
    """Dividend and divisor, where the size is a remainder."""
    if isinstance(size, int) or len(size.terms) != 1:
        return None
    monomial, coefficient = size.terms[0]
    atom = as_kind(monomial[0][0], Call) if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1 else None
    return (atom.arguments[0], atom.arguments[1]) if atom is not None and atom.operator == "%" else None

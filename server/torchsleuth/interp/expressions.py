"""Expressions: evaluates every kind of node to an abstract value and records what it learns about tensors."""

from __future__ import annotations

import ast
import math
import operator
import traceback
from collections.abc import Callable
from typing import Any

from torchsleuth.interp import demands, kinds, limits, misuse, operations, private, reasons, special, streams, unset
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.arithmetic import (
    MAX_SEQUENCE,
    NUMBERS,
    arithmetic,
    compare_parts,
    compare_sizes,
    formatted,
    scalar_arithmetic,
)
from torchsleuth.interp.budget import OutOfBudget
from torchsleuth.interp.calls import Calls
from torchsleuth.interp.comprehension import Comprehension
from torchsleuth.interp.exceptions import Thrown, of_python, throw
from torchsleuth.interp.exceptions import made as raised
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import (
    arrays,
    contents,
    dictionaries,
    draws,
    files,
    hierarchy,
    launchers,
    modules,
    parameters,
    pure,
    python,
    records,
)
from torchsleuth.interp.library.options import asks_for_more
from torchsleuth.interp.library.plain import ABSENT
from torchsleuth.interp.models import of_class
from torchsleuth.interp.reasons import Watch
from torchsleuth.sifting import all_are, any_are, of_kind, only
from torchsleuth.syntax.forms import is_literal
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size
from torchsleuth.tensors.spec import DType, Native
from torchsleuth.values import (
    UNKNOWN,
    Array,
    Availability,
    Choice,
    ClassValue,
    DictValue,
    Function,
    Globals,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Reason,
    Scalar,
    Several,
    Sizes,
    SliceValue,
    Slots,
    Tensor,
    Unknown,
    Value,
    elements_of,
    is_int,
    is_native_kind,
    is_object,
    is_of,
    is_unknown,
)
from torchsleuth.values.conditions import Condition, Fact, compared
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING, options, renewed

_HOLDERS = (tuple, ListValue, DictValue, Instance, ClassValue, Function)
"""Values that are never True or False themselves."""
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}


def _nothing_known(node: ast.expr, frame: Frame) -> Value:
    return UNKNOWN


_OF_SIZES: dict[str, Callable[[Size, Size], Size]] = {
    "add": dims.add,
    "sub": dims.subtract,
    "mul": dims.multiply,
    "floordiv": dims.floor_divide,
    "mod": dims.modulo,
}
LARGEST_DENOMINATOR = 64
"""Of the floats that a size times them is told as a fraction of."""


def _ratio(operator: str, left: Value, right: Value) -> tuple[Size, Size] | None:
    """The sizes that a product or quotient is one by the other of: those of a size and a number, 4.0 or 0.25; None for others."""
    if operator not in ("mul", "truediv"):
        return None
    (up, down), (over, under) = _fraction(left), _fraction(right)
    if operator == "truediv":
        over, under = under, over
    numerator, denominator = dims.multiply(up, over), dims.multiply(down, under)
    known = (dims.least(numerator) or -1) >= 0 and dims.positive(denominator) == 1
    return (numerator, denominator) if known else None


def _fraction(value: Value) -> tuple[Size, Size]:
    """A number as one size by another one; less than nothing where that is not known."""
    if isinstance(value, float) and math.isfinite(value):
        numerator, denominator = value.as_integer_ratio()
        return (numerator, denominator) if denominator <= LARGEST_DENOMINATOR else (-1, 1)
    return (value, 1) if is_int(value) else (-1, 1)


_WORDS: dict[type[ast.boolop], str] = {ast.And: "and", ast.Or: "or"}


class Expressions(Calls):
    """Evaluation of expressions; calls and tensor operators are in the base classes."""

    evaluators: dict[type[ast.expr], Callable[[Any, Frame], Value]]
    watch: Watch | None = None

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        self.tick()
        evaluate = self.evaluators.get(type(node))
        if evaluate is None:
            evaluate = self.evaluators[type(node)] = getattr(self, f"on_{type(node).__name__}", _nothing_known)
        outer, self.first_unknown = self.first_unknown, None
        try:
            value = evaluate(node, frame)
        except (OutOfBudget, RecursionError, Thrown):
            raise
        except MemoryError:
            value = Unknown(Reason.BUDGET, node, frame)
        except Exception as error:
            self.internal_error(error, node, frame)
            value = Unknown(Reason.INTERNAL_ERROR, node, frame)
        if self.observed:
            value = self.observed.instead(value, node, frame, self.fresh_size)
        if self.heap.conditions.assumed:
            value = self.heap.conditions.under(value)
        if type(value) in limits.BOUNDED:
            value = limits.bounded(value)
        value, found = reasons.explained(value, node, frame, self.first_unknown)
        self.first_unknown = outer or found
        if isinstance(value, Tensor | Choice):
            self.record_fact(node, value, frame, None)
        if self.watch is not None:
            self.watch.see(node, value, frame)
        return value

    def internal_error(self, error: Exception, node: ast.AST, frame: Frame) -> None:
        """The analysis itself failed at a node: the value there is unknown, and the fault is noted."""
        where = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{frame.path}:{getattr(node, 'lineno', 0)}"
        self.trace.internal_errors.append(
            f"{at}: {type(error).__name__}: {error} ({where.name}, {where.filename.rpartition('/')[2]}:{where.lineno})"
        )

    def on_Constant(self, node: ast.Constant, frame: Frame) -> Value:
        return node.value

    def on_Name(self, node: ast.Name, frame: Frame) -> Value:
        if unset.is_not_yet_local(node.id, frame):
            unset.not_bound(self, node, frame)
            throw(self, raised("builtins.UnboundLocalError", (UNKNOWN,)))
            return UNKNOWN
        value = self.lookup(self._private(node, frame) if private.is_private(node.id) else node.id, frame)
        if is_unknown(value) and unset.is_unbound(node.id, frame):
            unset.not_bound(self, node, frame)
        if is_unknown(value) and self.catching.at(self.uncertain) and unset.is_unbound(node.id, frame):
            error = raised("builtins.NameError", (UNKNOWN,))
            error.slots["name"] = node.id
            throw(self, error)
        if is_unknown(value) and isinstance(frame.receiver, Instance):
            unset.name(self, node, frame)
        return value

    @staticmethod
    def _private(node: ast.Name, frame: Frame) -> str:
        """A private name as it is bound: a parameter of one keeps it as it is written."""
        found = private.named(node.id, node, frame)
        bound = any(found in names for names in (frame.names, *frame.closure, frame.globals))
        return found if bound else node.id

    def lookup(self, name: str, frame: Frame) -> Value:
        scopes = (frame.globals,) if name in frame.global_names else (frame.names, *frame.closure, frame.globals)
        for names in scopes:
            if name in names:
                return names[name]
        return self.elsewhere(name, frame.globals)

    def elsewhere(self, name: str, names: Slots) -> Value:
        """The meaning of a name that is bound nowhere so far."""
        value = self.fetch(names, name) if self.as_needed and isinstance(names, Globals) else MISSING
        return python.builtin(name) if value is MISSING else value

    def on_Tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        items = self._elements(node.elts, frame)
        return UNKNOWN if items is None or isinstance(items, Several) or limits.is_large(items) else items

    def on_List(self, node: ast.List, frame: Frame) -> Value:
        return ListValue(self.few(self._elements(node.elts, frame)))

    def few(self, elements: tuple[Value, ...] | None) -> tuple[Value, ...] | None:
        """The elements of a list, some that stand for them where there are too many to keep each."""
        if elements is None or len(elements) <= limits.MAX_ELEMENTS:
            return elements
        return self.heap.several(elements)

    def on_Set(self, node: ast.Set, frame: Frame) -> Value:
        elements = self._elements(node.elts, frame)
        if elements and not isinstance(elements, Several) and any_are(elements, Instance, ListValue, DictValue):
            call = Arguments((elements,), {}, node, frame)
            made = pure.function(self, "builtins.set", call)
            if made is not ABSENT:
                return made
        return python.make_set(self, elements)

    def _elements(self, nodes: list[ast.expr], frame: Frame) -> tuple[Value, ...] | None:
        """The elements, `Several` where a starred one stands for any number, None where one is not known."""
        items: list[Value] = []
        known = True
        for node in nodes:
            if isinstance(node, ast.Starred):
                spread = self.eval(node.value, frame)
                more = self.sequence(spread, node, frame)
                known = known and more is not None
                items.extend(self.iterate(spread, node, frame).items if more is None else more)
            else:
                items.append(self.eval(node, frame))
        if known:
            return tuple(items)
        return None if UNKNOWN in items else self.heap.several(tuple(items))

    def on_Dict(self, node: ast.Dict, frame: Frame) -> Value:
        entries: dict[Any, Value] | None = {}
        for key_node, value_node in zip(node.keys, node.values):
            key = self.eval(key_node, frame) if key_node is not None else None
            value = self.eval(value_node, frame)
            if key_node is None:
                value = parameters.as_entries(self, value)
                more = value.entries if isinstance(value, DictValue) else None
                entries = dictionaries.merge(self, entries, more)
                continue
            if entries is not None:
                entries = dictionaries.put(self, entries, key, value)
        return DictValue(entries)

    def on_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        pieces: list[Value] = []
        for part in node.values:
            match part:
                case ast.Constant():
                    pieces.append(str(part.value))
                case ast.FormattedValue():
                    value = self.eval(part.value, frame)
                    form = self.eval(part.format_spec, frame) if part.format_spec is not None else ""
                    if (
                        part.format_spec is not None
                        and part.conversion == -1
                        and not isinstance(value, str | int | float)
                    ):
                        demands.as_text(self, value, form, part.value, frame)
                        misuse.needs_result(self, value, part.value, frame)
                    text: Value = UNKNOWN
                    if isinstance(form, str):
                        call = Arguments((), {}, part, frame)
                        text = pure.formatted(self, value, part.conversion, form, call)
                    pieces.append(text if isinstance(text, str) else value)
        known = of_kind(pieces, str)
        fits = len(known) == len(pieces) and sum(map(len, known)) <= limits.MAX_TEXT
        return "".join(known) if fits else Scalar("str", made_of=tuple(pieces))

    def on_FormattedValue(self, node: ast.FormattedValue, frame: Frame) -> Value:
        self.eval(node.value, frame)
        return Scalar("str")

    def on_NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.eval(node.value, frame)
        while frame.around is not None:
            frame = frame.around
        self.assign(node.target, value, frame)
        return value

    def on_Lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return self.make_function(node, "<lambda>", frame)

    def on_Starred(self, node: ast.Starred, frame: Frame) -> Value:
        return self.eval(node.value, frame)

    def on_Await(self, node: ast.Await, frame: Frame) -> Value:
        return launchers.result_of(self.eval(node.value, frame))

    def on_Yield(self, node: ast.Yield, frame: Frame) -> Value:
        value = self.eval(node.value, frame) if node.value is not None else None
        if frame.body is not None:
            frame.body(value)
            return None
        if frame.yields is not None:
            frame.yields.append(value)
            frame.yields_all &= self.uncertain == frame.certain
        return UNKNOWN

    def on_YieldFrom(self, node: ast.YieldFrom, frame: Frame) -> Value:
        iteration = self.iterate(self.eval(node.value, frame), node.value, frame)
        if frame.yields is not None:
            frame.yields.extend(iteration.items)
            frame.yields_all &= iteration.exact and self.uncertain == frame.certain
        return UNKNOWN

    def on_IfExp(self, node: ast.IfExp, frame: Frame) -> Value:
        decided = demands.as_truth(self, node.test, frame)
        if decided is None and asks_for_more(self, node.test, frame):
            decided = False
        if decided is not None:
            return self.eval(node.body if decided else node.orelse, frame)
        mark, fact = self.heap.mark(), self.tested
        self.uncertain += 1
        try:
            self.assume(fact)
            left = self.eval(node.body, frame)
            first = self.heap.rollback(mark)
            self.assume(fact, False)
            right = self.eval(node.orelse, frame)
            second = self.heap.rollback(mark)
        finally:
            self.uncertain -= 1
        return self.heap.join([first, second], values=[left, right], branches=True)

    def on_BoolOp(self, node: ast.BoolOp, frame: Frame) -> Value:
        uncertain, assumed = self.uncertain, self.heap.conditions.assumed
        before = dict(assumed)
        facts: list[Fact | None] = []
        try:
            value = self._parts(node, isinstance(node.op, ast.And), frame, facts)
        finally:
            self.uncertain = uncertain
            for condition in [key for key in assumed if key not in before]:
                self.heap.set(assumed, condition, MISSING)
        known = frozenset(fact for fact in facts if fact is not None)
        if len(known) == len(facts) and facts and self.truth(value) is None:
            value = self._another(value, node, frame)
            one = len(known) == 1
            fact = next(iter(known)) if one else Fact(Condition(_WORDS[type(node.op)], (known,)), True)
            self.heap.conditions.tell(value, fact)
        return value

    def _another(self, value: Value, node: ast.expr, frame: Frame) -> Value:
        """A value of its own that is as unknown as another."""
        if isinstance(value, Unknown) and value.reason is Reason.UNSPECIFIED:
            return reasons.reasoned(value, node, frame, self.first_unknown)
        return self.renewed(value)

    def renewed(self, value: Value) -> Value:
        """Another value of which the same is known: the next of those that one stands for."""
        if isinstance(value, Instance) and value.may_be:
            return self.heap.join_all((value,))
        return tuple(map(self.renewed, value)) if type(value) is tuple else renewed(value)

    def _parts(self, node: ast.BoolOp, is_and: bool, frame: Frame, facts: list[Fact | None]) -> Value:
        """The value of ``and`` or ``or``. What follows a part that is not known may not be evaluated. `facts`: gets what is
        the case where each of those parts is true on which the whole depends."""
        result: Value = MISSING
        for index, part in enumerate(node.values):
            value = self.eval(part, frame)
            last = index == len(node.values) - 1
            if not last:
                demands.as_number(self, value, "bool", part, frame)
            decided = self.truth(value)
            if decided is None:
                # What is given out here is what stops: false parts of an `and`, true ones of an `or`.
                self.uncertain += 1
                stopping = [option for option in options(value) if self.truth(option) is not is_and]
                result = self.heap.join_all((result, *(options(value) if last else stopping)))
                facts.append(self.heap.conditions.of(value))
                if not last:
                    self.assume(facts[-1], is_and)
            elif decided != is_and:
                facts.append(None)
                return self.heap.join_values(result, value)
            elif last:
                result = self.heap.join_values(result, value)
        return result if result is not MISSING else UNKNOWN

    def on_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Value:
        return self.unary(node, self.eval(node.operand, frame), frame)

    def unary(self, node: ast.UnaryOp, value: Value, frame: Frame) -> Value:
        if isinstance(node.op, ast.Not):
            demands.as_number(self, value, "bool", node.operand, frame)
            decided = self.truth(value)
            if decided is not None:
                return not decided
            inverted, fact = Scalar("bool"), self.heap.conditions.of(value)
            if fact is not None:
                self.heap.conditions.tell(inverted, fact.negated)
            return inverted
        match value:
            case Choice():
                return self.over(value, lambda one: self.unary(node, one, frame), without_none=True)
            case Tensor():
                name = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}[type(node.op)]
                return self.operate(f"operator.{name}", (value,), {}, node, frame)
            case Array():
                return contents.negated(self, type(node.op).__name__, value, Array(value.spec))
        if isinstance(value, NUMBERS):
            try:
                return getattr(operator, {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}[type(node.op)])(value)
            except TypeError:
                return UNKNOWN
        match value:
            case Dim() if isinstance(node.op, ast.USub):
                return dims.negate(value)
            case DictValue() if value.type_name == "Counter" and isinstance(node.op, ast.UAdd | ast.USub):
                sides = (value, DictValue({}, "Counter", 0))
                kind, sides = (ast.Add, sides) if isinstance(node.op, ast.UAdd) else (ast.Sub, sides[::-1])
                return self.binary(kind, *sides, node, frame)
            case Instance():
                name = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}[type(node.op)]
                made = special.call(self, value, name, (), frame)
                if made is special.ABSENT and name == "__invert__":
                    made = records.inverted(value)
                return UNKNOWN if made is special.ABSENT else made
        return value if isinstance(value, Scalar) else UNKNOWN

    def on_BinOp(self, node: ast.BinOp, frame: Frame) -> Value:
        left = self.eval(node.left, frame)
        right = self.eval(node.right, frame)
        return self.binary(type(node.op), left, right, node, frame)

    def binary(
        self, kind: type[ast.AST], left: Value, right: Value, node: ast.AST, frame: Frame, inplace: bool = False
    ) -> Value:
        name = _OPERATORS.get(kind)
        if name is None:
            return UNKNOWN
        misuse.computes(self, left, right, node, frame)
        kinds.joins(self, name, left, right, node, frame)
        if isinstance(left, Choice):
            return self.over(left, lambda one: self.binary(kind, one, right, node, frame, inplace), without_none=True)
        if isinstance(right, Choice):
            return self.over(right, lambda one: self.binary(kind, left, one, node, frame, inplace), without_none=True)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            made = self.tensor_binary(name, left, right, node, frame, inplace)
            return Scalar("str") if kind is ast.Mod and isinstance(left, str) else made
        if name == "truediv" and (path := files.joined(left, right)) is not None:
            return path
        if (made := self._of_models(name, left, right, frame)) is not special.ABSENT:
            return made
        if isinstance(left, Array) or isinstance(right, Array):
            result = contents.operated(self, name, left, right, arrays.binary(self, name, left, right, frame))
            result = arrays.of_operands(result, left, right)
            return arrays.written(self, left, result) if inplace and isinstance(left, Array) else result
        if inplace and name == "add" and isinstance(left, LibraryModule):
            return modules.extended(self, left, right, node, frame)
        if inplace and isinstance(left, Parameters):
            self.parameters_written(left, node, frame)
            return left
        if isinstance(left, Instance) or isinstance(right, Instance):
            made = self._combined(name, left, right, frame, inplace)
            if made is not special.ABSENT:
                return made
            if kind is ast.Mod and isinstance(left, str) and special.contents(right) is None:
                right = (right,)
            owner, left, right = left, self._held(left), self._held(right)
            if inplace and left is not owner and isinstance(left, ListValue | DictValue):
                made = self.binary(kind, left, right, node, frame, inplace)
                return owner if made is left else made
        left, right = self.resolved(left), self.resolved(right)
        if name == "mul":
            for sequence, count in ((left, right), (right, left)):
                misuse.repeats(self, sequence, count, node, frame, hierarchy.holds_parameters)
        if isinstance(left, Dim) or isinstance(right, Dim):
            return self._symbolic(name, left, right)
        if isinstance(left, NUMBERS) and isinstance(right, NUMBERS):
            try:
                return arithmetic(name, left, right)
            except ZeroDivisionError as error:
                throw(self, of_python(error))
            return UNKNOWN
        if isinstance(left, Scalar | Availability) or isinstance(right, Scalar | Availability):
            return scalar_arithmetic(left, right)
        if is_unknown(left) or is_unknown(right):
            return self._containers(name, left, right, inplace)
        if name in ("add", "mul") and (isinstance(left, Sizes) or isinstance(right, Sizes)):
            made = self._containers(name, left, right, inplace)
            return Sizes(made) if isinstance(made, tuple) else made
        call = Arguments((), {}, node, frame)
        made = pure.operate(self, name, left, right, call, inplace)
        return self._containers(name, left, right, inplace) if made is ABSENT else made

    def _of_models(self, name: str, left: Value, right: Value, frame: Frame) -> Value:
        """The answer of the model of an object of a library's to an operator, ABSENT where there is none."""
        for owner in of_kind((left, right), LibraryObject):
            made = of_class(owner.path)(self, owner).combined(name, left, right, frame)
            if made is not special.ABSENT:
                return made
        return special.ABSENT

    def _combined(self, name: str, left: Value, right: Value, frame: Frame, inplace: bool) -> Value:
        """The answer of the methods of objects to an operator, ABSENT where they leave it to what the objects hold."""
        made = records.combined(name, left, right)
        if made is special.ABSENT:
            made = special.binary(self, name, left, right, frame, inplace)
        if made is special.ABSENT and (text := special.refusal(self, name, left, right, inplace)) is not None:
            throw(self, raised("builtins.TypeError", (text,)))
        return made

    def shown(self, value: Value, how: str, frame: Frame) -> Value:
        """``str(value)`` or ``repr(value)``. `how`: the name of the method."""
        call = Arguments((), {}, ast.Pass(), frame)
        conversion = ord("s") if how == "__str__" else ord("r")
        made = pure.formatted(self, value, conversion, "", call)
        return Scalar("str") if made is ABSENT else made

    @staticmethod
    def text_of_path(value: LibraryObject) -> Value:
        """``str(path)``; ABSENT for other objects."""
        text = files.path_text(value)
        return ABSENT if text is None else text

    def shown_record(self, value: Instance | LibraryObject, how: str, frame: Frame) -> Value:
        """``str(value)`` or ``repr(value)`` of a dataclass, a namespace or a member of an enum; ABSENT for other objects."""
        return records.shown(self, value, how, frame)

    @staticmethod
    def _held(value: Value) -> Value:
        """The builtin value behind an object, such as a member of an IntEnum; any other value as it is."""
        held = special.contents(value)
        return records.plain(value) if held is None else held

    def _symbolic(self, name: str, left: Value, right: Value) -> Value:
        if is_unknown(left) or is_unknown(right):
            return UNKNOWN
        if not is_int(left) or not is_int(right):
            numbers = all_are((left, right), Dim, Scalar, bool, int, float)
            if numbers and name in ("add", "sub", "mul", "truediv", "pow"):
                # A bool with an integer makes an integer.
                floats = any(is_of(side, float) for side in (left, right))
                return Scalar("float", ratio=_ratio(name, left, right)) if floats else UNKNOWN
            return self._repeated(left, right) if name == "mul" else UNKNOWN
        if name == "pow":
            return self._power(left, right)
        try:
            known = _OF_SIZES.get(name)
            if known is not None:
                return known(left, right)
        except ZeroDivisionError:
            return UNKNOWN
        ratio = _ratio(name, left, right)
        return Scalar("float", ratio=ratio) if name == "truediv" else self.fresh_size(positive=False)

    def _power(self, left: Size, right: Size) -> Value:
        if isinstance(right, int) and 0 <= right <= 6:
            return dims.power(left, right)
        sign = dims.positive(right)
        if sign in (0, 1):
            return self.fresh_size(positive=False)
        return Scalar("float") if sign == -1 else UNKNOWN

    def _repeated(self, left: Value, right: Value) -> Value:
        """A list or text times a number that is not known."""
        sequence, count = (right, left) if isinstance(left, Dim) else (left, right)
        number = count if isinstance(count, Dim) and dims.positive(count) == 1 else None
        if isinstance(sequence, str):
            return Scalar("str", length=None if number is None else dims.multiply(number, len(sequence)))
        if not isinstance(sequence, ListValue) or not sequence.elements:
            return UNKNOWN
        items = sequence.items
        length = None if number is None or items is None else dims.multiply(number, len(items))
        return ListValue(Several.counted(self.heap.several(sequence.elements), length))

    def _containers(self, name: str, left: Value, right: Value, inplace: bool) -> Value:
        if name == "add":
            match left:
                case str() if isinstance(right, str):
                    return left + right
                case tuple() if isinstance(right, tuple):
                    return left + right
                case ListValue():
                    more = elements_of(right)
                    items = None if left.elements is None or more is None else (*left.elements, *more)
                    if items is not None and (isinstance(left.elements, Several) or isinstance(more, Several)):
                        items = self.heap.several(items)
                    items = self.few(items)
                    if inplace:
                        self.heap.set(left.slots, "items", items)
                        return left
                    return ListValue(items)
        if name == "mul":
            for sequence, count in ((left, right), (right, left)):
                if isinstance(count, int):
                    match sequence:
                        case str() | tuple() if len(sequence) * count <= MAX_SEQUENCE:
                            return sequence * count
                        case ListValue():
                            items = sequence.elements
                            if items is None or (not isinstance(items, Several) and len(items) * count <= MAX_SEQUENCE):
                                return ListValue(None if items is None else items * count)
                            return ListValue(self.heap.several(items))
        if name == "mod" and isinstance(left, str):
            return formatted(left, right)
        if name == "or_" and isinstance(left, DictValue) and isinstance(right, DictValue):
            entries = dictionaries.merge(self, left.entries, right.entries)
            if inplace:
                self.heap.set(left.slots, "items", entries)
            return left if inplace else DictValue(entries)
        return UNKNOWN

    def on_Compare(self, node: ast.Compare, frame: Frame) -> Value:
        left = self.eval(node.left, frame)
        result: Value = True
        for op, right_node in zip(node.ops, node.comparators):
            right = self.eval(right_node, frame)
            value = self.compare(op, left, right, node, frame)
            if len(node.ops) == 1:
                return self._compared(op, left, right, value, node, frame)
            if right_node is not node.comparators[-1]:
                demands.as_number(self, value, "bool", node, frame)
            decided = self.truth(value)
            if decided is False:
                return False
            if decided is None:
                result = Scalar("bool")
            left = right
        return result

    def _compared(
        self, op: ast.cmpop, left: Value, right: Value, value: Value, node: ast.Compare, frame: Frame
    ) -> Value:
        """The result of a comparison; if it is not known, it can be recognised where the same is compared again."""
        if not isinstance(value, Scalar | Unknown):
            return value
        fact = compared(op, self.resolved(left), self.resolved(right))
        if fact is None:
            return value
        if self.heap.conditions.holds(fact) is not None and isinstance(value, Scalar):
            return self.heap.conditions.holds(fact)
        value = self._another(value, node, frame)
        self.heap.conditions.tell(value, fact)
        return value

    def compare(self, op: ast.cmpop, left: Value, right: Value, node: ast.Compare, frame: Frame) -> Value:
        match op:
            case ast.Is() | ast.IsNot():
                same = self.identical(left, right)
                return Scalar("bool") if same is None else same == isinstance(op, ast.Is)
            case ast.In() | ast.NotIn():
                found = self._contains(left, right, node, frame)
                return Scalar("bool") if found is None else found == isinstance(op, ast.In)
        name = _OPERATORS[type(op)]
        equality, equal = isinstance(op, ast.Eq | ast.NotEq), isinstance(op, ast.Eq)
        if not equality or isinstance(left, Tensor) or isinstance(right, Tensor):
            misuse.computes(self, left, right, node, frame)
        if isinstance(left, Choice):
            return self.over(left, lambda one: self.compare(op, one, right, node, frame))
        if isinstance(right, Choice):
            return self.over(right, lambda one: self.compare(op, left, one, node, frame))
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            if left is None or right is None or isinstance(left, str) or isinstance(right, str):
                kinds.compares(self, left, right, node, frame)
                return Scalar("bool")
            return self.tensor_binary(name, left, right, node, frame, False)
        if (made := self._of_models(name, left, right, frame)) is not special.ABSENT:
            return made
        if isinstance(left, Array) or isinstance(right, Array):
            return contents.operated(self, name, left, right, arrays.binary(self, name, left, right, frame))
        if (known := files.compared(name, left, right)) is not None:
            return known
        if records.is_member(left) and records.is_member(right) and equality:
            return (left is right) == equal
        one, other = records.known_attributes(left), records.known_attributes(right)
        if equality and one is not None and other is not None:
            return self.compare(op, DictValue(one), DictValue(other), node, frame)
        left, right = self._held(left), self._held(right)
        if isinstance(left, Instance) or isinstance(right, Instance):
            made = self._compare_objects(name, left, right, node, frame)
            same = self._equal_objects(left, right) if equality and made is special.ABSENT else None
            return made if made is not special.ABSENT else Scalar("bool") if same is None else same == equal
        left, right = self.resolved(left), self.resolved(right)
        if is_int(left) and is_int(right) and (isinstance(left, Dim) or isinstance(right, Dim)):
            verdict = compare_sizes(name, left, right)
            undecided = isinstance(verdict, Scalar) and equality
            return not equal if undecided and self.differ(left, right) else verdict
        if equality and isinstance(left, ClassValue | Native) and isinstance(right, ClassValue | Native):
            same = self._equal_classes(left, right)
            return Scalar("bool") if same is None else same == equal
        plain = (*NUMBERS, str, bytes, type(None), DType)
        if isinstance(left, plain) and isinstance(right, plain):
            return self._compare_plain(name, left, right, node, frame)
        if not is_unknown(left) and not is_unknown(right):
            made = pure.operate(self, name, left, right, Arguments((), {}, node, frame))
            if made is not ABSENT:
                return made
        if isinstance(left, tuple) and isinstance(right, tuple) and equality:
            parts = [compare_parts(a, b) for a, b in zip(left, right)]
            if len(left) != len(right) or False in parts:
                return not equal
            if all(part is True for part in parts):
                return equal
        # Tensors, arrays and objects of unknown classes compare to values of their own.
        return UNKNOWN if is_unknown(left) or is_unknown(right) else Scalar("bool")

    def _compare_plain(self, name: str, left: Value, right: Value, node: ast.Compare, frame: Frame) -> Value:
        """Numbers, texts and None, as Python compares them."""
        if self.entry_point is not None and self._is_default(node, left, right):
            return Unknown(Reason.ARGUMENT, node, frame)
        try:
            return bool(getattr(operator, name)(left, right))
        except TypeError:
            return Scalar("bool")

    def _compare_objects(self, name: str, left: Value, right: Value, node: ast.Compare, frame: Frame) -> Value:
        """The answer of the classes of two values themselves, ABSENT where they leave it to Python."""
        made = special.compared(self, name, left, right, frame)
        if made is not special.ABSENT:
            return Scalar("bool") if is_unknown(made) else made
        return records.compared(self, name, left, right, node, frame)

    @staticmethod
    def _is_default(node: ast.Compare, left: Value, right: Value) -> bool:
        """Whether None is compared with something else, in code that nothing calls: it may be nothing but the default of a
        parameter for which a caller gives a value."""
        return (left is None) != (right is None) and not any(
            is_literal(side, None) for side in (node.left, *node.comparators)
        )

    def _equal_objects(self, left: Value, right: Value) -> bool | None:
        """Whether two values, at least one of which is an object of the user's, are equal."""
        for value in (left, right):
            if not isinstance(value, Instance | str | int | float | tuple | type(None)):
                return None
            if isinstance(value, Instance) and (
                value.cls.opaque or self.class_attribute(value.cls, "__eq__") is not MISSING
            ):
                return None
        if isinstance(left, Instance) and isinstance(right, Instance):
            undecided = left.cls is right.cls and (left.cls.is_dataclass or left.may_be or right.may_be)
            return True if left is right else None if undecided else False
        return False

    def _equal_classes(self, left: ClassValue | Native, right: ClassValue | Native) -> bool | None:
        """Whether two classes are the same, where none of them may say itself what it is equal to, as a dtype of NumPy's does."""
        natives = of_kind((left, right), Native)
        if any(one.metaclass for one in of_kind((left, right), ClassValue)):
            return None
        plain = all(one.path.startswith("builtins.") or one.kind == "module-class" for one in natives)
        if len(natives) == 2 and not plain:
            return True if left == right else None
        return self.identical(left, right)

    def identical(self, left: Value, right: Value) -> bool | None:
        if is_unknown(left) or is_unknown(right):
            return None
        if isinstance(left, Choice) or isinstance(right, Choice):
            verdicts = {self.identical(one, other) for one in options(left) for other in options(right)}
            return only(verdicts)
        if left is None or right is None:
            return left is right
        if any(side.may_be for side in of_kind((left, right), Instance)) and left is not right:
            return None
        match left:
            case bool() if isinstance(right, bool):
                return left == right
            case str() if isinstance(right, str) and left != right:
                return False
            case Native() if isinstance(right, Native):
                return left.path == right.path
        if {type(left), type(right)} == {Native, ClassValue}:
            return False
        if left is not right and (is_object(left, python.SENTINEL) or is_object(right, python.SENTINEL)):
            return False
        if isinstance(left, Function | ClassValue) and type(left) is type(right) and left.node is not right.node:
            return False
        if records.is_member(left) and records.is_member(right):
            return left is right
        if isinstance(left, bool) != isinstance(right, bool) and not isinstance(left, Scalar | Dim | Tensor | Array):
            other = right if isinstance(left, bool) else left
            return False if isinstance(other, (*_HOLDERS, int, float, str)) else None
        return True if left is right else None

    def _contains(self, item: Value, container: Value, node: ast.AST, frame: Frame) -> bool | None:
        return operations.of(self, parameters.as_entries(self, container)).contains(item, node, frame)

    def on_Subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        container = self.eval(node.value, frame)
        key = self.eval(node.slice, frame)
        demands.of_shape(self, container, key, node, frame)
        return self.get_item(container, key, node, frame)

    def on_Slice(self, node: ast.Slice, frame: Frame) -> Value:
        return SliceValue(*(self.eval(part, frame) if part else None for part in (node.lower, node.upper, node.step)))

    def get_item(self, container: Value, key: Value, node: ast.AST, frame: Frame) -> Value:
        if isinstance(container, Choice):
            return self.over(container, lambda one: self.get_item(one, key, node, frame), without_none=True)
        if isinstance(key, Choice):
            return self.over(key, lambda one: self.get_item(container, one, node, frame))
        misuse.indexes(self, container, key, node, frame)
        kinds.picks(self, container, key, node, frame)
        return operations.of(self, container).item(key, node, frame)

    def any_of(self, items: tuple[Value, ...]) -> Value:
        """An element at a position that is not known."""
        if len(items) > 1 and all_are(items, int) and not any_are(items, bool):
            return draws.between(self, min(items), max(items))
        one = self.heap.join_all(self.heap.several(items))
        if is_unknown(one):
            # Whatever is done to it changes one of these.
            for item in of_kind(items, Instance):
                if not item.is_module and not item.cls.is_dataclass:
                    self.forget_attributes(item)
        return one

    # -- comprehensions ----------------------------------------------------------------------------

    def on_ListComp(self, node: ast.ListComp, frame: Frame) -> Value:
        return ListValue(Comprehension(self, node, node.elt, frame).elements())

    def on_SetComp(self, node: ast.SetComp, frame: Frame) -> Value:
        return python.make_set(self, Comprehension(self, node, node.elt, frame).elements())

    def on_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        source = self.eval(node.generators[0].iter, frame)

        def now() -> Value:
            comprehension = Comprehension(self, node, node.elt, frame, source)
            made = ListValue(comprehension.elements(), "generator")
            made.once, made.made = misuse.once(), self.site(node, frame)
            parts = [part for generator in node.generators for part in generator.ifs]
            parts += [node.elt, *(generator.iter for generator in node.generators[1:])]
            made.reads = (*python.read_later(parts, frame.scopes, frame.globals), *comprehension.source_read())
            return made

        return streams.lazy(self, now, Comprehension(self, node, node.elt, frame, source).steps, (source,))

    def on_DictComp(self, node: ast.DictComp, frame: Frame) -> Value:
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        items = Comprehension(self, node, pair, frame).elements()
        if items is None:
            return DictValue(None)
        pairs = Iteration(items, exact=not isinstance(items, Several))
        return DictValue(dictionaries.of_pairs(self, pairs, node, frame))

    # -- attributes --------------------------------------------------------------------------------

    def on_Attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        owner = self.eval(node.value, frame)
        name = private.named(node.attr, node, frame)
        value = self.attribute(owner, name, node, frame)
        nameless = isinstance(value, Unknown) and not value.is_one_value
        return owner.attribute(name, node, frame) if nameless and isinstance(owner, Unknown) else value

    def attribute(self, owner: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        """``owner.name``; unknown where it is not modelled."""
        if isinstance(owner, Choice):
            return self.over(owner, lambda one: self.attribute(one, name, node, frame), without_none=True)
        return operations.of(self, owner).attribute(name, node, frame)

    def own_attribute(self, owner: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        return operations.Objects(self, owner).own(name, node, frame)

    def length(self, value: Value, frame: Frame) -> Size | None:
        return operations.of(self, value).length(frame)

    def class_of(self, value: Value) -> Value:
        return operations.of(self, value).type()

    def class_attribute(self, cls: ClassValue, name: str, after: ClassValue | None = None) -> Value:
        """The attribute in the class or its bases (of those after `after`): a value, a Native base, or MISSING."""
        chain = cls.mro()
        if after is not None and after in chain:
            chain = chain[chain.index(after) + 1 :]
        for base in chain:
            if isinstance(base, ClassValue) and name in base.slots:
                return base.slots[name]
            if name == "__init__" and is_native_kind(base, "module-class"):
                return MISSING  # its own comes before those of the mixins that follow
        return MISSING

    # -- truth and sequences -----------------------------------------------------------------------

    def truth(self, value: Value) -> bool | None:
        """Whether a condition holds: True, False, or None where it is not known."""
        decided = operations.of(self, self.resolved(value)).truth()
        if decided is None and self.heap.conditions.assumed:
            fact = self.heap.conditions.of(value)
            return None if fact is None else self.heap.conditions.holds(fact)
        return decided

    def sequence(self, value: Value, node: ast.AST, frame: Frame) -> tuple[Value, ...] | None:
        """All elements in order, or None where they are not all known."""
        iteration = self.iterate(value, node, frame)
        return iteration.items if iteration.exact else None

    def iterate(self, value: Value, node: ast.AST, frame: Frame) -> Iteration:
        """The elements that a loop over the value sees."""
        misuse.needs_result(self, value, node, frame)
        return operations.of(self, value).iterate(node, frame)

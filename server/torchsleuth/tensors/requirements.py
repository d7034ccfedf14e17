"""Conditions on sizes that a contract states, what they simplify, and sizes that are read off examples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Atom, Call, Dim, Monomial, Size, Symbol, is_operation

Numbers = Mapping[Symbol, int]
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_DIVISORS = (1, 2, 4, 8, 16, 32, 3, 6, 64)
FEWEST_EXAMPLES = 4
"""Examples that a size is read off at least."""


@dataclass(frozen=True)
class Condition:
    """A comparison of two sizes: ``H % 4 == 0``, ``T <= block_size``."""

    operator: str
    left: Size
    right: Size

    def holds(self, numbers: Numbers) -> bool | None:
        """Whether it is true of these numbers; None where they do not decide it."""
        left, right = number(self.left, numbers), number(self.right, numbers)
        if left is None or right is None:
            return None
        return compare(self.operator, left, right)

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return tuple(dict.fromkeys((*dims.symbols(self.left), *dims.symbols(self.right))))

    @property
    def text(self) -> str:
        factored = _factored(dims.subtract(self.left, self.right)) if self.operator == "==" else None
        return factored or f"{size_text(self.left)} {self.operator} {size_text(self.right)}"

    def renamed(self, names: Mapping[Symbol, Size]) -> Condition:
        return Condition(self.operator, dims.substitute(self.left, names), dims.substitute(self.right, names))


def _factored(difference: Size) -> str | None:
    """``(a - q)*(b - p) == p*q - c`` for ``a*b - p*a - q*b + c``; None for anything else."""
    terms = dict(difference.terms) if isinstance(difference, Dim) else {}
    products = [monomial for monomial in terms if len(monomial) == 2 and all(power == 1 for _, power in monomial)]
    if len(products) != 1 or abs(terms[products[0]]) != 1:
        return None
    sign = terms.pop(products[0])
    (one, _), (other, _) = products[0]
    shift_of_other, shift_of_one = (sign * terms.pop(((atom, 1),), 0) for atom in (one, other))
    constant = sign * terms.pop((), 0)
    if terms or not (shift_of_one and shift_of_other):
        return None
    sides = (dims.add(dims.of(one), shift_of_one), dims.add(dims.of(other), shift_of_other))
    return f"{'*'.join(size_text(side, '*') for side in sides)} == {shift_of_one * shift_of_other - constant}"


def compare(operator: str, left: int, right: int) -> bool:
    if operator in ("==", "!="):
        return (left == right) is (operator == "==")
    if operator in ("<", ">"):
        return left < right if operator == "<" else left > right
    return left <= right if operator == "<=" else left >= right


def number(size: Size, numbers: Numbers) -> int | None:
    """The number that a size is; None where something in it is not known, or divided by zero."""
    if isinstance(size, int):
        return size
    try:
        value = dims.substitute(size, dict(numbers))
    except ZeroDivisionError:
        return None
    return value if isinstance(value, int) else None


def size_text(size: Size, inside: str = "") -> str:
    """The size as a contract says it: what is added in front of what is taken away, and no brackets but those that are needed.
    `inside`: the operator that it is an operand of."""
    if isinstance(size, int):
        return str(size)
    pieces = [(coefficient, _term_text(monomial, abs(coefficient))) for monomial, coefficient in size.terms]
    pieces.sort(key=lambda piece: piece[0] < 0)
    text = "".join(
        (f" {'-' if coefficient < 0 else '+'} " if place else "-" if coefficient < 0 else "") + piece
        for place, (coefficient, piece) in enumerate(pieces)
    )
    lone = len(pieces) == 1 and pieces[0][0] == 1 and len(size.terms[0][0]) == 1
    symbol = lone and isinstance(size.terms[0][0][0][0], Symbol)
    extremum = lone and is_operation(size.terms[0][0][0][0], "max", "min")
    return f"({text})" if inside and not symbol and not extremum else text


def _term_text(monomial: Monomial, coefficient: int) -> str:
    factors = [] if coefficient == 1 and monomial else [str(coefficient)]
    alone = not factors and len(monomial) == 1 and monomial[0][1] == 1
    for atom, power in monomial:
        text = _atom_text(atom, alone)
        factors.append(text if power == 1 else f"{text}**{power}")
    return "*".join(factors)


def _atom_text(atom: Atom, alone: bool) -> str:
    if isinstance(atom, Symbol):
        return atom.name
    if atom.operator in ("max", "min"):
        return f"{atom.operator}({', '.join(size_text(argument) for argument in atom.arguments)})"
    operator = "//" if atom.operator == "//" else " % "
    text = operator.join(size_text(argument, atom.operator) for argument in atom.arguments)
    return text if alone else f"({text})"


def together(conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions without what the others among them already say, and what several say of one size as one."""
    found = [part for condition in conditions for part in _apart(condition)]
    for _ in range(2):
        simple: list[Condition] = []
        for condition in found:
            others = [other for other in found if other is not condition]
            left, right = (_within(size, others) for size in (condition.left, condition.right))
            again = required(condition.operator, left, right)
            if again is not None and again not in simple:
                simple.append(again)
        found = simple
    alone: dict[Symbol, list[Condition]] = {}
    for condition in found:
        if len(condition.symbols) == 1:
            alone.setdefault(condition.symbols[0], []).append(condition)
    for symbol, same in alone.items():
        one = _as_one(symbol, same)
        if one is not None:
            first = found.index(same[0])
            found = [*found[:first], *one, *(other for other in found[first:] if other not in same)]
    return [condition for condition in found if not _follows(condition, found)]


def _follows(condition: Condition, others: Iterable[Condition]) -> bool:
    """Whether a condition on several sizes is true of all the few numbers that others leave to each of them."""
    choices = _few(condition.symbols, others) if len(condition.symbols) > 1 else []
    return bool(choices) and all(condition.holds(choice) for choice in choices)


def _few(symbols: Sequence[Symbol], conditions: Iterable[Condition]) -> list[Numbers]:
    """The numbers that conditions on one size leave to some, where those are few; none otherwise."""
    alone: dict[Symbol, list[Condition]] = {symbol: [] for symbol in symbols}
    for condition in conditions:
        if len(condition.symbols) == 1 and condition.symbols[0] in alone:
            alone[condition.symbols[0]].append(condition)
    if not alone or not all(any(one.operator in ("<=", "<", "==") for one in same) for same in alone.values()):
        return []
    left = [
        [value for value in range(1, _TRIED) if all(one.holds({symbol: value}) for one in same)]
        for symbol, same in alone.items()
    ]
    if any(len(values) > _FEW for values in left):
        return []
    return [dict(zip(alone, choice)) for choice in itertools.product(*left)]


def _within(size: Size, conditions: Iterable[Condition]) -> Size:
    """The size with the conditions put in."""
    conditions = list(conditions)
    smaller = {(one.left, one.right) for one in conditions if one.operator in ("<=", "<")}
    smaller |= {(one.right, one.left) for one in conditions if one.operator in (">=", ">")}
    if isinstance(size, Dim):
        result: Size = 0
        for monomial, coefficient in size.terms:
            term: Size = coefficient
            for atom, power in monomial:
                value: Size = dims.of(atom)
                if is_operation(atom, "min", "max"):
                    for low, high in (atom.arguments, atom.arguments[::-1]):
                        gaps = [dims.subtract(more, less) for less, more in smaller]
                        gap = dims.subtract(high, low)
                        if any(
                            (dims.least(dims.subtract(gap, known)) or 0) >= 0 and _certain(gap, known) for known in gaps
                        ):
                            value = low if atom.operator == "min" else high
                term = dims.multiply(term, dims.power(value, power))
            result = dims.add(result, term)
        size = result
    remainders = [one.left for one in conditions if one.operator == "==" and one.right == 0]
    return _divided(size, remainders, everywhere=False)


def _certain(gap: Size, known: Size) -> bool:
    """Whether one difference is at least another one, which is not negative."""
    return dims.least(dims.subtract(gap, known)) is not None


_TRIED = 600
"""Numbers up to which conditions on one size are compared."""
_FEW = 32
"""Numbers of one size that are tried with those of others."""


def _as_one(symbol: Symbol, conditions: list[Condition]) -> list[Condition] | None:
    """Conditions on one size as a divisor and a least number, or as the numbers between two; None where they are not of that kind."""
    holding = [value for value in range(1, _TRIED) if all(one.holds({symbol: value}) for one in conditions)]
    if holding and holding[-1] < _TRIED - 1 and holding == list(range(holding[0], holding[-1] + 1)):
        first, last = (Condition(sign, dims.of(symbol), at) for sign, at in ((">=", holding[0]), ("<=", holding[-1])))
        return [first, last] if len(holding) > 1 else [Condition("==", dims.of(symbol), holding[0])]
    if len(holding) < 4 or all(one.operator != "==" for one in conditions):
        return None
    step, low, size = holding[1] - holding[0], holding[0], dims.of(symbol)
    if low % step or holding != list(range(low, _TRIED, step)) or step == 1:
        return None
    multiple = Condition("==", dims.modulo(size, step), 0)
    return [multiple] if low == step else [multiple, Condition(">=", size, low)]


def required(operator: str, left: Size, right: Size) -> Condition | None:
    """The condition in its usual form; None where it is always true."""
    difference = _without_factors(dims.subtract(left, right))
    if isinstance(difference, int):
        return None if compare(operator, difference, 0) else Condition(operator, left, right)
    if operator != "==":
        return Condition(operator, left, right)
    left, right = _without_zero(left, right), _without_zero(right, left)
    difference = _without_factors(dims.subtract(left, right))
    for smaller, greater in ((left, right), (right, left)):
        atom = _only_atom(smaller)
        if is_operation(atom, "min") and greater in atom.arguments:
            other = atom.arguments[0] if atom.arguments[1] == greater else atom.arguments[1]
            return Condition("<=", greater, other)
    whole = _without_factors(_divided(difference))
    atom = _only_atom(whole) or _only_atom(dims.negate(whole))
    if is_operation(atom, "%"):
        return Condition("==", _remainder(*atom.arguments), 0)
    positive, negative = _sides(difference)
    for one, other in ((positive, negative), (negative, positive)):
        if _is_multiple_below(one, other):
            return Condition("==", dims.modulo(other, one.terms[0][1]), 0)  # type: ignore[union-attr]
    return Condition("==", positive, negative)


def _is_multiple_below(size: Size, other: Size) -> bool:
    """Whether a size is the greatest multiple up to another one: ``2 * (H // 4)`` for ``H // 2``."""
    atom = _only_atom(other)
    if isinstance(size, int) or len(size.terms) != 1 or not is_operation(atom, "//"):
        return False
    monomial, factor = size.terms[0]
    part = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
    whole, divisor = atom.arguments
    quotient = (whole, dims.multiply(divisor, factor))
    return factor > 1 and is_operation(part, "//") and part.arguments == quotient


def _without_zero(size: Size, other: Size) -> Size:
    """``max(size, 0)`` is the size itself where it equals something positive."""
    atom = _only_atom(size)
    if is_operation(atom, "max") and 0 in atom.arguments and (dims.least(other) or 0) > 0:
        return atom.arguments[0] if atom.arguments[1] == 0 else atom.arguments[1]
    return size


def _remainder(dividend: Size, divisor: Size) -> Size:
    """The remainder of two sizes without the positive factors that they share, which is zero where theirs is."""
    if isinstance(dividend, Dim) and isinstance(divisor, Dim) and len(dividend.terms) == len(divisor.terms) == 1:
        shared = [atom for atom, _ in dividend.terms[0][0] if atom in dict(divisor.terms[0][0])]
        for atom in shared:
            dividend, divisor = dims.floor_divide(dividend, dims.of(atom)), dims.floor_divide(divisor, dims.of(atom))
    return dims.modulo(dividend, divisor)


def _apart(condition: Condition) -> list[Condition]:
    """``(H // w) * w * (W // w) * w == H * W`` says that each of the remainders is zero: no factor is greater than its own."""
    difference = dims.subtract(condition.left, condition.right)
    if condition.operator != "==" or isinstance(difference, int) or len(difference.terms) != 2:
        return [condition]
    floors = [atom for monomial, _ in difference.terms for atom, _ in monomial if is_operation(atom, "//")]
    remainders = list(dict.fromkeys(dims.modulo(*atom.arguments) for atom in floors))
    whole: Size = difference
    for _ in floors:
        whole = _divided(whole, remainders, everywhere=False)
    if whole != 0 or len(remainders) < 2:
        return [condition]
    return [Condition("==", remainder, 0) for remainder in remainders]


def _only_atom(size: Size) -> Atom | None:
    if isinstance(size, int) or len(size.terms) != 1:
        return None
    monomial, coefficient = size.terms[0]
    return monomial[0][0] if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1 else None


def _without_factors(size: Size) -> Size:
    """The size without the positive factors that all its terms share."""
    if isinstance(size, int):
        return size
    common = math.gcd(*(coefficient for _, coefficient in size.terms))
    shared = dict(size.terms[0][0])
    for monomial, _ in size.terms[1:]:
        powers = dict(monomial)
        shared = {atom: min(power, powers[atom]) for atom, power in shared.items() if atom in powers}
    shared = {atom: power for atom, power in shared.items() if isinstance(atom, Symbol) or atom.operator != "%"}
    result: Size = 0
    for monomial, coefficient in size.terms:
        left = tuple((atom, power - shared.get(atom, 0)) for atom, power in monomial)
        term: Size = coefficient // common
        for atom, power in left:
            term = dims.multiply(term, dims.power(dims.of(atom), power))
        result = dims.add(result, term)
    return result


def _divided(size: Size, known: Iterable[Size] = (), everywhere: bool = True) -> Size:
    """The size with ``b * (a // b)`` as ``a - a % b``. `known`: remainders that are zero; unless `everywhere`, only those are
    taken out."""
    if isinstance(size, int):
        return size
    zero = set(known)
    result: Size = 0
    for monomial, coefficient in size.terms:
        term: Size = coefficient
        for atom, power in monomial:
            term = dims.multiply(term, dims.power(dims.of(atom), power))
        for atom, power in monomial:
            if not is_operation(atom, "//") or power != 1:
                continue
            dividend, divisor = atom.arguments
            rest = _rest(monomial, atom, coefficient)
            remainder = dims.modulo(dividend, divisor)
            if not everywhere and remainder not in zero:
                continue
            share = dims.floor_divide(rest, divisor)
            if dims.multiply(share, divisor) != rest:
                continue
            left = 0 if remainder in zero else remainder
            term = dims.multiply(share, dims.subtract(dividend, left))
            break
        result = dims.add(result, term)
    return result


def _rest(monomial: Monomial, atom: Atom, coefficient: int) -> Size:
    rest: Size = coefficient
    for other, power in monomial:
        if other != atom:
            rest = dims.multiply(rest, dims.power(dims.of(other), power))
    return rest


def _sides(difference: Size) -> tuple[Size, Size]:
    """``left == right`` of a difference that is zero, without signs."""
    if isinstance(difference, int):
        return difference, 0
    left: Size = 0
    right: Size = 0
    for monomial, coefficient in difference.terms:
        term = _rest(monomial, Symbol("", -1), abs(coefficient))
        if coefficient > 0 and monomial:
            left = dims.add(left, term)
        elif coefficient < 0 and monomial:
            right = dims.add(right, term)
        else:
            left, right = (dims.add(left, coefficient), right) if coefficient > 0 else (left, dims.add(right, term))
    return (left, right) if not isinstance(left, int) else (right, left)


def simplified(size: Size, conditions: Sequence[Condition]) -> Size:
    """The size as it is where the conditions hold: ``4 * (H // 4)`` is ``H`` where 4 divides it."""
    remainders = [
        condition.left
        for condition in conditions
        if condition.operator == "==" and condition.right == 0 and isinstance(condition.left, Dim)
    ]
    for remainder in remainders:
        atom = _only_atom(remainder)
        if not is_operation(atom, "%"):
            continue
        dividend, divisor = atom.arguments
        symbol = dims.symbol(dividend)
        if symbol is not None and isinstance(divisor, int) and symbol in dims.symbols(size):
            size = _of_multiples(size, symbol, divisor)
    for condition in conditions:
        found = dims.solve(dims.subtract(condition.left, condition.right)) if condition.operator == "==" else None
        if found is not None:
            size = dims.substitute(size, {found[0]: found[1]})
    size = _folded(_divided(_within(size, conditions), remainders, everywhere=False))
    values = {number(size, choice) for choice in _few(dims.symbols(size), conditions)}
    only = values.pop() if len(values) == 1 else None
    return size if only is None else only


def _of_multiples(size: Size, symbol: Symbol, divisor: int) -> Size:
    """The size of a multiple of the divisor."""
    part = Symbol(symbol.name, -symbol.identity - 1, symbol.positive)
    inside = dims.substitute(size, {symbol: dims.multiply(divisor, dims.of(part))})
    if isinstance(inside, int):
        return inside
    result: Size = 0
    for monomial, coefficient in inside.terms:
        powers = dict(monomial)
        if any(isinstance(atom, Call) and part in dims.symbols(dims.of(atom)) for atom in powers):
            return size
        power = powers.get(part, 0)
        term = _rest(monomial, part, coefficient)
        if power:
            shared = math.gcd(coefficient, divisor**power)
            share = divisor**power // shared
            if share != 1 and power > 1:
                return size
            whole = dims.power(dims.of(symbol), power)
            term = dims.multiply(_rest(monomial, part, coefficient // shared), dims.floor_divide(whole, share))
        result = dims.add(result, term)
    return result


def _folded(size: Size) -> Size:
    """``(H - 1)//2 + 1`` is ``(H + 1)//2``."""
    if isinstance(size, int) or len(size.terms) != 2:
        return size
    (first, factor), (second, constant) = size.terms
    atom = first[0][0] if len(first) == 1 and first[0][1] == 1 else None
    if second or factor != 1 or not is_operation(atom, "//"):
        return size
    dividend, divisor = atom.arguments
    if not isinstance(divisor, int):
        return size
    return dims.floor_divide(dims.add(dividend, constant * divisor), divisor)


def read_off(examples: Sequence[tuple[Numbers, int]], symbols: Sequence[Symbol]) -> Size | None:
    """The simplest size that all the examples have; None where there is none, or where there are too few of them."""
    if len(examples) < FEWEST_EXAMPLES:
        return None
    for size in _candidates(examples, symbols):
        if all(number(size, numbers) == value for numbers, value in examples):
            return size
    return None


def _candidates(examples: Sequence[tuple[Numbers, int]], symbols: Sequence[Symbol]) -> Iterator[Size]:
    yield examples[0][1]
    sizes: list[Size] = [dims.of(symbol) for symbol in symbols]
    yield from sizes
    one, first = examples[0]
    for size, symbol in zip(sizes, symbols):
        two, second = next((other for other in examples if other[0][symbol] != one[symbol]), examples[0])
        run = two[symbol] - one[symbol]
        if run and (second - first) % run == 0:
            slope = (second - first) // run
            yield dims.add(dims.multiply(slope, size), first - slope * one[symbol])
        for divisor in _DIVISORS[1:]:
            for offset in (0, divisor - 1, -1, 1):
                share = dims.floor_divide(dims.add(size, offset), divisor)
                value = number(share, one)
                if value:
                    yield share
                    yield dims.add(share, first - value)
                    if first % value == 0:
                        yield dims.multiply(first // value, share)
    for index, size in enumerate(sizes):
        for other in sizes[index:]:
            for divisor in _DIVISORS:
                share, rest = dims.floor_divide(size, divisor), dims.floor_divide(other, divisor)
                product = dims.multiply(share, rest)
                value = number(product, one)
                if value and first % value == 0:
                    yield dims.multiply(first // value, product)
                if value:
                    yield dims.add(product, first - value)
            product = dims.multiply(size, other)
            value = number(product, one)
            for third in sizes:
                if value:
                    yield dims.multiply(product, third)


__all__ = ["Condition", "Numbers", "compare", "number", "read_off", "required", "simplified", "size_text", "together"]

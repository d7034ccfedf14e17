"""Dimension algebra: integer polynomials over named sizes, with floor division, remainder, max and min.

A `Size` is a plain int or a `Dim`. Operations normalise, so equal polynomials are equal values:
``8*H*W`` built in two ways compares equal, and a constant polynomial is always a plain int.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd
from typing import Any, TypeGuard


class Value:
    """An immutable value that remembers what it once computed of itself, such as its hash, and does not hand that on to
    other processes: the hashes of strings differ there."""

    def __getstate__(self) -> dict[str, Any]:
        names = self.__dataclass_fields__  # type: ignore[attr-defined]
        return {name: value for name, value in self.__dict__.items() if name in names}


@dataclass(frozen=True)
class Symbol(Value):
    """An unknown integer. `name` is the user's own word for it (``B``); `identity` tells two ``B`` apart.
    `positive`: it is the size of a dimension, hence at least 1."""

    name: str
    identity: int
    positive: bool = True

    @cached_property
    def key(self) -> str:
        return f"{self.identity:09d}.{self.name}"

    def __hash__(self) -> int:
        return self.identity


@dataclass(frozen=True)
class Call(Value):
    """``//``, ``%``, ``max`` or ``min`` of sizes that does not simplify."""

    operator: str
    arguments: tuple[Size, ...]

    @cached_property
    def key(self) -> str:
        return f"{self.operator}({','.join(_key(argument) for argument in self.arguments)})"


Atom = Symbol | Call


def is_operation(atom: object, *operators: str) -> TypeGuard[Call]:
    """Whether this is one of these operations on sizes."""
    return isinstance(atom, Call) and atom.operator in operators


Monomial = tuple[tuple[Atom, int], ...]


@dataclass(frozen=True)
class Dim(Value):
    """A non-constant polynomial: monomials (sorted products of atoms) with non-zero integer coefficients."""

    terms: tuple[tuple[Monomial, int], ...]

    @cached_property
    def key(self) -> str:
        return "+".join(
            f"{coefficient}*{'*'.join(f'{atom.key}^{power}' for atom, power in monomial)}"
            for monomial, coefficient in self.terms
        )

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every symbol of the polynomial, once, in order of its text."""
        return tuple(dict.fromkeys(_symbols(self)))

    def __hash__(self) -> int:
        """Computed once: sizes are in the keys of every table."""
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = self.__dict__["_hash"] = hash(self.terms)
        return known

    def __str__(self) -> str:
        return text(self)


Size = int | Dim


def is_index(place: object, parts: Sized) -> TypeGuard[int]:
    """Whether this is the number of one of these parts, such as an axis of a shape, counted from either end."""
    return isinstance(place, int) and -len(parts) <= place < len(parts)


def is_number(size: object) -> TypeGuard[int]:
    """Whether a size is known as a number; a truth is none."""
    return isinstance(size, int) and not isinstance(size, bool)


def _key(size: Size) -> str:
    return str(size) if isinstance(size, int) else size.key


@lru_cache(maxsize=4096)
def _monomial_key(monomial: Monomial) -> tuple[int, str]:
    degree = sum(power for _, power in monomial)
    return (-degree, "*".join(f"{atom.key}^{power}" for atom, power in monomial))


def _make(terms: Mapping[Monomial, int]) -> Size:
    kept = {monomial: coefficient for monomial, coefficient in terms.items() if coefficient}
    if not kept:
        return 0
    if len(kept) == 1 and () in kept:
        return kept[()]
    if len(kept) == 1:
        return Dim(tuple(kept.items()))
    return Dim(tuple(sorted(kept.items(), key=lambda term: _monomial_key(term[0]))))


def _terms(size: Size) -> dict[Monomial, int]:
    if isinstance(size, int):
        return {(): size} if size else {}
    return dict(size.terms)


def _atom(size: Size) -> Atom | None:
    """The symbol or call that the size is, None for numbers and sums."""
    if isinstance(size, Dim) and len(size.terms) == 1:
        monomial, coefficient = size.terms[0]
        if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            return monomial[0][0]
    return None


def symbol(size: Size) -> Symbol | None:
    """The symbol that the size is, None for numbers and compound sizes."""
    atom = _atom(size)
    return atom if isinstance(atom, Symbol) else None


@lru_cache(maxsize=4096)
def of(atom: Atom) -> Dim:
    """The polynomial that is just this atom."""
    return Dim(((((atom, 1),), 1),))


def add(left: Size, right: Size) -> Size:
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    if left == 0 or right == 0:
        return left or right
    terms = _terms(left)
    for monomial, coefficient in _terms(right).items():
        terms[monomial] = terms.get(monomial, 0) + coefficient
    return _make(terms)


def negate(size: Size) -> Size:
    return _make({monomial: -coefficient for monomial, coefficient in _terms(size).items()})


def subtract(left: Size, right: Size) -> Size:
    return add(left, negate(right))


def _times(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].key))


def shape_text(shape: Iterable[Size]) -> str:
    """``(64, 3, H, W)``"""
    sizes = [text(size) for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def multiply(left: Size, right: Size) -> Size:
    if isinstance(left, int):
        left, right = right, left
    if isinstance(right, int):
        if isinstance(left, int):
            return left * right
        return left if right == 1 else _make({monomial: factor * right for monomial, factor in left.terms})
    terms: dict[Monomial, int] = {}
    for left_monomial, left_coefficient in _terms(left).items():
        for right_monomial, right_coefficient in _terms(right).items():
            product = _times(left_monomial, right_monomial)
            terms[product] = terms.get(product, 0) + left_coefficient * right_coefficient
    return _make(terms)


def product(sizes: tuple[Size, ...] | list[Size]) -> Size:
    result: Size = 1
    for size in sizes:
        result = multiply(result, size)
    return result


def power(base: Size, exponent: int) -> Size:
    result: Size = 1
    for _ in range(exponent):
        result = multiply(result, base)
    return result


def _divide_term(monomial: Monomial, coefficient: int, by: Dim | int) -> tuple[Monomial, int] | None:
    """The exact quotient of one term by a single-term divisor, or None."""
    (divisor_monomial, divisor_coefficient) = ((), by) if isinstance(by, int) else by.terms[0]
    if coefficient % divisor_coefficient:
        return None
    powers = dict(monomial)
    for atom, exponent in divisor_monomial:
        if powers.get(atom, 0) < exponent:
            return None
        powers[atom] -= exponent
        if not powers[atom]:
            del powers[atom]
    rest = tuple(sorted(powers.items(), key=lambda item: item[0].key))
    return rest, coefficient // divisor_coefficient


def _split(left: Size, right: Size) -> tuple[Size, Size]:
    """`left` as ``quotient * right + remainder`` where the quotient takes every term that divides exactly."""
    if left == right:
        return 1, 0
    if isinstance(right, Dim) and len(right.terms) != 1:
        return 0, left
    quotient: dict[Monomial, int] = {}
    remainder: dict[Monomial, int] = {}
    for monomial, coefficient in _terms(left).items():
        divided = _divide_term(monomial, coefficient, right)
        if divided is None:
            remainder[monomial] = coefficient
        else:
            quotient[divided[0]] = quotient.get(divided[0], 0) + divided[1]
    return _make(quotient), _make(remainder)


def floor_divide(left: Size, right: Size) -> Size:
    """``left // right``. Raises ZeroDivisionError for a literal zero divisor."""
    if isinstance(right, int) and right == 0:
        raise ZeroDivisionError
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    quotient, remainder = _split(left, right)
    if remainder == 0:
        return quotient
    if isinstance(right, int) and isinstance(remainder, int):
        return add(quotient, remainder // right)
    if isinstance(right, int) and isinstance(remainder, Dim):
        # Nested floors with integer divisors combine: (x // a) // b == x // (a * b).
        if len(remainder.terms) == 1 and quotient == 0:
            (monomial, coefficient) = remainder.terms[0]
            if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
                atom = monomial[0][0]
                if isinstance(atom, Call) and atom.operator == "//" and isinstance(atom.arguments[1], int):
                    return floor_divide(atom.arguments[0], atom.arguments[1] * right)
    return add(quotient, of(Call("//", (remainder, right))))


def without_common_factor(equation: Size) -> Size:
    """An equation that is zero wherever the size is, none of its names being zero: ``a*b - a*c`` without ``a``."""
    if isinstance(equation, int) or len(equation.terms) < 2:
        return equation
    shared: dict[Atom, int] = dict(equation.terms[0][0])
    for monomial, _ in equation.terms[1:]:
        powers = dict(monomial)
        shared = {atom: min(power, powers[atom]) for atom, power in shared.items() if atom in powers}
    factor = gcd(*(coefficient for _, coefficient in equation.terms))
    common = tuple((atom, power) for atom, power in shared.items() if isinstance(atom, Symbol))
    return floor_divide(equation, Dim(((common, factor),)) if common else factor)


def modulo(left: Size, right: Size) -> Size:
    """``left % right``. Raises ZeroDivisionError for a literal zero divisor."""
    if isinstance(right, int) and right == 0:
        raise ZeroDivisionError
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    _, remainder = _split(left, right)
    if isinstance(remainder, int) and isinstance(right, int):
        return remainder % right
    return 0 if remainder == 0 else of(Call("%", (remainder, right)))


def extremum(operator: str, left: Size, right: Size) -> Size:
    """``max`` or ``min`` of two sizes."""
    kept: list[Size] = []
    for size in sorted((*_operands(operator, _merged(left)), *_operands(operator, _merged(right))), key=_key):
        better = operator == "max"
        signs = [_order(size, other) for other in kept]
        if any(sign is not None and (sign < 0 if better else sign > 0) or sign == 0 for sign in signs):
            continue
        kept = [other for other, sign in zip(kept, signs) if sign is None] + [size]
    result = kept[0]
    for size in kept[1:]:
        result = of(Call(operator, (result, size)))
    return result


def _order(left: Size, right: Size) -> int | None:
    """1 or -1 if the first size is provably not less, or not greater, than the second, 0 if they are equal, None if not known."""
    difference = subtract(left, right)
    sign = positive(difference)
    if sign is None and isinstance(difference, Dim) and len(difference.terms) == 2:
        # What is on one side alone may be on the other: `0` and `n - n // k` are as `n // k` and `n`.
        (one, first), (other, second) = difference.terms
        if (first, second) in ((1, -1), (-1, 1)):
            more, less = (Dim(((one, 1),)), Dim(((other, 1),)))[::first]
            return -1 if _is_share(more, less) else 1 if _is_share(less, more) else None
    return sign


def _is_share(size: Size, whole: Size) -> bool:
    """Whether a size is ``n // k`` of one that is not negative, or ``n // (2 * k)`` of its ``n // k``."""
    atom, other = _atom(size), _atom(whole)
    if not is_operation(atom, "//"):
        return False
    if is_operation(other, "//") and atom.arguments[0] == other.arguments[0]:
        more = least(subtract(atom.arguments[1], other.arguments[1]))
        return more is not None and more >= 0 and (least(atom.arguments[0]) or 0) > 0
    return atom.arguments[0] == whole and (least(whole) or 0) > 0


def _operands(operator: str, size: Size) -> Iterator[Size]:
    """The operands that ``max(max(a, b), c)`` is the greatest of."""
    atom = _atom(size)
    if isinstance(atom, Call) and atom.operator == operator:
        for argument in atom.arguments:
            yield from _operands(operator, argument)
    else:
        yield size


def _merged(size: Size) -> Size:
    """``n - max(0, n - k)`` is ``min(n, k)``: one extremum in a sum takes the rest in, where that leaves simpler ones."""
    if isinstance(size, int) or len(size.terms) < 2:
        return size
    for monomial, coefficient in size.terms:
        atom = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
        if isinstance(atom, Call) and atom.operator in ("max", "min") and coefficient in (1, -1):
            rest = subtract(size, multiply(coefficient, of(atom)))
            inside = [add(rest, multiply(coefficient, argument)) for argument in atom.arguments]
            if all(isinstance(one, int) or len(one.terms) == 1 for one in inside):
                swapped = "min" if atom.operator == "max" else "max"
                return extremum(swapped if coefficient < 0 else atom.operator, *inside)
    return size


def positive(size: Size) -> int | None:
    """1 or -1 if the size is provably positive or negative, 0 if it is zero, None when not known."""
    if isinstance(size, int):
        return (size > 0) - (size < 0)
    low = least(size)
    if low is not None and low > 0:
        return 1
    high = least(negate(size))
    if high is not None and high > 0:
        return -1
    return _sign_of_floors(size)


@lru_cache(maxsize=16384)
def _sign_of_floors(size: Dim) -> int | None:
    """The sign of a sum of quotients: each is its exact value less the remainder, which has bounds."""
    if not any(is_operation(atom, "//", "%") for monomial, _ in size.terms for atom, _power in monomial):
        return None
    low: Fraction | None
    high: Fraction | None
    sums, low, high = _exact(size)
    for monomial, factor in sums.items():
        bound = least(Dim(((monomial, 1),))) if monomial else 1
        if bound is None or bound < 0:
            return None
        low = None if low is None or factor < 0 and monomial else low + factor * bound
        high = None if high is None or factor > 0 and monomial else high + factor * bound
    return 1 if low is not None and low > 0 else -1 if high is not None and high < 0 else None


def _exact(size: Size) -> tuple[dict[Monomial, Fraction], Fraction, Fraction]:
    """A sum of monomials without quotients and remainders, and the range of what has to be added to it."""
    sums: dict[Monomial, Fraction] = {}
    low = high = Fraction(0)
    for monomial, coefficient in (((), size),) if isinstance(size, int) else size.terms:
        atom = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
        divisor = atom.arguments[1] if isinstance(atom, Call) and atom.operator in ("//", "%") else None
        if not isinstance(atom, Call) or not isinstance(divisor, int) or divisor <= 0:
            sums[monomial] = sums.get(monomial, Fraction(0)) + coefficient
            continue
        factor, ends = Fraction(coefficient), (Fraction(0), Fraction(divisor - 1))
        if atom.operator == "//":
            inner, first, last = _exact(atom.arguments[0])
            factor = factor / divisor
            for part, count in inner.items():
                sums[part] = sums.get(part, Fraction(0)) + factor * count
            ends = (first - divisor + 1, last)
        bounds = sorted((factor * ends[0], factor * ends[1]))
        low, high = low + bounds[0], high + bounds[1]
    return {monomial: factor for monomial, factor in sums.items() if factor}, low, high


def least(size: Size) -> int | None:
    """A number that the size is at least, None where there is none."""
    if isinstance(size, int):
        return size
    total = 0
    for monomial, coefficient in size.terms:
        bound = coefficient
        for atom, exponent in monomial:
            low = _least_atom(atom)
            if low is None or low < 0 or coefficient < 0:
                return None
            bound *= low**exponent
        total += bound
    return total


def _least_atom(atom: Atom) -> int | None:
    if isinstance(atom, Symbol):
        return 1 if atom.positive else None
    lows = [least(argument) for argument in atom.arguments]
    if atom.operator == "max":
        return max((low for low in lows if low is not None), default=None)
    if None in lows:
        return None
    known = [low for low in lows if low is not None]
    if atom.operator == "min":
        return min(known)
    if known[0] < 0 or known[1] <= 0:
        return None
    divisor = atom.arguments[1]
    return known[0] // divisor if atom.operator == "//" and isinstance(divisor, int) else 0


def equal(left: Size, right: Size) -> bool | None:
    """Whether two sizes are equal: True or False where proved, None where it depends."""
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    sign = positive(subtract(left, right))
    return None if sign is None else sign == 0


def symbols(size: Size) -> tuple[Symbol, ...]:
    """Every symbol in a size, once, in order of its text."""
    return () if isinstance(size, int) else size.symbols


def _symbols(size: Size) -> Iterator[Symbol]:
    if isinstance(size, int):
        return
    for monomial, _ in size.terms:
        for atom, _power in monomial:
            if isinstance(atom, Symbol):
                yield atom
            else:
                for argument in atom.arguments:
                    yield from _symbols(argument)


def rebuild(size: Size, replace: Callable[[Symbol], Size]) -> Size:
    """The size with every symbol replaced, normalised again."""
    if isinstance(size, int):
        return size
    alone = symbol(size)
    if alone is not None:
        return replace(alone)
    before = size.symbols
    return _rebuilt(size, tuple(map(replace, before)))


@lru_cache(maxsize=16384)
def _rebuilt(size: Dim, values: tuple[Size, ...]) -> Size:
    """The size with its symbols replaced by the values, in order."""
    replacement = dict(zip(size.symbols, values))
    return _evaluate(size, replacement)


def _evaluate(size: Size, values: Mapping[Symbol, Size]) -> Size:
    if isinstance(size, int):
        return size
    result: Size = 0
    for monomial, coefficient in size.terms:
        term: Size = coefficient
        for atom, exponent in monomial:
            if isinstance(atom, Symbol):
                value = values[atom]
            else:
                value = apply(atom.operator, [_evaluate(argument, values) for argument in atom.arguments])
            term = multiply(term, power(value, exponent))
        result = add(result, term)
    return result


def apply(operator: str, arguments: list[Size]) -> Size:
    left, right = arguments
    if operator == "//":
        return floor_divide(left, right)
    if operator == "%":
        return modulo(left, right)
    return extremum(operator, left, right)


def substitute(size: Size, values: Mapping[Symbol, Size]) -> Size:
    return rebuild(size, lambda symbol: values.get(symbol, of(symbol)))


def solve(equation: Size, last: Mapping[Symbol, bool] | None = None) -> tuple[Symbol, Size] | None:
    """From ``equation == 0``, a symbol that occurs once, linearly and with coefficient ±1, and its value: one without a
    name, where there is one, and one of `last` only where there is no other, those that are true there least of all."""
    solutions = list(_solutions(equation))
    if last:
        solutions.sort(key=lambda found: 0 if found[0] not in last else 1 + last[found[0]])
    return next((found for found in solutions if found[0].name == "?"), solutions[0] if solutions else None)


def _solutions(equation: Size) -> Iterator[tuple[Symbol, Size]]:
    if isinstance(equation, int):
        return
    for monomial, coefficient in equation.terms:
        if len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], Symbol):
            symbol, factor = monomial[0][0], coefficient
            rest = subtract(equation, multiply(factor, of(symbol)))
            if any(other == symbol for other in symbols(rest)):
                continue
            negated = negate(rest)
            if factor in (1, -1):
                yield symbol, multiply(factor, negated)
            elif isinstance(negated, int) and negated % factor == 0:
                yield symbol, negated // factor


@lru_cache(maxsize=4096)
def _dim_text(size: Dim) -> str:
    pieces: list[str] = []
    for monomial, coefficient in size.terms:
        factors = [_atom_text(atom) if power == 1 else f"{_atom_text(atom)}**{power}" for atom, power in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        sign = "-" if coefficient < 0 else "+"
        pieces.append(f" {sign} {'*'.join(factors)}" if pieces else ("-" if sign == "-" else "") + "*".join(factors))
    return "".join(pieces)


def _atom_text(atom: Atom) -> str:
    if isinstance(atom, Symbol):
        return atom.name
    if atom.operator in ("max", "min"):
        parts = list(dict.fromkeys(map(text, _operands(atom.operator, of(atom)))))
        return parts[0] if len(parts) == 1 else f"{atom.operator}({', '.join(parts)})"
    parts = [text(argument) for argument in atom.arguments]
    return "(" + f" {atom.operator} ".join(f"({part})" if " " in part else part for part in parts) + ")"


def text(size: Size) -> str:
    """The size as a user reads it: ``64``, ``B``, ``8*H*W``, ``(H - 1)//2 + 1``."""
    if isinstance(size, int):
        return str(size)
    shown = _dim_text(size)
    return shown if shown.count("?") <= MAX_UNKNOWN_TERMS else "?"


MAX_UNKNOWN_TERMS = 3
"""Unknown sizes in one, beyond which it says no more than an unknown one."""


def texts(shape: tuple[Size, ...], text: Callable[[Size], str] = text) -> tuple[int | str, ...]:
    """The sizes of a shape as a user reads them: different ones of one name are told apart. `text`: of a size."""
    named: dict[str, list[Symbol]] = {}
    for symbol in dict.fromkeys(symbol for size in shape for symbol in symbols(size)):
        named.setdefault(symbol.name, []).append(symbol)
    if all(len(same) == 1 or name == "?" for name, same in named.items()):
        return tuple(size if isinstance(size, int) else text(size) for size in shape)

    def told_apart(symbol: Symbol) -> Size:
        return of(replace(symbol, name=symbol.name + "'" * named[symbol.name].index(symbol)))

    return tuple(size if isinstance(size, int) else text(rebuild(size, told_apart)) for size in shape)

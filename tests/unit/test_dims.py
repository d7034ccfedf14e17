"""The dimension algebra against plain integers."""

from __future__ import annotations

import itertools

import pytest

from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Symbol, of

B, H = (Symbol("B", 1), Symbol("H", 2))
OPERATORS = {"+": dims.add, "-": dims.subtract, "*": dims.multiply, "//": dims.floor_divide, "%": dims.modulo}


@pytest.mark.parametrize("first, second", list(itertools.product(OPERATORS, repeat=2)))
def test_every_pair_of_operators_agrees_with_integers(first: str, second: str) -> None:
    for b, h, k in itertools.product((1, 2, 5, 12), (1, 3, 8), (1, 2, 3, 7)):
        symbolic = OPERATORS[second](OPERATORS[first](dims.multiply(of(B), of(H)), k), k + 1)
        concrete = eval(f"((b * h) {first} k) {second} (k + 1)", {"b": b, "h": h, "k": k})
        assert dims.substitute(symbolic, {B: b, H: h}) == concrete


def test_equal_polynomials_are_equal_values() -> None:
    left = dims.multiply(dims.add(of(B), 1), of(H))
    right = dims.add(dims.multiply(of(H), of(B)), of(H))
    assert left == right and dims.text(left) == "B*H + H"


def test_proofs() -> None:
    assert dims.equal(of(B), dims.add(of(B), 1)) is False
    assert dims.equal(of(B), of(H)) is None
    assert dims.solve(dims.subtract(of(B), 5)) == (B, 5)
    assert dims.floor_divide(dims.multiply(6, of(B)), 3) == dims.multiply(2, of(B))


def test_extrema_agree_with_integers() -> None:
    """Every nesting of three, with sizes, with differences and with what need not be positive."""
    n, m, z = Symbol("n", 1), Symbol("m", 2), Symbol("z", 3, positive=False)
    leaves = [of(n), dims.subtract(of(n), 3), of(m), of(z), 0, 3]
    values = [{n: a, m: b, z: c} for a in (1, 3, 5) for b in (2, 4) for c in (-2, 0, 4)]
    for first, second in itertools.product(("max", "min"), repeat=2):
        for a, b, c in itertools.product(leaves, repeat=3):
            nested = dims.extremum(second, dims.subtract(a, dims.extremum(first, b, c)), c)
            for given in values:
                x, y, w = (dims.substitute(one, given) for one in (a, b, c))
                assert dims.substitute(nested, given) == eval(f"{second}(x - {first}(y, w), w)")


def test_the_last_of_a_sequence_are_at_most_as_many() -> None:
    """The size of ``x[-32:]``, and of ``mask[:T]`` for it with a mask of 32."""
    n = of(Symbol("n", 1))
    last = dims.extremum("max", 0, dims.subtract(n, dims.extremum("max", 0, dims.subtract(n, 32))))
    assert dims.text(last) == "min(n, 32)" and dims.positive(last) == 1
    assert dims.extremum("min", last, 32) == last and dims.text(dims.extremum("min", last, 16)) == "min(n, 16)"


def test_a_part_of_a_part_is_not_more() -> None:
    """The halves of a head of attention: ``x[..., : size // 2]`` and ``x[..., size // 2 :]`` for ``size = n // k``."""
    n, k = of(Symbol("n", 1)), of(Symbol("k", 2))
    size, half = dims.floor_divide(n, k), dims.floor_divide(n, dims.multiply(2, k))
    assert dims.extremum("min", size, half) == half
    assert dims.extremum("max", 0, dims.subtract(size, half)) == dims.subtract(size, half)
    assert dims.extremum("max", 0, dims.subtract(half, size)) == 0

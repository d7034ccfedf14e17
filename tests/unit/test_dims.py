"""The dimension algebra against plain integers."""

from __future__ import annotations

import itertools

import pytest

from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Symbol, of

B, H = (Symbol("B", 1), Symbol("H", 2))
OPERATORS = {"+": dims.add, "-": dims.subtract, "*": dims.multiply, "//": dims.floor_divide, "%": dims.modulo}


@pytest.mark.parametrize("first, second", itertools.product(OPERATORS, repeat=2))
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

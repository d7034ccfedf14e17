"""The grammar of rewritings, held to PyTorch: each gives the shape that it says, and what agrees is what a loss takes."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from torchsleuth.synthesis import losses, shapes
from torchsleuth.synthesis.names import renaming
from torchsleuth.synthesis.shapes import Rewriting, Shape, Way

SHAPES: list[Shape] = [shape for rank in range(1, 5) for shape in product((1, 2, 3), repeat=rank)]
PAIRS = list(product([shape for shape in SHAPES if len(shape) < 4], repeat=2))
WAYS: list[Way] = [
    shapes.transposed,
    shapes.rotated,
    shapes.channels_first,
    shapes.channels_last,
    shapes.squeezed,
    shapes.unsqueezed,
    shapes.flattened,
    shapes.rows,
]


def rewritten(shape: Shape, made: Rewriting | None, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    tensor = torch.zeros(shape, dtype=dtype)  # type: ignore[arg-type]
    if made is None:
        return tensor
    result = eval(f"tensor{made.suffix}", {"tensor": tensor})
    assert isinstance(result, torch.Tensor)
    return result


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_rewriting_gives_the_shape_that_it_says(way: Way) -> None:
    for shape, made in ((one, made) for one in SHAPES for made in way(one)):
        assert tuple(rewritten(shape, made).shape) == made.shape


def test_what_is_widened_broadcasts() -> None:
    for shape, other, suffix in ((one, two, suffix) for one, two in PAIRS for suffix in shapes.widened(one, two)):
        made = rewritten(shape, Rewriting(suffix, ()))
        assert made.dim() == len(other)
        assert torch.broadcast_shapes(made.shape, other) is not None  # type: ignore[no-untyped-call]


def test_shapes_broadcast_as_pytorch_has_it() -> None:
    for left, right in PAIRS:
        try:
            expected = tuple(torch.broadcast_shapes(left, right))  # type: ignore[no-untyped-call]
        except RuntimeError:
            expected = None
        assert shapes.broadcast(left, right) == expected


def test_only_what_fits_is_found_and_once() -> None:
    for shape in SHAPES:
        found = list(shapes.fitting(shape, lambda made: made[-1:] == (2,), *WAYS))
        assert all(made.shape[-1] == 2 for made in found)
        assert len({made.suffix for made in found}) == len(found)


@pytest.mark.parametrize("classes", [True, False])
def test_a_loss_takes_what_agrees(classes: bool) -> None:
    loss = torch.nn.CrossEntropyLoss() if classes else torch.nn.BCEWithLogitsLoss()
    found = ((pair, made) for pair in PAIRS for made in losses.agreeing(*pair, classes))
    for (prediction, target), (one, other) in found:
        scores = rewritten(prediction, one)
        if classes and scores.dim() < 2:
            continue  # One sample without a batch: its class is a number.
        loss(scores, rewritten(target, other, torch.int64 if classes else torch.float32))


def test_the_most_natural_comes_first() -> None:
    def first(prediction: Shape, target: Shape, classes: bool) -> tuple[str | None, str | None]:
        one, other = next(losses.agreeing(prediction, target, classes))
        return one and one.suffix, other and other.suffix

    assert first((8, 20, 5), (8, 20), True) == (".transpose(1, 2)", None)
    assert first((8, 16, 16, 3), (8, 16, 16), True) == (".permute(0, 3, 1, 2)", None)
    assert first((8, 3), (8, 1), True) == (None, ".squeeze(1)")
    assert first((8, 1), (8,), False) == (".squeeze(1)", None)
    assert next(shapes.widened((8,), (8, 3))) == ".unsqueeze(-1)"


def test_a_renaming_is_the_whole_difference_or_none() -> None:
    old, new = ("fc.weight", "fc.bias"), ("head.weight", "head.bias")
    assert renaming(old, new) == ("fc.", "head.")
    assert renaming(("net.0.fc.weight",), ("net.0.head.out.weight",)) == ("fc.", "head.out.")
    assert renaming(old, (*new, "norm.weight")) is None
    assert renaming((*old, "ema"), new) is None
    assert renaming(old, new, others=("conv.fc.weight",)) is None
    assert renaming(("module.weight",), ("weight",)) is None
    assert renaming((), new) is None

"""Predictions and targets whose shapes have to agree, for losses of classes and for those of elements."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from torchsleuth.synthesis import shapes
from torchsleuth.synthesis.shapes import (
    Rewriting,
    Shape,
    Way,
    channels_first,
    class_indices,
    flattened,
    rows,
    same_shape,
    squeezed,
    transposed,
    unsqueezed,
)
from torchsleuth.tensors import dims


def fit(classes: bool, prediction: Shape, target: Shape) -> bool:
    """Whether a loss takes them. `classes`: its targets are class indices, one for all the scores of a sample."""
    return same_shape(class_indices(prediction) if classes else prediction, target)


def agreeing(prediction: Shape, target: Shape, classes: bool) -> Iterator[tuple[Rewriting | None, Rewriting | None]]:
    """The rewritings of a prediction, of its target, or of both, after which the loss takes them."""
    of_target: list[Way] = [squeezed, flattened]
    if classes and len(prediction) == len(target) == 2:
        of_target.append(_most_likely)
    of_target += [transposed] if classes else [unsqueezed, transposed]
    of_prediction: list[Way] = [channels_first, rows, squeezed, partial(_by_sample, classes)]
    if not classes:
        of_prediction.append(flattened)
    of_prediction += [transposed, _reduced]
    return shapes.agreeing(
        prediction, target, partial(fit, classes), of_prediction, [partial(_whole, way) for way in of_target]
    )


def _whole(way: Way, shape: Shape) -> Iterator[Rewriting]:
    """Labels in another order are what an author means who has them in that of the scores."""
    return (made._replace(whole=True) for made in way(shape))


def _most_likely(shape: Shape) -> Iterator[Rewriting]:
    """Class indices of what is one-hot."""
    yield Rewriting(".argmax(dim=1)", shape[:1])


def _by_sample(classes: bool, shape: Shape) -> Iterator[Rewriting]:
    """All elements of a sample in one row."""
    if len(shape) > 2:
        yield Rewriting(".flatten(1)", (shape[0], dims.product(shape[1:])), not classes)


def _reduced(shape: Shape) -> Iterator[Rewriting]:
    """One prediction for a sequence or an image: of its last step, or the mean."""
    if len(shape) == 3:
        yield Rewriting("[:, -1]", (shape[0], shape[2]), False)
        yield Rewriting(".mean(dim=1)", (shape[0], shape[2]), False)
    if len(shape) == 4:
        yield Rewriting(".mean(dim=(2, 3))", shape[:2], False)

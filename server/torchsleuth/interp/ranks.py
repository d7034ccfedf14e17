"""Inputs with any number of dimensions: the shapes that are the same whatever that number is, written with one ``...`` for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from torchsleuth.interp.outcomes import Outcome, Part
from torchsleuth.interp.plans import Plan
from torchsleuth.interp.trace import Place
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, Symbol

MOST = 6
"""The most dimensions that are tried."""
_REST = Symbol("...", 0)
_UNKNOWN = Symbol("?", 0)
Shape = tuple[Size, ...]


@dataclass(frozen=True)
class AnyRank:
    """The form of inputs that may have any number of dimensions, from `least` on: the first `front` and the last `back` ones
    are told apart, the others are the rest. `places`: the expressions whose shapes are the same in these words at every rank."""

    least: int
    front: int
    back: int
    places: frozenset[Place] = field(default=frozenset(), compare=False)

    @property
    def shown(self) -> int:
        """The number of dimensions that it is shown by: two of them are the rest."""
        return self.least + 2

    def rest(self, shape: Shape) -> Shape:
        """The dimensions of an input that are the rest."""
        return shape[self.front : len(shape) - self.back]

    def names(self) -> tuple[str, ...]:
        """Names for the dimensions of an input with the shown rank."""
        front = ("N", "C", "H", "W", "D", "E")[: self.front]
        back = {0: (), 1: ("C",), 2: ("H", "W")}.get(self.back, tuple(f"d{axis}" for axis in range(self.back)))
        if self.front > 1 and self.back == 1:
            back = ("L",)
        return (*front, "rest", "rest", *back)


@dataclass
class _Words:
    """The shapes of one run in words that do not depend on it. `rest`: the sizes of the rest; `names`: what the others are."""

    rest: tuple[Symbol, ...]
    names: dict[Symbol, Size]

    def template(self, shape: Shape) -> Shape:
        """A shape with the rest as one ``...``, or as a factor: the product of its sizes."""
        own = tuple(dims.of(symbol) for symbol in self.rest)
        at = (
            next((i for i in range(len(shape) - len(own) + 1) if shape[i : i + len(own)] == own), None) if own else None
        )
        if at is None:
            return tuple(map(self._size, shape))
        return (*map(self._size, shape[:at]), dims.of(_REST), *map(self._size, shape[at + len(own) :]))

    def written_out(self, template: Shape) -> Shape:
        """The value of a template in this run: the reverse."""
        found: list[Size] = []
        product = dims.product([dims.of(symbol) for symbol in self.rest])
        for size in template:
            if size == dims.of(_REST):
                found += map(dims.of, self.rest)
            else:
                found.append(dims.substitute(size, {PRODUCT: product}))
        return tuple(found)

    def plain(self, shape: Shape) -> Shape:
        """A shape of this run under the names that all runs have in common."""
        return tuple(self._named(size) for size in shape)

    def _named(self, size: Size) -> Size:
        return dims.substitute(size, self.names)

    def _size(self, size: Size) -> Size:
        return self._named(as_product(size, self.rest))


PRODUCT = Symbol("prod(...)", 0)
"""The product of the sizes of the rest, as of what is flattened."""


def as_product(size: Size, rest: Sequence[Symbol]) -> Size:
    """A size with the product of the rest as one name, where it is a multiple of that."""
    if not set(rest) & set(dims.symbols(size)):
        return size
    quotient = size
    for symbol in rest:
        quotient = dims.floor_divide(quotient, dims.of(symbol))
    if set(rest) & set(dims.symbols(quotient)) or dims.multiply(quotient, dims.product([*map(dims.of, rest)])) != size:
        return size
    return dims.multiply(quotient, dims.of(PRODUCT))


def any_rank(plan: Plan, lacking: Sequence[str], working: Mapping[int, Outcome]) -> AnyRank | None:
    """The form of the inputs in `lacking` where runs with several numbers of dimensions, one after the other, agree in it."""
    ranks = sorted(working)
    if not ranks or ranks != list(range(ranks[0], ranks[-1] + 1)):
        return None
    # With the fewest dimensions it may work only because what is lacking is broadcast.
    for least in ranks[:-2]:
        runs = {rank: outcome for rank, outcome in working.items() if rank >= least}
        for back in range(least + 1):
            form = _form(AnyRank(least, least - back, back), plan, lacking, runs)
            if form is not None:
                return form
    return None


def _form(form: AnyRank, plan: Plan, lacking: Sequence[str], runs: Mapping[int, Outcome]) -> AnyRank | None:
    """A form with the expressions that have the same shapes in its words at every rank; None where it is not that of the runs."""
    words: dict[int, _Words] = {}
    for rank, outcome in runs.items():
        one = _words(form, plan, lacking, outcome)
        if one is None:
            return None
        words[rank] = one
    most = max(runs)
    if not all(_agree(words[most], runs[most], one, runs[rank]) for rank, one in words.items()):
        return None
    return replace(form, places=frozenset(_places(words, runs, most)))


def _words(form: AnyRank, plan: Plan, lacking: Sequence[str], outcome: Outcome) -> _Words | None:
    """The words for the shapes of a run; None where the rest of its inputs is not free."""
    chosen = {setting.symbol for setting in plan.settings.values()}
    first = outcome.inputs.get(lacking[0])
    if first is None:
        return None
    middle = [dims.symbol(size) for size in form.rest(first)]
    rest = tuple(symbol for symbol in middle if symbol is not None and symbol not in chosen)
    if len({*rest}) < len(middle):
        return None
    words = _Words(rest, {})
    for name, shape in outcome.inputs.items():
        if shape is None:
            return None
        for place, size in _outside(form, shape, name in lacking):
            symbol = dims.symbol(size)
            if symbol is not None and symbol not in chosen and symbol not in words.names and symbol not in rest:
                words.names[symbol] = dims.of(Symbol(f"{name}.{place}", 0))
    if any(set(rest) & set(condition.symbols) for condition in outcome.conditions):
        return None
    known = {*chosen, *words.names, *rest}
    for part in outcome.result.tensors():
        for size in part.shape or ():
            words.names.update({one: dims.of(_UNKNOWN) for one in dims.symbols(size) if one not in known})
    return words


def _outside(form: AnyRank, shape: Shape, spread: bool) -> Iterator[tuple[int, Size]]:
    """The sizes of an input that are not of the rest, by their place from the front or from the back."""
    end = form.front if spread else len(shape)
    yield from enumerate(shape[:end])
    if spread and form.back:
        yield from enumerate(shape[-form.back :], -form.back)


def _agree(largest: _Words, most: Outcome, words: _Words, outcome: Outcome) -> bool:
    """Whether the shapes of one run are those of the one with most dimensions, in other numbers."""
    if _told(most.result) != _told(outcome.result):
        return False
    templates = [largest.template(shape) for shape in _shapes(most)]
    shapes = _shapes(outcome)
    return len(templates) == len(shapes) and all(
        _fits(words, template, shape) for template, shape in zip(templates, shapes)
    )


def _fits(words: _Words, template: Shape, shape: Shape) -> bool:
    return words.written_out(template) == words.plain(shape)


def _shapes(outcome: Outcome) -> list[Shape]:
    """The shapes of the inputs and results."""
    shapes = [*outcome.inputs.values(), *(part.shape for part in outcome.result.tensors())]
    return [shape for shape in shapes if shape is not None]


def _told(part: Part) -> object:
    """The rest of a value beside the shapes in it."""
    return part.kind, part.names, part.text, tuple(map(_told, part.parts))


def _places(words: Mapping[int, _Words], working: Mapping[int, Outcome], most: int) -> Iterator[Place]:
    """The expressions whose shapes agree in all runs."""
    for place, seen in working[most].seen.items():
        sightings = [working[rank].seen.get(place) for rank in words]
        if any(one is None or len(one.specs) != 1 for one in sightings) or len(seen.specs) != 1:
            continue
        shape = next(iter(seen.specs)).shape
        if shape is None:
            continue
        template = words[most].template(shape)
        runs = zip(words.values(), sightings)
        shapes = ((one, next(iter(sight.specs)).shape) for one, sight in runs if sight is not None)
        if all(other is not None and _fits(one, template, other) for one, other in shapes):
            yield place


__all__ = ["MOST", "PRODUCT", "AnyRank", "any_rank", "as_product"]

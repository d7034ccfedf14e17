"""The sizes in what the oracle is asked: they are renamed, so that the same question is asked of all scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Call, Dim, Monomial, Size, Symbol, is_operation
from torchsleuth.tensors.spec import (
    Answers,
    DictSpec,
    ListSpec,
    ModuleSpec,
    ObjectSpec,
    PartCall,
    SliceSpec,
    StructSpec,
    TensorSpec,
)


def canonical(asked: Any) -> tuple[Any, dict[Symbol, Size]]:
    """A question with symbols of its own, numbered as they come, and what each of them stands for. A whole model of a package is
    asked about with something in its batches and sequences."""
    renamed, originals = _renamed(asked)
    if len(originals) < 2:
        return renamed, dict(originals)
    products = _together(asked)
    if products:
        left_out = {symbol for size in products.values() for symbol in dims.symbols(size)} - products.keys()
        ones: dict[Symbol, Size] = dict.fromkeys(left_out, 1)
        renamed, originals = _renamed(map_sizes(asked, lambda size: dims.substitute(size, ones)))
    return renamed, {new: products.get(old, size) for new, size in originals.items() for old in dims.symbols(size)}


def _renamed(asked: Any) -> tuple[Any, dict[Symbol, Size]]:
    names: dict[Symbol, Symbol] = {}
    whole = any(isinstance(part, ModuleSpec) and part.package for part in asked)

    def named(symbol: Symbol) -> Size:
        if symbol not in names:
            names[symbol] = Symbol("u", len(names), symbol.positive or whole)
        return dims.of(names[symbol])

    renamed = map_sizes(asked, lambda size: dims.rebuild(size, named))
    return renamed, {new: dims.of(old) for old, new in names.items()}


def _together(asked: Any) -> dict[Symbol, Size]:
    """Sizes that occur in products with each other alone, as heads and the size of a head in ``3*heads*head``: the first
    of them can stand for all, and PyTorch decides more about one size than about a product. What it stands for."""
    monomials: dict[Monomial, None] = {}

    def collect(size: Dim) -> Size:
        monomials.update(dict.fromkeys(monomial for monomial, _ in size.terms))
        return size

    map_sizes(asked, collect)
    places: dict[Symbol, list[tuple[Monomial, int]]] = {}
    others: set[Symbol] = set()
    for monomial in monomials:
        for atom, power in monomial:
            if isinstance(atom, Symbol):
                places.setdefault(atom, []).append((monomial, power))
            else:
                others.update(symbol for argument in atom.arguments for symbol in dims.symbols(argument))
    groups: dict[tuple[tuple[Monomial, int], ...], list[Symbol]] = {}
    for symbol, found in places.items():
        if symbol.positive and symbol not in others:
            groups.setdefault(tuple(found), []).append(symbol)
    return {
        group[0]: dims.product([dims.of(symbol) for symbol in group]) for group in groups.values() if len(group) > 1
    }


def simplified(asked: Any) -> tuple[Any, dict[Symbol, Size]]:
    """A question with a size of its own in place of each compound one, and what these stand for: none where one is
    negative perhaps, or a stride. What PyTorch makes of sizes that are anything holds for those, too, and it tells much faster.
    That of a tensor which there is, is not negative."""
    names: dict[Dim, Symbol] = {}
    plain = True
    shapes = set(_of_tensors(asked))

    def hide(size: Dim) -> Size:
        nonlocal plain
        if dims.symbol(size) is not None:
            return size
        low = dims.least(size)
        if low is None or low < 0:
            low = 0 if size in shapes else -1
        plain = plain and (low > 0 or (low == 0 and "max(" not in size.key))
        return dims.of(names.setdefault(size, Symbol("v", len(names))))

    if any(isinstance(size, Dim) for size in _strides(asked)):
        return _without_quotients(asked)
    hidden = map_sizes(asked, hide)
    return (hidden, {symbol: size for size, symbol in names.items()}) if plain else (asked, {})


def _without_quotients(asked: Any) -> tuple[Any, dict[Symbol, Size]]:
    """A question with a size of its own in place of each quotient in sizes and strides, and what these stand for."""
    names: dict[Call, Symbol] = {}

    def hide(size: Dim) -> Size:
        total: Size = 0
        for monomial, coefficient in size.terms:
            term: Size = coefficient
            for atom, power in monomial:
                whole = is_operation(atom, "//") and dims.least(dims.of(atom)) is not None
                named = names.setdefault(atom, Symbol("v", len(names))) if whole and isinstance(atom, Call) else atom
                term = dims.multiply(term, dims.power(dims.of(named), power))
            total = dims.add(total, term)
        return total

    return map_sizes(asked, hide), {symbol: dims.of(atom) for atom, symbol in names.items()}


def _of_tensors(asked: Any) -> Iterator[Size]:
    """The sizes of the tensors in a question."""
    specs: list[TensorSpec] = []

    def note(spec: TensorSpec) -> TensorSpec:
        specs.append(spec)
        return spec

    map_sizes(asked, note, TensorSpec)
    for spec in specs:
        yield from spec.shape or ()


def _strides(asked: Any) -> Iterator[Size]:
    if isinstance(asked, TensorSpec):
        yield from asked.strides or ()
    elif isinstance(asked, tuple):
        for part in asked:
            yield from _strides(part)


def map_sizes(value: Any, convert: Callable[[Any], Any], kind: type = Dim) -> Any:
    """A tree of specs with every symbolic size converted, or everything else of a kind."""
    if isinstance(value, kind):
        return convert(value)
    match value:
        case TensorSpec():
            if value.shape is None or kind is not Dim:
                return value.with_(device=None)
            shape = tuple(convert(size) if isinstance(size, Dim) else size for size in value.shape)
            strides = value.strides and tuple(
                convert(stride) if isinstance(stride, Dim) else stride for stride in value.strides
            )
            return TensorSpec(shape, value.dtype, None, value.requires_grad, strides)
        case tuple():
            return tuple(map_sizes(item, convert, kind) for item in value)
        case StructSpec():
            return replace(value, items=map_sizes(value.items, convert, kind))
        case ListSpec():
            return ListSpec(map_sizes(value.items, convert, kind))
        case DictSpec():
            return DictSpec(map_sizes(value.items, convert, kind))
        case SliceSpec():
            return SliceSpec(*(map_sizes(part, convert, kind) for part in (value.start, value.stop, value.step)))
        case ObjectSpec():
            return ObjectSpec(value.path, map_sizes(value.args, convert, kind), map_sizes(value.kwargs, convert, kind))
        case ModuleSpec():
            given = {name: map_sizes(getattr(value, name), convert, kind) for name in ("args", "kwargs", "changes")}
            return replace(value, **given)
        case Answers():
            return Answers(map_sizes(value.items, convert, kind))
        case PartCall():
            return PartCall(value.part, map_sizes(value.args, convert, kind), map_sizes(value.kwargs, convert, kind))
    return value


__all__ = ["canonical", "map_sizes", "simplified"]

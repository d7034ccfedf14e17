"""Contracts as they are shown: the sizes under the author's names, each name for one size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.contracts import Found
from torchsleuth.interp.outcomes import Part
from torchsleuth.interp.plans import Setting
from torchsleuth.interp.ranks import as_product
from torchsleuth.messages import message
from torchsleuth.schema import (
    Cause,
    Contract,
    ContractInput,
    ContractSetting,
    ContractValue,
    Position,
    TensorFact,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, Symbol
from torchsleuth.tensors.requirements import Condition, size_text
from torchsleuth.values import ClassValue, Function, Unknown
from torchsleuth.worker.explain import chain

_UNNAMED = Symbol("?", 0)


def shown(found: Found, owner: ClassValue | None, function: Function, source: SourceText) -> Contract:
    """The contract of an entry of a document."""
    names = _names(found)
    span = source.span(function.node)
    settings = tuple(_setting(setting) for setting in found.plan.settings.values())
    plan = found.plan
    maker = "" if plan.maker is None else (plan.maker.plan.owner or plan.maker.plan.function).name
    settings += tuple(ContractSetting(name, text=ast.unparse(given), maker=maker) for name, given in plan.given.items())
    settings += tuple(ContractSetting(name, text="None", called=True) for name in sorted(plan.absent))
    inputs = tuple(
        ContractInput(
            name,
            ContractValue(
                "tensor",
                None if shape is None else _sizes(shape, names, found.rest),
                found.plan.dtypes.get(name),
            ),
        )
        for name, shape in found.inputs.items()
    )
    sentences = tuple(message(identifier, name=name) for identifier, name in found.open)
    return Contract(
        source.path,
        span.start,
        span.end,
        None if owner is None else owner.name,
        function.name,
        settings,
        inputs,
        _value(found.result, names, found.rest),
        tuple(condition.renamed(names).text for condition in found.conditions),
        tuple(condition.renamed(names).text for condition in found.training),
        sentences,
        found.examples,
        None if owner is None else Position(owner.node.lineno, owner.node.col_offset + 1),
    )


def facts_of_contract(
    found: Found, owner: ClassValue | None, function: Function, source: SourceText
) -> tuple[TensorFact, ...]:
    """The expressions inside as a contract tells of them: their sizes under the names that it has, and unknown where it has none."""
    names, name = _names(found), function.name if owner is None else owner.name
    facts: list[TensorFact] = []
    for one in found.inside:
        shape = one.part.shape or ()
        known = names.keys() | {_UNNAMED}
        told = (size if known >= set(dims.symbols(size)) else dims.of(_UNNAMED) for size in shape)
        sizes = list(_sizes(tuple(told), names, found.rest))
        if sizes and all(size == "?" for size in sizes):
            continue
        span = one.site.span
        facts.append(
            TensorFact(
                source.path,
                span.start,
                span.end,
                source.segment(one.site.node),
                tuple(int(size) if size.isdigit() else size for size in sizes),
                one.part.dtype,
                binding=one.binding,
                supposed=True,
                contract=name,
            )
        )
    return tuple(sorted(facts, key=lambda fact: (fact.start, fact.end)))


def _setting(setting: Setting) -> ContractSetting:
    default = setting.default if isinstance(setting.default, int) and not isinstance(setting.default, bool) else None
    value = None if setting.free else setting.value
    return ContractSetting(setting.path, value, default, setting.called, maker=setting.maker)


def _value(part: Part, names: dict[Symbol, Size], rest: tuple[Symbol, ...]) -> ContractValue:
    sizes = None if part.shape is None else _sizes(part.shape, names, rest)
    parts = tuple(_value(one, names, rest) for one in part.parts)
    obscure = part.kind == "unknown" or (part.kind == "tensor" and (sizes is None or "?" in sizes))
    return ContractValue(
        part.kind, sizes, part.dtype, parts, part.names, part.text, _causes(part.cause) if obscure else ()
    )


def _causes(unknown: Unknown | None) -> tuple[Cause, ...]:
    return () if unknown is None else chain(unknown)


def _sizes(shape: tuple[Size, ...], names: dict[Symbol, Size], rest: tuple[Symbol, ...]) -> tuple[str, ...]:
    """The texts of sizes; those of the rest, one after the other, are ``...``."""
    own, length = tuple(map(dims.of, rest)), len(rest)
    starts = (at for at in range(len(shape) - length + 1) if shape[at : at + length] == own)
    at = next(starts, None) if rest else None
    if at is None:
        return tuple(_size(size, names, rest) for size in shape)
    return (*_sizes(shape[:at], names, rest), "...", *_sizes(shape[at + length :], names, rest))


def _size(size: Size, names: dict[Symbol, Size], rest: tuple[Symbol, ...]) -> str:
    told = as_product(size, rest)
    return "?" if set(rest) & set(dims.symbols(told)) else size_text(dims.substitute(told, names))


def _names(found: Found) -> dict[Symbol, Size]:
    """Names under which the sizes are shown: those of what the caller chooses as they are, variables that others are unpacked
    into, and for the rest the usual ones; of two with one name, the later one gets a mark."""
    aliases = found.plan.aliases
    taken: dict[str, Symbol] = {}
    names: dict[Symbol, Size] = {}

    def take(symbol: Symbol, name: str) -> None:
        while taken.get(name, symbol) != symbol:
            name += "'"
        taken[name] = symbol
        names[symbol] = dims.of(Symbol(name, symbol.identity, symbol.positive))

    for setting in found.plan.settings.values():
        take(setting.symbol, setting.path)
    for symbol in _symbols(found):
        if symbol not in names and symbol.name != "?":
            take(symbol, aliases.get(symbol, symbol.name))
    return names


def _symbols(found: Found) -> Iterator[Symbol]:
    shapes = [*found.inputs.values(), *(part.shape for part in found.result.tensors())]
    for shape in shapes:
        for size in shape or ():
            yield from dims.symbols(size)
    conditions: list[Condition] = [*found.conditions, *found.training]
    for condition in conditions:
        yield from condition.symbols


__all__ = ["facts_of_contract", "shown"]

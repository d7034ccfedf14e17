"""Contracts as they are shown: the sizes under the author's names, each name for one size."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from torchsleuth.interp.contracts import Found
from torchsleuth.interp.outcomes import Part
from torchsleuth.interp.plans import Plan, Setting
from torchsleuth.interp.ranks import as_product
from torchsleuth.interp.written import default_of, parameters_of
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
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.calls import arguments
from torchsleuth.syntax.forms import every_parameter, last_word, nodes_in
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, Symbol
from torchsleuth.tensors.requirements import Condition, size_text
from torchsleuth.values import UNKNOWN, ClassValue, Function, Unknown
from torchsleuth.worker.explain import chain

_UNNAMED = Symbol("?", 0)


def shown(found: Found, owner: ClassValue | None, function: Function, source: SourceText) -> Contract:
    """The contract of an entry of a document."""
    names = _names(found)
    span = source.span(function.node)
    plan, others = found.plan, _others(found.plan, owner, source)
    settings = tuple(_setting(setting, others) for setting in plan.settings.values())
    maker = "" if plan.maker is None else (plan.maker.plan.owner or plan.maker.plan.function).name
    settings += tuple(ContractSetting(name, text=ast.unparse(given), maker=maker) for name, given in plan.given.items())
    settings += tuple(ContractSetting(name, text="None", called=True) for name in sorted(plan.absent))
    known = {setting.name for setting in settings}
    settings += tuple(
        ContractSetting(name, text=text, varied=True) for name, text in others.items() if name not in known
    )
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


def _others(plan: Plan, owner: ClassValue | None, source: SourceText) -> dict[str, str]:
    """The parameters of a constructor that the contract has a value for, or the default of what the class tests, and for which some
    call in the text passes another one; with the values of the contract."""
    made = as_kind(None if owner is None else owner.slots.get("__init__"), Function)
    if owner is None or made is None or made.path != source.path or isinstance(made.node, ast.Lambda):
        return {}
    fixed = {path: str(one.value) for path, one in plan.settings.items() if one.value is not None and not one.free}
    tests = [node.test for node in nodes_in(owner.node, ast.If, ast.IfExp)]
    tests += [part for node in nodes_in(owner.node, ast.BoolOp) for part in node.values]
    tested = {last_word(part) for test in tests for part in nodes_in(test, ast.Name, ast.Attribute)}
    for argument, has_default in parameters_of(made, 1):
        default = default_of(made, argument) if has_default else UNKNOWN
        if argument.arg in tested and isinstance(default, str | bool | None) and argument.arg not in plan.settings:
            fixed.setdefault(argument.arg, repr(default))
    names = [one.arg for one in every_parameter(made.node.args)][1:]
    found: dict[str, str] = {}
    for call in nodes_in(parse(source), ast.Call):
        if last_word(call.func) == owner.name:
            passed = arguments(call, names)
            found |= {
                name: value for name, value in fixed.items() if name in passed and ast.unparse(passed[name]) != value
            }
    return found


def _setting(setting: Setting, others: Mapping[str, str]) -> ContractSetting:
    default = setting.default if isinstance(setting.default, int) and not isinstance(setting.default, bool) else None
    value = None if setting.free else setting.value
    varied = value is not None and setting.path in others
    return ContractSetting(setting.path, value, default, setting.called, maker=setting.maker, varied=varied)


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

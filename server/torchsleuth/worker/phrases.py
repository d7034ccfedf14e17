"""Sentences about a contract beside its shapes, on the command line and in the editor alike."""

from __future__ import annotations

from torchsleuth.messages import message
from torchsleuth.schema import Contract, ContractValue


def sentences(contract: Contract) -> tuple[str, ...]:
    """The conditions, what is not certain, and why sizes are not known."""
    return (*conditions(contract), *doubts(contract))


def conditions(contract: Contract) -> tuple[str, ...]:
    """The conditions, a line each."""
    found: list[str] = []
    if contract.given:
        found.append(message("contract.fixed", settings=contract.given))
    if contract.conditions:
        found.append(message("contract.where", conditions=", ".join(contract.conditions)))
    if contract.training:
        found.append(message("contract.training", conditions=", ".join(contract.training)))
    return tuple(found)


def doubts(contract: Contract) -> tuple[str, ...]:
    """The sentences about what is not certain, and why sizes are not known."""
    return (*(message("contract.open", text=text) for text in contract.open), *_holes(contract.result))


def _holes(value: ContractValue) -> list[str]:
    found: list[str] = []
    if value.causes:
        first = value.causes[-1]
        found.append(message("contract.hole", text=first.text, line=first.start.line))
    for part in value.parts:
        found += _holes(part)
    return list(dict.fromkeys(found))

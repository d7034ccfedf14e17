"""Which codes are on: layers of selectors over the faults' own defaults.

A selector is a code (``TS101``), a beginning of codes (``TS5``), or ``ALL``. Within a layer the longest selector that
fits a code decides, and of equally long ones the one that ignores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.schema import SEVERITIES, Severity


class ConfigurationError(Exception):
    """The configuration makes no sense; the message is one line that says where and why."""


@dataclass(frozen=True)
class Layer:
    """The choice of one source (a file, the command line, the editor). `select` None: the layer below decides."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)


def selector(text: str, where: str) -> str:
    """A selector as it is written. Raises ConfigurationError if it can fit no code."""
    wanted = text.strip().upper()
    if wanted == "ALL" or wanted.startswith("TS") and any(fit((wanted,), code) for code in FAULTS):
        return wanted
    raise ConfigurationError(message("control.selector", where=where, selector=text))


def severity_level(text: object, where: str) -> Severity:
    for level in SEVERITIES:
        if text == level:
            return level
    raise ConfigurationError(message("control.severity", where=where, value=text))


def fit(selectors: Iterable[str], code: str) -> int:
    """Length of the longest selector that fits a code, 0 where none does."""
    lengths = (1 if item == "ALL" else len(item) for item in selectors if item == "ALL" or code.startswith(item))
    return max(lengths, default=0)


def is_selected(code: str, layers: Sequence[Layer]) -> bool:
    """Whether a code is on. One that the catalogue does not know is on unless it is ignored."""
    fault = FAULTS.get(code)
    chosen = fault is None or fault.default
    for layer in layers:
        wanted = fit((*(layer.select or ()), *layer.extend_select), code)
        unwanted = fit(layer.ignore, code)
        if wanted or unwanted:
            chosen = wanted > unwanted
        elif layer.select is not None:
            chosen = False
    return chosen


def selected(layers: Sequence[Layer]) -> tuple[str, ...]:
    """The codes that are on and that the analysis of a text can find."""
    return tuple(code for code, fault in FAULTS.items() if fault.rule is not None and is_selected(code, layers))


def severity_of(code: str, own: Severity, layers: Sequence[Layer]) -> Severity:
    """The severity that the last layer with an opinion gives to a code."""
    level = own
    for layer in layers:
        fitting = [item for item in layer.severity if fit((item,), code)]
        if fitting:
            level = layer.severity[max(fitting, key=lambda item: fit((item,), code))]
    return level

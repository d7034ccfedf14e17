"""The client's configuration: initialization options, and later changes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torchsleuth.lsp.protocol import SECTION
from torchsleuth.sifting import as_kind, of_kind


@dataclass(frozen=True)
class Settings:
    """See `protocol` for their meaning. `interpreter` None is the server's own."""

    interpreter: str | None = None
    trusted: bool = True
    inlay_hints: bool = True
    contracts: bool = True
    contract_lenses: bool = False
    trace: str = "off"
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, str], ...] = ()
    exclude: tuple[str, ...] = ()
    configuration: str | None = None
    run_command: str | None = None

    def updated(self, values: Any) -> Settings:
        """These settings with what `values` says; unknown keys and values of the wrong type are ignored."""
        given = as_kind(values, dict) or {}
        changed = self
        if isinstance(given.get("interpreter"), str):
            changed = replace(changed, interpreter=given["interpreter"] or None)
        if isinstance(given.get("trusted"), bool):
            changed = replace(changed, trusted=given["trusted"])
        if isinstance(given.get("inlayHints"), bool):
            changed = replace(changed, inlay_hints=given["inlayHints"])
        if isinstance(given.get("contracts"), bool):
            changed = replace(changed, contracts=given["contracts"])
        if isinstance(given.get("contractLenses"), bool):
            changed = replace(changed, contract_lenses=given["contractLenses"])
        if isinstance(given.get("runCommand"), str):
            changed = replace(changed, run_command=given["runCommand"] or None)
        if isinstance(given.get("trace"), str):
            changed = replace(changed, trace=given["trace"])
        if "select" in given:
            changed = replace(changed, select=None if given["select"] is None else _strings(given["select"]))
        if "extendSelect" in given:
            changed = replace(changed, extend_select=_strings(given["extendSelect"]))
        if "ignore" in given:
            changed = replace(changed, ignore=_strings(given["ignore"]))
        if "exclude" in given:
            changed = replace(changed, exclude=_strings(given["exclude"]))
        if isinstance(given.get("severity"), dict):
            changed = replace(
                changed, severity=tuple((str(code), str(level)) for code, level in given["severity"].items())
            )
        if isinstance(given.get("configuration"), str):
            changed = replace(changed, configuration=given["configuration"] or None)
        return changed

    @property
    def chosen(self) -> tuple[object, ...]:
        """Everything that decides which findings are shown."""
        return self.select, self.extend_select, self.ignore, self.severity, self.exclude, self.configuration


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(of_kind(value, str)) if isinstance(value, list) else ()


def section(settings: Any) -> Any:
    """Our part of a ``workspace/didChangeConfiguration``."""
    return settings.get(SECTION) if isinstance(settings, dict) else None

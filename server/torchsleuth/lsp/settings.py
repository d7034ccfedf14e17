"""What the client configures: initialization options, and later changes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torchsleuth.lsp.protocol import SECTION


@dataclass(frozen=True)
class Settings:
    """See `protocol` for their meaning. `interpreter` None is the server's own."""

    interpreter: str | None = None
    trusted: bool = True
    inlay_hints: bool = True
    trace: str = "off"

    def updated(self, values: Any) -> Settings:
        """These settings with what `values` says; unknown keys and values of the wrong type are ignored."""
        given = values if isinstance(values, dict) else {}
        changed = self
        if isinstance(given.get("interpreter"), str):
            changed = replace(changed, interpreter=given["interpreter"] or None)
        if isinstance(given.get("trusted"), bool):
            changed = replace(changed, trusted=given["trusted"])
        if isinstance(given.get("inlayHints"), bool):
            changed = replace(changed, inlay_hints=given["inlayHints"])
        if isinstance(given.get("trace"), str):
            changed = replace(changed, trace=given["trace"])
        return changed


def section(settings: Any) -> Any:
    """Our part of a ``workspace/didChangeConfiguration``."""
    return settings.get(SECTION) if isinstance(settings, dict) else None

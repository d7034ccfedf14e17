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
    trace: str = "off"

    def updated(self, values: Any) -> Settings:
        """These settings with what `values` says; keys of the wrong type are ignored, as are unknown ones."""
        if not isinstance(values, dict):
            return self
        changed = self
        if "interpreter" in values and isinstance(values["interpreter"], str | None):
            changed = replace(changed, interpreter=values["interpreter"] or None)
        if isinstance(values.get("trusted"), bool):
            changed = replace(changed, trusted=values["trusted"])
        if isinstance(values.get("trace"), str):
            changed = replace(changed, trace=values["trace"])
        return changed


def section(settings: Any) -> Any:
    """Our part of a ``workspace/didChangeConfiguration``."""
    return settings.get(SECTION) if isinstance(settings, dict) else None

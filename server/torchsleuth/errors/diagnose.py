"""From the report of a crash to one diagnostic on the innermost line of the user's, with its fix."""

from __future__ import annotations

from typing import Any

from torchsleuth.errors.catalogue import FALLBACK, lookup
from torchsleuth.errors.fixes import Crash, Sources
from torchsleuth.schema import Diagnostic, Related


def _shape(entry: dict[str, Any]) -> str:
    inner = ", ".join(str(size) for size in entry["shape"])
    inner += "," if len(entry["shape"]) == 1 else ""
    return f"({inner}) {entry['dtype']} {entry['device']}"


def crash_diagnostic(crash: Crash, sources: Sources) -> Diagnostic | None:
    """The diagnostic of a crash, None if no line of the user's took part in it."""
    if not crash["frames"]:
        return None
    frame = crash["frames"][0]
    source = sources(frame["path"])
    span = frame["span"]
    entry = lookup(crash["message"])
    first_line = crash["message"].splitlines()[0] if crash["message"] else crash["type"]
    operands = ", ".join(f"`{item['expression']}` is {_shape(item)}" for item in crash["operands"][:3])
    text = f"{crash['type']}: {first_line}"
    if entry is not FALLBACK:
        text = f"{entry.explanation} ({first_line})"
    if operands:
        text += f"; here {operands}"
    related: list[Related] = []
    module = crash.get("module") or {}
    constructor = module.get("constructor")
    if constructor and constructor.get("span"):
        place = sources(constructor["path"])
        spot = constructor["span"]
        name = module.get("path") or module["type"]
        start, end = place.from_utf8(spot[0], spot[1]), place.from_utf8(spot[2], spot[3])
        related.append(Related(place.path, start, end, f"`{name}` is {module['repr'].splitlines()[0]}, built here"))
    for outer in crash["frames"][1:3]:
        place, spot = sources(outer["path"]), outer["span"]
        start, end = place.from_utf8(spot[0], spot[1]), place.from_utf8(spot[2], spot[3])
        related.append(Related(place.path, start, end, "reached by this call"))
    return Diagnostic(
        source.path,
        entry.code,
        entry.name,
        "error",
        text,
        source.from_utf8(span[0], span[1]),
        source.from_utf8(span[2], span[3]),
        tuple(related),
        tuple(entry.fix(crash, sources)),
        layer="run",
    )

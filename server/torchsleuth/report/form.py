"""The form of a report as JSON, as a JSON schema: what ``run --report out.json`` writes, and ``compare`` reads.

``python -m torchsleuth.report.form docs/report.schema.json`` writes it down.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from torchsleuth.schema import SEVERITIES, Json
from torchsleuth.training import Training

_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean"}


def schema() -> Json:
    """A JSON schema (draft 2020-12). Fields may be added; those that are here keep their meaning."""
    definitions: Json = {}
    recorded = _of(Training, definitions)
    position = {
        "type": "object",
        "properties": {"line": _integer(1), "column": _integer(1)},
        "required": ["line", "column"],
    }
    diagnostic = {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "code": {"type": "string", "pattern": "^TS[0-9]{3}$"},
            "name": {"type": "string"},
            "severity": {"enum": list(SEVERITIES)},
            "message": {"type": "string"},
            "start": position,
            "end": position,
            "related": {"type": "array"},
            "fixes": {"type": "array"},
            "layer": {"enum": ["static", "run"]},
            "operands": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["path", "code", "name", "severity", "message", "start", "end"],
    }
    text, thing, maybe = {"type": "string"}, {"type": ["object", "null"]}, {"type": "array"}
    properties = {
        "script": text,
        "exit_code": {"type": "integer", "description": "The script's own; negative: the signal that ended it."},
        "cancelled": {"type": "boolean"},
        "ended": {"enum": ["exit", "signal", "interrupted", "cancelled", "timeout", "stall", "max-steps", "smoke"]},
        "seconds": {"type": "number"},
        "crash": thing,
        "training": thing,
        "diagnostics": {"type": "array", "items": diagnostic},
        "facts": maybe,
        "loaded": {"type": "array", "items": text},
        "processes": maybe,
        "lines": {"type": "object"},
        "recorded": {"anyOf": [recorded, {"type": "null"}]},
        "ranks": thing,
        "versions": thing,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of a run of TorchSleuth",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "$defs": dict(sorted(definitions.items())),
    }


def _integer(minimum: int) -> Json:
    return {"type": "integer", "minimum": minimum}


def _of(kind: Any, definitions: Json) -> Json:
    """The schema of a type; those of dataclasses are put to the definitions."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        name = kind.__name__
        if name not in definitions:
            definitions[name] = {}
            hints = get_type_hints(kind)
            properties = {field.name: _of(hints[field.name], definitions) for field in dataclasses.fields(kind)}
            about = " ".join((kind.__doc__ or "").split())
            definitions[name] = {"type": "object", "description": about, "properties": properties}
        return {"$ref": f"#/$defs/{name}"}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return {"anyOf": [{"type": "null"} if one is type(None) else _of(one, definitions) for one in arguments]}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if origin is tuple:
        items = [_of(one, definitions) for one in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin is dict:
        of = _of(arguments[1], definitions)
        return {"type": "object", **({"additionalProperties": of} if of else {})}
    return {"type": _PLAIN[kind]} if kind in _PLAIN else {}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")

"""Diagnostics for other programs: workflow commands of GitHub Actions, and SARIF 2.1.0."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from torchsleuth import __version__
from torchsleuth.escaping import escape
from torchsleuth.faults import FAULTS
from torchsleuth.schema import Diagnostic, Edit, Fix, Json, Position, Severity

HOME = "https://github.com/torchsleuth/torchsleuth"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_GITHUB: dict[Severity, str] = {"error": "error", "warning": "warning", "hint": "notice"}
_SARIF: dict[Severity, str] = {"error": "error", "warning": "warning", "hint": "note"}


def github(diagnostic: Diagnostic) -> str:
    start, end = diagnostic.start, diagnostic.end
    places = {"file": diagnostic.path, "line": start.line, "endLine": end.line}
    if start.line == end.line:  # columns of several lines are refused
        places |= {"col": start.column, "endColumn": max(end.column - 1, start.column)}
    places["title"] = f"{diagnostic.code} {diagnostic.name}"
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in places.items())
    return f"::{_GITHUB[diagnostic.severity]} {properties}::{_data(diagnostic.message)}"


def _data(text: str) -> str:
    return escape(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def sarif(diagnostics: Sequence[Diagnostic]) -> str:
    """A log with one run. Columns count code points, as ours do."""
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "TorchSleuth",
                        "version": __version__,
                        "informationUri": HOME,
                        "rules": [_rule(code, diagnostics) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(diagnostic, codes.index(diagnostic.code)) for diagnostic in diagnostics],
            }
        ],
    }
    return json.dumps(log, indent=2)


def _rule(code: str, diagnostics: Sequence[Diagnostic]) -> Json:
    first = next(diagnostic for diagnostic in diagnostics if diagnostic.code == code)
    fault = FAULTS.get(code)
    return {
        "id": code,
        "name": first.name,
        "shortDescription": {"text": fault.title if fault is not None else first.name},
        "helpUri": f"{HOME}/blob/main/docs/rules/{code}.md",
        "defaultConfiguration": {"level": _SARIF[first.severity]},
    }


def _result(diagnostic: Diagnostic, index: int) -> Json:
    result: Json = {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": _SARIF[diagnostic.severity],
        "message": {"text": diagnostic.message},
        "locations": [_location(diagnostic.path, diagnostic.start, diagnostic.end)],
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": item.message}, **_location(item.path, item.start, item.end)}
            for number, item in enumerate(diagnostic.related, 1)
        ]
    if diagnostic.fixes:
        result["fixes"] = [_fix(fix) for fix in diagnostic.fixes]
    return result


def _fix(fix: Fix) -> Json:
    paths = dict.fromkeys(edit.path for edit in fix.edits)
    changes = [
        {
            "artifactLocation": {"uri": _uri(path)},
            "replacements": [_replacement(edit) for edit in fix.edits if edit.path == path],
        }
        for path in paths
    ]
    return {"description": {"text": fix.title}, "artifactChanges": changes}


def _replacement(edit: Edit) -> Json:
    return {"deletedRegion": _region(edit.start, edit.end), "insertedContent": {"text": edit.new_text}}


def _location(path: str, start: Position, end: Position) -> Json:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}, "region": _region(start, end)}}


def _region(start: Position, end: Position) -> Json:
    return {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}


def _uri(path: str) -> str:
    """Relative where the path is: the reader knows from where."""
    place = Path(path)
    return place.as_uri() if place.is_absolute() else quote(os.fsencode(place.as_posix()))

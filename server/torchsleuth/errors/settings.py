"""The settings that sizes come from: attributes of a configuration, followed to where their values are written or given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.constructor import constructor_call
from torchsleuth.errors.provenance import straight
from torchsleuth.errors.reached import note
from torchsleuth.schema import Related
from torchsleuth.syntax.forms import given_to, is_name, nodes_in

MAX_SETTINGS = 2
"""Settings that are followed from one call."""


def settings_of_layer(case: Case) -> list[Related]:
    """Where the setting gets its value that the failing layer has the size of its input from."""
    found = constructor_call(case)
    if found is None:
        return []
    site, call = found
    file = next((file for file in case.files if file.path == site.source.path), None)
    place = (call.lineno, call.col_offset)
    twin = (
        next((node for node in file.all(ast.Call) if (node.lineno, node.col_offset) == place), None) if file else None
    )
    return list(written_at(case, file, given_to(twin)[:1])) if file is not None else []


def written_at(case: Case, file: CrashFrame, given: list[ast.expr]) -> Iterator[Related]:
    """Where the settings among some arguments get their values: ``crop: int = 54`` for the ``s.crop`` of ``rand(3, s.crop, s.crop)``."""
    settings = {
        file.text(part): part
        for value in given
        for part in nodes_in(value, ast.Attribute)
        if isinstance(part.value, ast.Name) and not is_name(part.value, "self")
    }
    for text, part in list(settings.items())[:MAX_SETTINGS]:
        way = [(place, value) for place, value in straight(case, file, part) if not isinstance(value, ast.Name)]
        for place, value in way[:1]:
            yield note(place.source, value, "error.comes_from", name=text)

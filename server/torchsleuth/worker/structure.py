"""Builds the values of `schema` from the JSON that the worker sends. Only on the server's side: the worker itself needs no cattrs."""

from __future__ import annotations

from typing import Any, TypeVar

import cattrs

from torchsleuth.schema import DimJson, Json, Position, Related

T = TypeVar("T")


def _as_it_is(value: Any, kind: Any) -> Any:
    return value


def _related(value: Any, kind: Any) -> Related:
    """The machine interface gives the start of a related place as `line` and `column`."""
    start, end = Position(value["line"], value["column"]), _CONVERTER.structure(value["end"], Position)
    return Related(value["path"], start, end, value["message"], value.get("call", False))


_CONVERTER = cattrs.Converter(detailed_validation=False)
_CONVERTER.register_structure_hook(DimJson, _as_it_is)
_CONVERTER.register_structure_hook(Related, _related)


def structure(value: Json, kind: type[T]) -> T:
    """The value of a kind that `value` was made from by its ``to_json``. Raises an error of cattrs where it has another form."""
    return _CONVERTER.structure(value, kind)

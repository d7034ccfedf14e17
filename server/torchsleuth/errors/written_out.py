"""What cannot be written into JSON: where it was put into the dictionary that is written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchsleuth.errors.became import as_number, tensors_here
from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case
from torchsleuth.errors.fixes import append_in, replace
from torchsleuth.errors.reached import Filled, bound, note, under_key
from torchsleuth.schema import Fix, Related

_OF_NUMBERS = ("Tensor", "Parameter", "ndarray", "float32", "float64", "float16", "int64", "int32", "bool_", "bool")
_AS_TEXT = ("PosixPath", "WindowsPath", "device", "dtype", "Size")


def _put_in(case: Case) -> tuple[str, list[Filled], bool] | None:
    """The innermost key that the files put something under of those that lead to the object, with that, and whether it is the object
    itself."""
    keys = list(case.crash.get("keys") or ())
    for place, key in reversed(list(enumerate(keys))):
        if values := under_key(case, key):
            return key, values, place == len(keys) - 1
    return None


def _put_in_here(case: Case) -> Iterator[Related]:
    found = _put_in(case)
    for file, value in found[1] if found is not None else ():
        yield note(file.source, value, "error.put_in", key=found[0] if found is not None else "")
        if (made := bound(file, value)) is not value:
            yield note(file.source, made, "error.put_in", key=found[0] if found is not None else "")
        if found is not None and found[2]:
            yield from tensors_here(case, (file, value))


def _as_numbers(case: Case, match: re.Match[str]) -> Iterator[Fix]:
    """``{"loss": loss}`` → ``{"loss": loss.tolist()}``, ``{"path": path}`` → ``{"path": str(path)}``"""
    found = _put_in(case)
    if found is None or not found[2]:
        return
    for file, value in found[1]:
        if match[1] == "Tensor":
            yield from as_number(case, (file, value))
        if match[1] in _OF_NUMBERS:
            yield append_in(file.source, value, ".tolist()")
        elif match[1] in _AS_TEXT or match[1] == "set":
            yield replace(file, value, f"{'sorted' if match[1] == 'set' else 'str'}({file.text(value)})")


_JSON = r"Object of type (\w+) is not JSON serializable"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_JSON, _as_numbers),)
PLACES = ((_JSON, _put_in_here),)

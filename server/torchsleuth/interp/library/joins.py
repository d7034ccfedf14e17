"""pandas: tables that are joined by the values of columns or by their index."""

from __future__ import annotations

from dataclasses import dataclass

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import array_dtypes, arrays, tables
from torchsleuth.interp.library.tables import Columns
from torchsleuth.interp.models import models
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.tensors.dims import Size
from torchsleuth.values import UNKNOWN, Array, LibraryObject, Value, is_object, items_of

Names = tuple[str | int, ...]
_WORDS = frozenset("left right how on left_on right_on suffixes sort copy validate".split())
_KEEPS = {"inner": (True, True), "left": (True, False), "right": (False, True), "outer": (False, False)}
"""Whether each row of the result has one of the left table, and one of the right one."""


@dataclass(frozen=True)
class _Side:
    """One of two tables that are joined. `every`: each row of the result has one of it, so that nothing is missing."""

    columns: Columns
    keys: Names
    every: bool


@models("pandas.merge")
def merge(interp: Interpreter, call: Arguments) -> Value:
    """The rows of two tables that have the same keys, beside one another."""
    left, right = interp.resolved(call.given(0, "left")), interp.resolved(call.given(1, "right"))
    return merged(interp, left, right, call, 2)


def merged(interp: Interpreter, left: Value, right: Value, call: Arguments, first: int) -> Value:
    """The result of a merge. `first`: the position of ``how`` among its arguments."""
    rows = interp.fresh_size("rows", positive=False)
    one, other = as_kind(left, LibraryObject), as_kind(right, LibraryObject)
    if one is None or other is None or not is_object(one, tables.FRAME) or not is_object(other, tables.FRAME):
        return UNKNOWN
    sides = _sides(interp, one, other, call, first)
    suffixes = items_of(interp.resolved(call.kwargs.get("suffixes", ("_x", "_y"))))
    if sides is None or suffixes is None or len(suffixes) != 2 or not all_are(suffixes, str):
        return tables.frame(interp, None, rows)
    return tables.frame(interp, _beside(*sides, (str(suffixes[0]), str(suffixes[1])), rows), rows)


def _sides(
    interp: Interpreter, left: LibraryObject, right: LibraryObject, call: Arguments, first: int
) -> tuple[_Side, _Side] | None:
    """Both tables with the columns of their keys; None where these are not known."""
    mine, other = tables.columns_of(interp, left), tables.columns_of(interp, right)
    how = interp.resolved(call.given(first, "how", "inner"))
    known = call.exact and len(call.args) <= first + 2 and call.kwargs.keys() <= _WORDS
    if mine is None or other is None or not known or not isinstance(how, str) or how not in _KEEPS:
        return None
    on = call.given(first + 1, "on")
    keys = [_names(interp, call.kwargs.get(name, on)) for name in ("left_on", "right_on")]
    if on is None and not call.kwargs.keys() & {"left_on", "right_on"}:
        names = [name for name, _ in tables.named(mine) if name in dict(tables.named(other))]
        whole = tables.labels_of(mine) is not None and tables.labels_of(other) is not None
        keys = [tuple(names) if whole and names else None] * 2
    held = (dict(tables.named(mine)), dict(tables.named(other)))
    if any(names is None or any(name not in one for name in names) for names, one in zip(keys, held)):
        return None
    one, two = keys[0] or (), keys[1] or ()
    return (_Side(mine, one, _KEEPS[how][0]), _Side(other, two, _KEEPS[how][1])) if len(one) == len(two) else None


def _names(interp: Interpreter, given: Value) -> Names | None:
    given = interp.resolved(given)
    return (given,) if isinstance(given, str | int) else tables.names_in(given)


def _beside(left: _Side, right: _Side, suffixes: tuple[str, str], rows: Size) -> Columns | None:
    """The columns of both: a key of one name once, other columns of one name with a suffix for each."""
    shared = {name for name, other in zip(left.keys, right.keys) if name == other}
    others = (dict(tables.named(left.columns)), dict(tables.named(right.columns)))
    both = (others[0].keys() & others[1].keys()) - shared
    found: list[tuple[str | int | tables.Further, Array]] = []
    for side, suffix in ((left, suffixes[0]), (right, suffixes[1])):
        for name, array in side.columns:
            if name not in shared:
                label = f"{name}{suffix}" if name in both else name
                found.append((label, _of_rows(array, rows, side.every)))
            elif side is left and not isinstance(name, tables.Further):
                found.append((name, _of_rows(array, rows, array.spec.dtype == others[1][name].spec.dtype)))
    return tuple(found) if len(dict(found)) == len(found) else None


def _of_rows(array: Array, rows: Size, every: bool) -> Array:
    """A column in some order. `every`: no element is missing; where some are, integers become floats, and truths objects."""
    dtype = array.spec.dtype or ""
    stays = every or dtype in array_dtypes.TEXT or dtype.startswith("float")
    return tables.resized_array(array, rows, kept=False) if stays else arrays.make((rows,), None)


def joined(interp: Interpreter, left: LibraryObject, call: Arguments) -> Value:
    """The columns of another table beside those of this one, by their index. Where both have as many rows, it is taken for one."""
    rows = tables.rows_of(interp, left)
    right = as_kind(interp.resolved(call.given(0, "other")), LibraryObject)
    plain = call.exact and len(call.args) == 1 and call.kwargs.keys() <= {"how", "lsuffix", "rsuffix", "other"}
    if right is None or not is_object(right, tables.FRAME) or not plain:
        return tables.frame(interp, None)
    mine, other = tables.columns_of(interp, left), tables.columns_of(interp, right)
    ends = tuple(interp.resolved(call.kwargs.get(name, "")) for name in ("lsuffix", "rsuffix"))
    how = interp.resolved(call.kwargs.get("how", "left"))
    if mine is None or other is None or not all_are(ends, str) or not isinstance(how, str) or how not in _KEEPS:
        return tables.frame(interp, None)
    alike = tables.rows_of(interp, right) == rows
    keeps = (True, True) if alike else _KEEPS[how]
    count = rows if alike else interp.fresh_size("rows", positive=False)
    sides = (_Side(mine, (), keeps[0]), _Side(other, (), keeps[1]))
    return tables.frame(interp, _beside(*sides, (str(ends[0]), str(ends[1])), count), count)


__all__ = ["joined", "merge", "merged"]

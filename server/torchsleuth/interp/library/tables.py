"""Tables: what a DataFrame or a Series of pandas holds, column by column, as the models of pandas and of scikit-learn read it.

The columns of a DataFrame are arrays of one dimension by their names; the index counts for nothing but the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import array_dtypes, arrays
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.values import (
    UNKNOWN,
    Array,
    LibraryObject,
    MixedColumn,
    Numbered,
    Site,
    SliceValue,
    Value,
    elements_of,
    is_int,
    is_object,
)

FRAME, SERIES, INDEX = "pandas.DataFrame", "pandas.Series", "pandas.Index"
MAX_COLUMNS = 1024


@dataclass(frozen=True)
class Further:
    """The columns that stand for the values of one of text, in the place of a name: how many there are is not known. `site`:
    the call that made them."""

    name: str | int
    count: Size
    site: Site | None = field(default=None, compare=False)


Column = tuple[str | int | Further, Array]
Columns = tuple[Column, ...]
_ItemT = TypeVar("_ItemT")


# -- making them -----------------------------------------------------------------------------------


def frame(interp: Interpreter, columns: Columns | None, rows: Size | None = None) -> LibraryObject:
    """A DataFrame. Slot `columns`: names and arrays, None where they are not known; slot `rows`: their number."""
    made = LibraryObject(FRAME, (), {}, None)
    made.slots["columns"] = columns if columns is None or len(columns) <= MAX_COLUMNS else None
    made.slots["rows"] = interp.fresh_size("rows", positive=False) if rows is None else rows
    return made


def series(
    data: Array, labels: tuple[str | int, ...] | None = None, name: Value = None, of_index: bool = False
) -> LibraryObject:
    """A Series. Slot `data`: its elements; slot `labels`: the names of the columns where it is a row of a table, else None; slot
    `name`: of the column that it is; slot `of_index`: it is an Index of numbers, of which a comparison is an array."""
    made = LibraryObject(SERIES, (), {}, None)
    made.slots["data"], made.slots["labels"], made.slots["name"] = data, labels, name
    made.slots["of_index"] = of_index
    return made


def index(names: tuple[str | int, ...] | None) -> LibraryObject:
    """The names of columns, in an Index."""
    made = LibraryObject(INDEX, (), {}, None)
    made.slots["names"] = names
    return made


# -- reading them ----------------------------------------------------------------------------------


def columns_of(interp: Interpreter, table: LibraryObject) -> Columns | None:
    """The columns of a DataFrame, None where they are not all known."""
    columns = table.slots.get("columns")
    if not isinstance(columns, tuple) or table.identity in interp.trace.escaped:
        return None
    known = all(isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], Array) for one in columns)
    return columns if known and all(isinstance(name, str | int | Further) for name, _ in columns) else None


def rows_of(interp: Interpreter, table: LibraryObject) -> Size:
    """The number of rows of a DataFrame."""
    rows = interp.resolved(table.slots.get("rows"))
    if not is_int(rows) or table.identity in interp.trace.escaped:
        rows = interp.fresh_size("rows", positive=False)
        interp.heap.set(table.slots, "rows", rows)
    return rows


def data_of(interp: Interpreter, one: LibraryObject) -> Array:
    """The elements of a Series."""
    data = one.slots.get("data")
    return data if isinstance(data, Array) else arrays.make((interp.fresh_size("rows", positive=False),), None)


def names_in(value: Value) -> tuple[str | int, ...] | None:
    """The names of columns in a list, a tuple or an Index; None where they are not all known."""
    if isinstance(value, LibraryObject):
        names = value.slots.get("names") if value.path == INDEX else value.slots.get("labels")
    else:
        names = elements_of(value)
    return tuple(names) if type(names) is tuple and all(isinstance(name, str | int) for name in names) else None


def as_array(interp: Interpreter, table: Value) -> Array | None:
    """The array that ``np.asarray(table)`` gives; None for what is no table."""
    if is_object(table, SERIES):
        return data_of(interp, table)
    if not is_object(table, FRAME):
        return None
    columns, rows = columns_of(interp, table), rows_of(interp, table)
    if columns is None:
        return arrays.make((rows, interp.fresh_size("columns", positive=False)), None)
    made = arrays.make((rows, width(columns)), common_dtype(array.spec.dtype for _, array in columns))
    numbered: frozenset[Numbered] = frozenset().union(*(one.slots.get("numbered", ()) for _, one in columns))
    if numbered:
        made.slots["numbered"] = numbered
    if made.spec.dtype == "object":
        odd = sorted(filter(_is_odd, columns), key=lambda column: column[1].spec.dtype == "bool")
        made.slots["mixed"] = _mixed(*odd[0])
    return made


def _is_odd(column: Column) -> bool:
    """Whether it is a column of text or of truths, which make an array of objects of one that has numbers, too."""
    return column[1].spec.dtype == "bool" or column[1].spec.dtype in array_dtypes.TEXT


def _mixed(name: str | int | Further, column: Array) -> MixedColumn:
    further = as_kind(name, Further)
    return MixedColumn(
        str(further.name if further else name), column.spec.dtype or "", further.site if further else None
    )


def width(columns: Columns) -> Size:
    """The number of columns."""
    whole: Size = 0
    for name, _ in columns:
        whole = dims.add(whole, name.count if isinstance(name, Further) else 1)
    return whole


def common_dtype(dtypes: Iterable[str | None]) -> str | None:
    """The dtype of the array that holds columns of these, as pandas finds it: objects where their kinds do not go together."""
    given = list(dtypes)
    known = [dtype for dtype in given if dtype is not None]
    if any(dtype in array_dtypes.TEXT for dtype in known) or len({dtype == "bool" for dtype in known}) > 1:
        return "object"
    if not given or len(known) < len(given):
        return None
    found: str | None = given[0]
    for dtype in given[1:]:
        found = array_dtypes.promoted(found, dtype)
    return found


def element(array: Array) -> Value:
    """A cell of a column: a number, or anything where the column is none of numbers."""
    dtype = array.spec.dtype
    return arrays.make((), dtype) if dtype in array_dtypes.NUMERIC else UNKNOWN


# -- changing them ---------------------------------------------------------------------------------


def with_rows(interp: Interpreter, table: LibraryObject, rows: Size | None, kept: bool = False) -> LibraryObject:
    """The same columns with another number of rows, None where that is not known. `kept`: their contents are as mixed as before,
    as in a sample of the rows."""
    count = interp.fresh_size("rows", positive=False) if rows is None else rows
    columns = columns_of(interp, table)
    return frame(interp, None if columns is None else resized(columns, count, kept), count)


def resized(columns: Columns, rows: Size, kept: bool) -> Columns:
    return tuple((name, resized_array(array, rows, kept)) for name, array in columns)


def resized_array(array: Array, rows: Size, kept: bool) -> Array:
    """An array with another first dimension."""
    shape = array.spec.shape
    made = arrays.make(None if shape is None else (rows, *shape[1:]), array.spec.dtype)
    if kept:
        made.slots["spread"], made.slots["bounds"] = array.slots["spread"], array.slots["bounds"]
        made.slots["drawn"] = array.slots.get("drawn", array.slots.get("source", array.identity))
    keep_categories(array, made)
    return made


def keep_categories(array: Array, part: Array) -> None:
    """Some of the rows of a column have the categories of all, and the numbers of these."""
    for slot in ("categories", "numbered", "words", "drawn"):
        if slot in array.slots:
            part.slots[slot] = array.slots[slot]


def numbered(interp: Interpreter, categories: Numbered | None, rows: Size, dtype: str | None) -> Array:
    """The numbers of categories, one for each row."""
    made = arrays.make((rows,), dtype)
    if categories is not None:
        made.slots["numbered"] = frozenset({categories})
    return made


def own_categories(name: Value, data: Array, site: Site, drawn: bool = False) -> Numbered | None:
    """The categories of a column of this table alone; None where it is not known which table that is. `drawn`: those of a sample
    of the rows are the categories of all."""
    source = data.slots.get("drawn" if drawn else "source", data.slots.get("source", data.identity))
    return None if source is None or not isinstance(name, str) else Numbered(name, source, site)


def put(
    interp: Interpreter,
    table: LibraryObject,
    changes: Sequence[tuple[Value, Value]],
    as_column: Callable[[Value], Array],
) -> None:
    """``table[name] = value`` for each of these. `as_column`: a value as a column of the table."""
    columns = columns_of(interp, table)
    held = None if columns is None else dict(columns)
    for name, value in changes:
        if not isinstance(name, str | int):
            held = None
        if held is not None and isinstance(name, str | int):
            held[name] = as_column(value)
    interp.heap.set(table.slots, "columns", None if held is None else tuple(held.items()))


def selected(columns: Columns | None, names: tuple[str | int, ...] | None) -> Columns | None:
    """The columns of these names in that order; None where one of them is missing or nothing is known."""
    held = dict(named(columns))
    if columns is None or names is None or any(name not in held for name in names):
        return None
    return tuple((name, held[name]) for name in names)


def named(columns: Columns | None) -> list[tuple[str | int, Array]]:
    """Those of the columns that have a name."""
    return [(name, array) for name, array in columns or () if not isinstance(name, Further)]


def dropped(columns: Columns | None, names: tuple[str | int, ...] | None) -> Columns | None:
    """The columns without those of these names."""
    if columns is None or names is None:
        return None
    return tuple((name, array) for name, array in columns if name not in names)


def sliced(items: tuple[_ItemT, ...], key: SliceValue) -> tuple[_ItemT, ...] | None:
    """The items in a slice; None where its bounds are not known."""
    bounds = of_kind((key.start, key.stop, key.step), int)
    if len(bounds) + (key.start, key.stop, key.step).count(None) < 3:
        return None
    return items[as_kind(key.start, int) : as_kind(key.stop, int) : as_kind(key.step, int)]


def is_table(value: Value) -> bool:
    return is_object(value, FRAME, SERIES)


def labels_of(columns: Columns | None) -> tuple[str | int, ...] | None:
    """The names of the columns, None where they are not all known."""
    names = [name for name, _ in named(columns)]
    return None if columns is None or len(names) < len(columns) else tuple(names)


def row(interp: Interpreter, columns: Columns | None) -> LibraryObject:
    """A row of a table. Numbers of several dtypes are of one in it; beside text, each is as in its column."""
    labels = labels_of(columns)
    dtype = None if columns is None else common_dtype(array.spec.dtype for _, array in columns)
    size = interp.fresh_size("columns", positive=False) if columns is None else width(columns)
    made = series(arrays.make((size,), dtype), labels)
    whole = made.slots["data"]
    held = tuple(array if dtype == "object" else whole for _, array in columns or ())
    made.slots["cells"] = None if labels is None else tuple(map(element, held))
    return made


def cell(one: LibraryObject, label: Value) -> Value | None:
    """The cell of a row by the name of its column; None where it is not known."""
    labels, cells = one.slots.get("labels"), one.slots.get("cells")
    if not isinstance(labels, tuple) or not isinstance(cells, tuple) or label not in labels:
        return None
    found: Value = cells[labels.index(label)]
    return found


def of_ufunc(interp: Interpreter, result: Value, operands: Sequence[Value]) -> Value:
    """The result of an elementwise function of NumPy for a table: a table of the same shape."""
    owner = next(one for one in operands if is_table(one))
    array = as_kind(result, Array)
    if not is_object(owner, SERIES) or array is None or array.spec.shape is None or len(array.spec.shape) != 1:
        return UNKNOWN
    return series(array, owner.slots.get("labels"), of_index=owner.slots.get("of_index") is True)


__all__ = [
    "FRAME", "Further", "INDEX", "SERIES", "Columns", "as_array", "cell", "columns_of", "common_dtype", "data_of", "dropped", "element", "frame",
    "index", "is_table", "keep_categories", "labels_of", "named", "names_in", "numbered", "of_ufunc", "own_categories", "put", "resized", "resized_array", "row", "rows_of", "selected", "series", "sliced", "width", "with_rows",
]  # fmt: skip

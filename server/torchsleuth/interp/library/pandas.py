"""pandas: tables by their columns, rows and dtypes, as far as an array, a tensor or a layer's width is made of them."""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Sequence

from torchsleuth.installed import version_of
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import array_dtypes, arrays, configuration, csv_files, files, joins, tables
from torchsleuth.interp.library.dates import DATES, Dates
from torchsleuth.interp.library.tables import Columns
from torchsleuth.interp.models import Model, Result, attribute, method, models
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size, is_index
from torchsleuth.tensors.spec import Failure
from torchsleuth.values import (
    UNKNOWN,
    Array,
    Bound,
    DictValue,
    LibraryObject,
    ListValue,
    Numbered,
    Scalar,
    Several,
    SliceValue,
    Value,
    elements_of,
    is_int,
    is_object,
    is_of,
    items_of,
    tuple_of,
)
from torchsleuth.values.frames import Frame

_COMPARISONS = frozenset("eq ne lt le gt ge".split())
_INDEXERS = ("iloc", "loc", "iat", "at")
_INDEXER = "pandas.DataFrame"
_SAME_ROWS = frozenset(
    "fillna ffill bfill interpolate sort_values sort_index infer_objects convert_dtypes replace clip round abs".split()
)
"""Methods that give a table of as many rows, whose columns are as before but for their dtypes."""
_FEWER_ROWS = frozenset("dropna drop_duplicates query nlargest nsmallest truncate".split())
_FLOATS_STAY = tuple("shift diff pct_change fillna ffill bfill cumsum".split())
"""Methods of a column that make floats of floats."""
_CHANGING = frozenset("update eval isetitem".split())
_STATISTICS = frozenset("mean std var median min max sum quantile sem skew kurt".split())


# -- making tables ---------------------------------------------------------------------------------


def _column(interp: Interpreter, value: Value, rows: Size | None, place: Frame) -> Array:
    """A value as a column: an array of one dimension."""
    array = arrays.as_array(interp, value, place)
    shape = None if array is None else arrays.shape_of(interp, array)
    own = shape[0] if shape is not None and len(shape) == 1 else interp.fresh_size("rows", positive=False)
    dtype = None if array is None else "object" if array.spec.dtype == "str" else array.spec.dtype
    made = arrays.make((own if rows is None else rows,), dtype)
    if array is not None and shape is not None and len(shape) == 1:
        made.slots["spread"], made.slots["bounds"] = array.slots["spread"], array.slots["bounds"]
        tables.keep_categories(array, made)
    return made


def _rows_in(interp: Interpreter, values: Sequence[Value], place: Frame) -> Size | None:
    """The number of rows that the first of these columns tells."""
    for value in values:
        array = arrays.as_array(interp, value, place)
        shape = None if array is None else arrays.shape_of(interp, array)
        if shape:
            return shape[0]
    return None


def _length_of(interp: Interpreter, index: Value) -> Size | None:
    """The number of rows that an index is for."""
    if is_object(index, DATES):
        return Dates(interp, index).rows
    return None


@models(tables.FRAME)
class DataFrame(Model):
    """A table, by its columns."""

    value: LibraryObject

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        given, names = interp.resolved(call.given(0, "data")), call.given(2, "columns")
        if not call.exact or call.kwargs.keys() - {"data", "columns", "index", "copy"}:
            return tables.frame(interp, None)
        labels = None if names is None else tables.names_in(names)
        match given:
            case None:
                index = call.given(1, "index")
                columns: Columns | None = None if names is not None and labels is None else ()
                rows: Size | None = 0 if index is None else _length_of(interp, index)
                if labels:
                    columns = tuple((name, arrays.make((interp.fresh_size("rows"),), None)) for name in labels)
                return tables.frame(interp, columns, rows)
            case DictValue():
                return cls._of_dict(interp, given, names, labels, call)
            case LibraryObject() if is_object(given, tables.FRAME):
                made = tables.with_rows(interp, given, tables.rows_of(interp, given), kept=True)
                if names is not None:
                    made.slots["columns"] = tables.selected(tables.columns_of(interp, made), labels)
                return made
        array = arrays.as_array(interp, given, call.frame) if isinstance(given, Array) else None
        shape = None if array is None else arrays.shape_of(interp, array)
        if array is not None and shape is not None and len(shape) == 2 and isinstance(shape[1], int):
            labels = tuple(range(shape[1])) if names is None else labels
            dtype = array.spec.dtype
            known = None if labels is None else tuple((name, arrays.make((shape[0],), dtype)) for name in labels)
            return tables.frame(interp, known, shape[0])
        return cls._of_list(interp, given, names, labels, call)

    @staticmethod
    def _of_dict(
        interp: Interpreter, given: DictValue, names: Value, labels: tuple[str | int, ...] | None, call: Arguments
    ) -> Value:
        items = given.items
        rows = None if items is None else _rows_in(interp, list(items.values()), call.frame)
        if items is None or (names is not None and labels is None):
            return tables.frame(interp, None, rows)
        rows = interp.fresh_size("rows", positive=False) if rows is None else rows
        known = all(isinstance(name, str | int) for name in items)
        columns = tuple((name, _column(interp, value, rows, call.frame)) for name, value in items.items())
        kept = columns if labels is None else tables.selected(columns, labels)
        return tables.frame(interp, kept if known else None, rows)

    @staticmethod
    def _of_list(
        interp: Interpreter, given: Value, names: Value, labels: tuple[str | int, ...] | None, call: Arguments
    ) -> Value:
        """Of rows: each of them a dict, whose keys are the names, or a tuple."""
        held = elements_of(given) if isinstance(given, ListValue | tuple) else None
        rows = len(held) if type(held) is tuple else None
        keys = [as_kind(one, DictValue) for one in held or ()]
        first = keys[0].items if keys and keys[0] is not None else None
        if names is None and first is not None and all(one is not None and one.items is not None for one in keys):
            alike = all(one is not None and one.items is not None and one.items.keys() == first.keys() for one in keys)
            labels = tuple(first) if alike and all(isinstance(name, str | int) for name in first) else None
        count = interp.fresh_size("rows", positive=False) if rows is None else rows
        columns = None if labels is None else tuple((name, arrays.make((count,), None)) for name in labels)
        return tables.frame(interp, columns, count)

    # -- what it is

    @property
    def columns(self) -> Columns | None:
        return tables.columns_of(self.interp, self.value)

    @property
    def rows(self) -> Size:
        return tables.rows_of(self.interp, self.value)

    def length(self, frame: Frame) -> Size | None:
        return self.rows

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        names = tables.labels_of(self.columns)
        return super().iterate(node, frame) if names is None else Iteration(names, exact=True)

    def as_array(self, frame: Frame) -> Array | None:
        return tables.as_array(self.interp, self.value)

    def for_torch(self, name: str, frame: Frame) -> Array | Failure | None:
        if name == "from_numpy":
            return _no_array("DataFrame")
        return Failure("ValueError", "could not determine the shape of object type 'DataFrame'", confirmed=True)

    def get(self, node: ast.AST, frame: Frame) -> Value:
        if self.name in self.attributes:
            return self.attributes[self.name](self, node, frame)
        held = dict(tables.named(self.columns))
        if self.name in held and self.name not in self.methods:
            return tables.series(held[self.name], name=self.name)
        return Bound(self.value, self.name)

    @attribute
    def shape(self, node: ast.AST, frame: Frame) -> Value:
        array = tables.as_array(self.interp, self.value)
        return UNKNOWN if array is None or array.spec.shape is None else array.spec.shape

    @attribute("columns")
    def names(self, node: ast.AST, frame: Frame) -> Value:
        return tables.index(tables.labels_of(self.columns))

    @attribute
    def values(self, node: ast.AST, frame: Frame) -> Value:
        return tables.as_array(self.interp, self.value)

    @attribute("index", "dtypes", "T", "size", "axes", "ndim", "empty", "plot", "style", "attrs")
    def not_modelled(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN

    @attribute(*_INDEXERS)
    def indexer(self, node: ast.AST, frame: Frame) -> Value:
        return LibraryObject(f"{_INDEXER}.{self.name}", (self.value,), {}, None)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        key = self.interp.resolved(key)
        held = self.columns
        if isinstance(key, str | int):
            found = dict(tables.named(held)).get(key)
            return UNKNOWN if found is None else tables.series(found, name=key)
        if isinstance(key, SliceValue) or _is_mask(self.interp, key):
            return tables.with_rows(self.interp, self.value, None)
        if isinstance(key, ListValue) or is_object(key, tables.INDEX):
            names = tables.names_in(key)
            if names is not None and held is None:
                held = tuple((name, arrays.make((self.rows,), None)) for name in names)
            return tables.frame(self.interp, tables.selected(held, names), self.rows)
        return UNKNOWN

    def set_item(self, key: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        interp, key = self.interp, self.interp.resolved(key)
        rows = self.rows
        if rows == 0:
            rows = _rows_in(interp, [value], frame) or interp.fresh_size("rows", positive=False)
            interp.heap.set(self.value.slots, "rows", rows)
        names = (key,) if isinstance(key, str | int) else tables.names_in(key)
        if names is None:
            interp.heap.set(self.value.slots, "columns", None)
            return
        array = value if isinstance(key, str | int) else arrays.as_array(interp, value, frame)
        dtype = array.spec.dtype if isinstance(array, Array) else None
        changes = [(name, value if isinstance(key, str | int) else arrays.make((rows,), dtype)) for name in names]
        tables.put(interp, self.value, changes, lambda one: _column(interp, one, rows, frame))

    def delete_item(self, key: Value, node: ast.AST, frame: Frame) -> None:
        names = (key,) if isinstance(key, str | int) else None
        self.interp.heap.set(self.value.slots, "columns", tables.dropped(self.columns, names))

    def combined(self, name: str, left: Value, right: Value, frame: Frame) -> Value:
        """An operator, column by column."""
        other = right if left is self.value else left
        held = self.columns
        if is_object(other, tables.FRAME):
            labels = tables.labels_of(tables.columns_of(self.interp, other))
            held = held if labels is not None and labels == tables.labels_of(held) else None
        elif not _is_number(self.interp, other):
            labels = tables.names_in(other) if is_object(other, tables.SERIES) else None
            held = held if labels is not None and labels == tables.labels_of(held) else None
        rows = self.rows
        computed = tuple(
            (key, arrays.make((rows,), _dtype_of_result(self.interp, name, one, other, frame)))
            for key, one in held or ()
        )
        return tables.frame(self.interp, None if held is None else computed, rows)

    # -- methods

    @method("to_numpy")
    def numbers(self, call: Arguments) -> Value:
        made = tables.as_array(self.interp, self.value)
        asked = call.given(0, "dtype")
        if made is None or asked is None:
            return made
        converted = arrays.make(made.spec.shape, array_dtypes.dtype_of(asked))
        arrays.keep_numbered(made, converted)
        return converted

    @method
    def copy(self, call: Arguments) -> Value:
        return self._with(self.columns)

    @method
    def drop(self, call: Arguments) -> Value:
        labels, axis = call.given(0, "labels"), self.interp.resolved(call.given(1, "axis", 0))
        of_columns = call.kwargs.get("columns", labels if axis in (1, "columns") else None)
        if of_columns is None:
            return self._replaced(call, tables.with_rows(self.interp, self.value, None))
        names = (of_columns,) if isinstance(of_columns, str | int) else tables.names_in(of_columns)
        plain = "index" not in call.kwargs
        return self._replaced(call, self._with(tables.dropped(self.columns, names) if plain else None))

    @method
    def pop(self, call: Arguments) -> Value:
        key = call.given(0, "item")
        found = self.item(key, call.node, call.frame)
        self.delete_item(key, call.node, call.frame)
        return found

    @method
    def insert(self, call: Arguments) -> Value:
        place, name, held = self.interp.resolved(call.given(0, "loc")), call.given(1, "column"), self.columns
        if (
            held is None
            or tables.labels_of(held) is None
            or not isinstance(place, int)
            or not isinstance(name, str | int)
            or place > len(held)
        ):
            self.interp.heap.set(self.value.slots, "columns", None)
            return None
        new = (name, _column(self.interp, call.given(2, "value"), self.rows, call.frame))
        self.interp.heap.set(self.value.slots, "columns", (*held[:place], new, *held[place:]))
        return None

    @method
    def assign(self, call: Arguments) -> Value:
        made = self._with(self.columns)
        rows = self.rows
        changes = list(call.kwargs.items())
        tables.put(self.interp, made, changes, lambda one: _column(self.interp, one, rows, call.frame))
        if not call.exact:
            made.slots["columns"] = None
        return made

    @method
    def rename(self, call: Arguments) -> Value:
        given, held = as_kind(call.kwargs.get("columns"), DictValue), self.columns
        names = None if given is None else given.items
        if names is None or held is None or not all_are(names.values(), str):
            return self._replaced(call, self._with(None))
        return self._replaced(
            call, self._with(tuple((str(names[name]) if name in names else name, one) for name, one in held))
        )

    @method
    def reset_index(self, call: Arguments) -> Value:
        return self._replaced(call, self._with(self.columns if call.kwargs.get("drop") is True else None))

    @method
    def set_index(self, call: Arguments) -> Value:
        key = call.given(0, "keys")
        names = (key,) if isinstance(key, str | int) else tables.names_in(key)
        return self._replaced(call, self._with(tables.dropped(self.columns, names)))

    @method
    def astype(self, call: Arguments) -> Value:
        asked, held = call.given(0, "dtype"), self.columns
        if held is None:
            return self._with(None)
        single = array_dtypes.dtype_of(asked)
        each = asked.items if isinstance(asked, DictValue) else {name: single for name, _ in held}
        if each is None:
            return self._with(None)
        return self._with(
            tuple(
                (name, arrays.make((self.rows,), _asked_dtype(each[name], single)) if name in each else one)
                for name, one in held
            )
        )

    @method
    def sample(self, call: Arguments) -> Value:
        count, part = self.interp.resolved(call.given(0, "n")), call.given(1, "frac")
        rows = self.rows if part in (1, 1.0) and count is None else count if is_int(count) and part is None else None
        return tables.with_rows(self.interp, self.value, rows, kept=True)

    @method("head", "tail")
    def end(self, call: Arguments) -> Value:
        count = self.interp.resolved(call.given(0, "n", 5))
        positive = is_int(count) and not (isinstance(count, int) and count < 0)
        rows = dims.extremum("min", self.rows, count) if positive and is_int(count) else None
        return tables.with_rows(self.interp, self.value, rows)

    @method("iterrows")
    def each_row(self, call: Arguments) -> Value:
        return ListValue(Several(((UNKNOWN, tables.row(self.interp, self.columns)),)))

    @method("items", "iteritems")
    def each_column(self, call: Arguments) -> Value:
        held = self.columns
        if held is None or tables.labels_of(held) is None:
            return UNKNOWN
        return ListValue(tuple((name, tables.series(one)) for name, one in held))

    @method
    def merge(self, call: Arguments) -> Value:
        return joins.merged(self.interp, self.value, self.interp.resolved(call.given(0, "right")), call, 1)

    @method
    def join(self, call: Arguments) -> Value:
        return joins.joined(self.interp, self.value, call)

    @method("keys")
    def column_names(self, call: Arguments) -> Value:
        return tables.index(tables.labels_of(self.columns))

    @method
    def select_dtypes(self, call: Arguments) -> Value:
        return self._with(None)

    @method(*_STATISTICS)
    def statistic(self, call: Arguments) -> Value:
        labels = tables.labels_of(self.columns)
        if call.args or call.kwargs.keys() - {"ddof", "numeric_only", "skipna"} or labels is None:
            return UNKNOWN
        kinds = [one.spec.dtype for _, one in self.columns or ()]
        numeric = all(dtype in array_dtypes.NUMERIC for dtype in kinds)
        dtype = "float64" if self.name in ("mean", "std", "var", "median") else None
        return tables.series(arrays.make((len(labels),), dtype), labels) if numeric else UNKNOWN

    @method("agg", "aggregate")
    def aggregated(self, call: Arguments) -> Value:
        """A row for each of the statistics that are named."""
        names = items_of(self.interp.resolved(call.given(0, "func")))
        if names is None or len(call.args) + len(call.kwargs) != 1 or not all(one in _STATISTICS for one in names):
            return UNKNOWN
        columns = self.columns
        numeric = all(one.spec.dtype in array_dtypes.NUMERIC for _, one in columns or ())
        made = columns and numeric and tuple((name, arrays.make((len(names),), "float64")) for name, _ in columns)
        return tables.frame(self.interp, made or None, len(names))

    @method("info", "describe", "head_of", "hist", "memory_usage")
    def shown(self, call: Arguments) -> Value:
        return UNKNOWN

    @method("to_csv", "to_parquet", "to_pickle", "to_feather", "to_json", "to_excel", "to_hdf")
    def written(self, call: Arguments) -> Value:
        path = call.given(0, "path_or_buf")
        plain = self.name == "to_csv" and call.exact and call.kwargs.keys() <= {"path_or_buf", "index"}
        _keep(self.interp, path, self.value if plain else None, call)
        return None

    def other(self, call: Arguments) -> Value:
        if self.name in _FEWER_ROWS:
            columns = self.name != "dropna" or self.interp.resolved(call.given(0, "axis", 0)) in (0, "index")
            made = tables.with_rows(self.interp, self.value, None)
            if not columns:
                made.slots["columns"] = None
            return self._replaced(call, made)
        if self.name in _SAME_ROWS:
            return self._replaced(call, self._with(self._of_unknown_dtype()))
        self.interp.escape((*call.args, *call.kwargs.values()))
        if self.name in _CHANGING or call.kwargs.get("inplace", False) is not False or not call.exact:
            self.interp.heap.set(self.value.slots, "columns", None)
        return UNKNOWN

    def _of_unknown_dtype(self) -> Columns | None:
        """The columns, whose dtypes may be others: integers without gaps become floats with them, and the other way round."""
        held, same = self.columns, self.name in ("sort_values", "sort_index", "clip", "round", "abs")
        if held is None or same:
            return held
        return tuple(
            (name, one if (one.spec.dtype or "").startswith("float") else arrays.make((self.rows,), None))
            for name, one in held
        )

    def _with(self, columns: Columns | None) -> LibraryObject:
        return tables.frame(self.interp, columns, self.rows)

    def _replaced(self, call: Arguments, made: LibraryObject) -> Value:
        """The result of a method; with ``inplace=True``, the table itself becomes it."""
        if (asked := call.kwargs.get("inplace", False)) is False:
            return made
        for slot in ("columns", "rows"):
            self.interp.heap.set(self.value.slots, slot, made.slots[slot] if asked is True else None)
        return None


def _no_array(kind: str) -> Failure:
    return Failure("TypeError", f"expected np.ndarray (got {kind})", confirmed=True)


def _is_mask(interp: Interpreter, key: Value) -> bool:
    array = tables.as_array(interp, key) if tables.is_table(key) else as_kind(key, Array)
    return array is not None and array.spec.dtype == "bool"


def _is_number(interp: Interpreter, value: Value) -> bool:
    value = interp.resolved(value)
    return (
        is_int(value)
        or isinstance(value, int | float | Scalar)
        or (isinstance(value, Array) and value.spec.shape == ())
    )


def _dtype_of_result(interp: Interpreter, name: str, column: Array, other: Value, frame: Frame) -> str | None:
    """The dtype that an operator makes of a column and a number, or the elements of something else."""
    if name in _COMPARISONS:
        return "bool"
    array = tables.as_array(interp, other) or as_kind(other, Array)
    against = other if array is None else arrays.make((), array.spec.dtype)
    if column.spec.dtype not in array_dtypes.NUMERIC:
        return None
    made = arrays.binary(interp, name, arrays.make((), column.spec.dtype), against, frame)
    return made.spec.dtype if isinstance(made, Array) else None


def _asked_dtype(asked: Value, known: str | None) -> str | None:
    dtype = known if known is not None else array_dtypes.dtype_of(asked)
    return "object" if dtype == "str" else dtype


# -- rows and cells --------------------------------------------------------------------------------


@models(*(f"{_INDEXER}.{name}" for name in _INDEXERS))
class Indexer(Result):
    """``table.iloc`` and its like: items by position or by label."""

    @property
    def table(self) -> LibraryObject:
        table: LibraryObject = self.value.args[0]
        return table

    @property
    def by_place(self) -> bool:
        return self.value.path.rpartition(".")[2].startswith("i")

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        interp, keys = self.interp, tuple_of(self.interp.resolved(key))
        if is_object(self.table, tables.SERIES):
            return _part_of_series(interp, self.table, keys[0], frame) if len(keys) == 1 else UNKNOWN
        if len(keys) > 2:
            return UNKNOWN
        held = tables.columns_of(interp, self.table)
        chosen, single = self._columns(held, interp.resolved(keys[1])) if len(keys) == 2 else (held, None)
        at = interp.resolved(keys[0])
        one_row = is_int(at) or (isinstance(at, Array) and at.spec.shape == ()) or isinstance(at, str | Scalar)
        if single is not None:
            return tables.element(single) if one_row else _part_of_series(interp, tables.series(single), at, frame)
        if one_row:
            return tables.row(interp, chosen)
        rows = self._rows(at, frame)
        return tables.frame(interp, None if chosen is None else tables.resized(chosen, rows, False), rows)

    def _rows(self, key: Value, frame: Frame) -> Size:
        """How many rows a slice, a mask or a list selects."""
        interp, rows = self.interp, tables.rows_of(self.interp, self.table)
        whole = isinstance(key, SliceValue) and key.start is None and key.stop is None
        if whole and isinstance(key, SliceValue) and key.step in (None, 1, -1):
            return rows
        exact = self.by_place or _is_mask(interp, key)  # Several rows may have one label.
        part = arrays.get_item(interp, arrays.make((rows,), "float64"), key, frame) if exact else None
        shape = arrays.shape_of(interp, part) if isinstance(part, Array) else None
        return shape[0] if shape else interp.fresh_size("rows", positive=False)

    def _columns(self, held: Columns | None, key: Value) -> tuple[Columns | None, Array | None]:
        """The columns that are selected, or the only one."""
        if held is None:
            return None, arrays.make((tables.rows_of(self.interp, self.table),), None) if isinstance(
                key, int | str
            ) else None
        if not self.by_place:
            names = tables.names_in(key)
            if isinstance(key, str | int):
                return None, dict(tables.named(held)).get(
                    key, arrays.make((tables.rows_of(self.interp, self.table),), None)
                )
            whole = isinstance(key, SliceValue) and key.start is None and key.stop is None
            return (
                (held, None)
                if whole
                else (_between(held, key), None)
                if names is None
                else (tables.selected(held, names), None)
            )
        if tables.labels_of(held) is None:
            return None, arrays.make((tables.rows_of(self.interp, self.table),), None) if isinstance(key, int) else None
        if isinstance(key, int):
            return None, held[key][1] if is_index(key, held) else None
        if isinstance(key, SliceValue):
            return tables.sliced(held, key), None
        places = tables.names_in(key)
        if places is None or not all(isinstance(place, int) and is_index(place, held) for place in places):
            return None, None
        return tuple(held[int(place)] for place in places), None

    def set_item(self, key: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        """A write into some cells: of the column that it names, or of any."""
        if not is_object(self.table, tables.FRAME):
            self.interp.heap.set(self.table.slots, "data", None)
            return
        keys = tuple_of(key)
        held = tables.columns_of(self.interp, self.table)
        names = tables.labels_of(held) or ()
        name = keys[1] if len(keys) == 2 and not self.by_place else None
        grows = not (isinstance(keys[0], SliceValue) or _is_mask(self.interp, keys[0])) and not self.by_place
        if grows:
            self.interp.heap.set(self.table.slots, "rows", None)
        may_add = len(keys) == 2 and not self.by_place and not isinstance(name, SliceValue) and name not in names
        if held is None or may_add or grows:
            self.interp.heap.set(self.table.slots, "columns", None)
            return
        rows = tables.rows_of(self.interp, self.table)
        floats = is_of(self.interp.resolved(value), float)
        kept = tuple(
            (
                one,
                array
                if name not in (None, one) or (floats and array.spec.dtype == "float64")
                else arrays.make((rows,), None),
            )
            for one, array in held
        )
        self.interp.heap.set(self.table.slots, "columns", kept)


def _between(held: Columns, key: Value) -> Columns | None:
    """The columns of a slice of labels, with both ends."""
    names = [name for name, _ in held]
    if not isinstance(key, SliceValue) or key.step is not None:
        return None
    start, stop = key.start, key.stop
    if (start is not None and start not in names) or (stop is not None and stop not in names):
        return None
    first = 0 if start is None else names.index(start)
    return held[first : len(held) if stop is None else names.index(stop) + 1]


def _part_of_series(interp: Interpreter, owner: LibraryObject, key: Value, frame: Frame) -> Value:
    data = tables.data_of(interp, owner)
    if is_int(key) or (isinstance(key, Array) and key.spec.shape == ()):
        return tables.element(data)
    part = arrays.get_item(interp, data, key, frame)
    shape = arrays.shape_of(interp, part) if isinstance(part, Array) else None
    rows = shape[0] if shape else interp.fresh_size("rows", positive=False)
    return tables.series(arrays.make((rows,), data.spec.dtype))


# -- columns ---------------------------------------------------------------------------------------


def by_label(interp: Interpreter, owner: LibraryObject, node: ast.AST, frame: Frame) -> None:
    """Note an element of a column that was split at random, which a data set looks up by the number of the sample."""
    function = frame.function
    if function is not None and function.name == "__getitem__" and not interp.guarded:
        interp.trace.data.append(DataFault("by label", interp.site(node, frame), values=(owner, owner.slots["split"])))


@models(tables.SERIES)
class Series(Model):
    """A column of a table, or a row."""

    value: LibraryObject

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        given = interp.resolved(call.given(0, "data"))
        if not call.exact or isinstance(given, DictValue) or "dtype" in call.kwargs:
            return UNKNOWN
        return tables.series(_column(interp, given, None, call.frame))

    @property
    def data(self) -> Array:
        return tables.data_of(self.interp, self.value)

    @property
    def rows(self) -> Size:
        shape = arrays.shape_of(self.interp, self.data)
        return shape[0] if shape else self.interp.fresh_size("rows", positive=False)

    def length(self, frame: Frame) -> Size | None:
        return self.rows

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return Iteration((tables.element(self.data),), exact=False, count=self.rows)

    def as_array(self, frame: Frame) -> Array | None:
        return self.data

    def for_torch(self, name: str, frame: Frame) -> Array | Failure | None:
        if name == "from_numpy":
            return _no_array("Series")
        dtype = self.data.spec.dtype
        return arrays.make((self.rows,), dtype if dtype in ("float64", "int64", "bool") else None)

    def get(self, node: ast.AST, frame: Frame) -> Value:
        if self.name in self.attributes:
            return self.attributes[self.name](self, node, frame)
        found = tables.cell(self.value, self.name)
        return Bound(self.value, self.name) if found is None or self.name in self.methods else found

    @attribute
    def shape(self, node: ast.AST, frame: Frame) -> Value:
        return (self.rows,)

    @attribute("values", "array")
    def numbers(self, node: ast.AST, frame: Frame) -> Value:
        """Of text, an array of objects, or since pandas 3 one of strings."""
        if self.data.spec.dtype in array_dtypes.NUMERIC:
            return self.data
        made = arrays.make((self.rows,), None)
        arrays.keep_numbered(self.data, made)
        return made

    @attribute
    def dtype(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN

    @attribute("iloc", "loc", "iat", "at")
    def indexer(self, node: ast.AST, frame: Frame) -> Value:
        return LibraryObject(f"{_INDEXER}.{self.name}", (self.value,), {}, None)

    @attribute("index", "name", "str", "dt", "plot", "size", "T", "empty", "hasnans", "is_unique")
    def not_modelled(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN

    @attribute
    def cat(self, node: ast.AST, frame: Frame) -> Value:
        return LibraryObject("pandas.Series.cat", (self.value,), {}, None)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        key = self.interp.resolved(key)
        labels = self.value.slots.get("labels")
        if (found := tables.cell(self.value, key)) is not None:
            return found
        if "split" in self.value.slots and isinstance(key, Dim | int):
            by_label(self.interp, self.value, node, frame)
        if labels is not None:
            names = tables.names_in(key) if isinstance(key, ListValue) else None
            if names is None and isinstance(key, SliceValue) and isinstance(labels, tuple):
                names = tables.sliced(labels, key)
            return UNKNOWN if names is None else tables.series(arrays.make((len(names),), self.data.spec.dtype), names)
        return _part_of_series(self.interp, self.value, key, frame)

    def set_item(self, key: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        self.interp.heap.set(self.value.slots, "data", arrays.make((self.rows,), None))

    def combined(self, name: str, left: Value, right: Value, frame: Frame) -> Value:
        if is_object(left, tables.FRAME) or is_object(right, tables.FRAME):
            one = left if is_object(left, tables.FRAME) else right
            return DataFrame(self.interp, one).combined(name, left, right, frame)
        labels = self.value.slots.get("labels")
        other = self.interp.resolved(right if left is self.value else left)
        dtype = _dtype_of_result(self.interp, name, self.data, other, frame)
        result = arrays.make((self.rows,), dtype)
        of_index = self.value.slots.get("of_index") is True
        return result if of_index and name in _COMPARISONS else tables.series(result, labels, of_index=of_index)

    @method("to_numpy")
    def as_numbers(self, call: Arguments) -> Value:
        asked = call.given(0, "dtype")
        if asked is None:
            return self.numbers(call.node, call.frame)
        converted = arrays.make((self.rows,), array_dtypes.dtype_of(asked))
        arrays.keep_numbered(self.data, converted)
        return converted

    @method
    def astype(self, call: Arguments) -> Value:
        asked = call.given(0, "dtype")
        if asked == "category":
            made = arrays.make((self.rows,), None)
            site = self.interp.site(call.node, call.frame)
            own = tables.own_categories(self.value.slots.get("name"), self.data, site)
            made.slots["categories"] = self.data.slots.get("categories", own)
            return tables.series(made, name=self.value.slots.get("name"))
        dtype = _asked_dtype(asked, array_dtypes.dtype_of(asked))
        made = arrays.make((self.rows,), dtype)
        if dtype is not None and array_dtypes.kind_of(dtype) == "int":
            made.slots["spread"] = self.data.slots["spread"]
        arrays.keep_numbered(self.data, made)
        return tables.series(made, self.value.slots.get("labels"), self.value.slots.get("name"))

    @method("tolist", "to_list")
    def listed(self, call: Arguments) -> Value:
        dtype = self.data.spec.dtype or ""
        kind = array_dtypes.kind_of(dtype) if dtype in array_dtypes.NUMERIC else ""
        element = (
            self.interp.fresh_size("?", positive=False)
            if kind in ("int", "uint")
            else Scalar(kind)
            if kind
            else UNKNOWN
        )
        rows = self.rows
        if isinstance(rows, int) and not is_int(element) and rows <= 64:
            return ListValue((element,) * rows)
        return ListValue(Several.counted((element,), rows))

    @method
    def unique(self, call: Arguments) -> Value:
        return arrays.make((self.interp.fresh_size("?", positive=False),), self.data.spec.dtype)

    @method
    def nunique(self, call: Arguments) -> Value:
        spread = self.data.slots["spread"]
        return spread.high - spread.low + 1 if spread is not None and spread.whole else self.interp.fresh_size("?")

    @method("copy", "sort_values", "sort_index", "clip", "round", "abs")
    def alike(self, call: Arguments) -> Value:
        return tables.series(
            tables.resized_array(self.data, self.rows, kept=self.name in ("copy", "sort_values", "sort_index"))
        )

    @method("reset_index")
    def renumbered(self, call: Arguments) -> Value:
        return self.alike(call) if call.kwargs.get("drop") is True else UNKNOWN

    @method("isin", "isna", "isnull", "notna", "notnull", "between", "duplicated")
    def asked(self, call: Arguments) -> Value:
        return tables.series(arrays.make((self.rows,), "bool"))

    @method(*_FLOATS_STAY, "map", "apply", "replace", "rank", "where", "mask")
    def mapped(self, call: Arguments) -> Value:
        self.interp.escape((*call.args, *call.kwargs.values()))
        floats = self.data.spec.dtype == "float64" and self.name in _FLOATS_STAY
        if call.kwargs.get("inplace"):
            self.set_item(None, None, call.node, call.frame)
            return None
        return tables.series(arrays.make((self.rows,), "float64" if floats else None))

    @method("dropna", "drop_duplicates", "drop")
    def fewer(self, call: Arguments) -> Value:
        return tables.series(arrays.make((self.interp.fresh_size("rows", positive=False),), self.data.spec.dtype))

    @method("sample")
    def sampled(self, call: Arguments) -> Value:
        whole = call.kwargs.get("frac") in (1, 1.0)
        rows = self.rows if whole else self.interp.fresh_size("rows", positive=False)
        return tables.series(tables.resized_array(self.data, rows, kept=True))

    @method("mean", "std", "var", "median")
    def average(self, call: Arguments) -> Value:
        return Scalar("float") if self.data.spec.dtype in array_dtypes.NUMERIC else UNKNOWN

    @method("max", "min", "sum", "count")
    def extreme(self, call: Arguments) -> Value:
        spread = self.data.slots["spread"]
        if spread is not None and self.name in ("max", "min"):
            return spread.high if self.name == "max" else spread.low
        dtype = self.data.spec.dtype or ""
        kind = array_dtypes.kind_of(dtype) if dtype in array_dtypes.NUMERIC else ""
        whole = kind in ("int", "uint", "bool") or self.name == "count"
        return self.interp.fresh_size("?", positive=False) if whole else Scalar("float") if kind == "float" else UNKNOWN


_SMALL = 127
"""The most rows whose categories surely have numbers of 8 bits."""


def _code_dtype(rows: Size) -> str | None:
    """The dtype of the numbers of categories, of which there are no more than rows: the smallest that holds them."""
    return "int8" if isinstance(rows, int) and rows <= _SMALL else None


@models("pandas.Series.cat")
class Categories(Result):
    """``series.cat``: the categories of a column, and the number of each element among them."""

    @attribute
    def codes(self, node: ast.AST, frame: Frame) -> Value:
        owner = Series(self.interp, self.value.args[0])
        categories = as_kind(owner.data.slots.get("categories"), Numbered)
        return tables.series(tables.numbered(self.interp, categories, owner.rows, _code_dtype(owner.rows)))

    @attribute
    def categories(self, node: ast.AST, frame: Frame) -> Value:
        return tables.series(arrays.make((self.interp.fresh_size("categories"),), None))


@models("pandas.Categorical")
class Categorical(Model):
    """Elements of categories: those that are given, or those that occur."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        given = call.given(0, "values")
        if isinstance(given, Array | ListValue) and call.exact:
            given = tables.series(_column(interp, given, None, call.frame))
        if not is_object(given, tables.SERIES) or not call.exact:
            return UNKNOWN
        made = cls.object(interp, call)
        shared = len(call.args) > 1 or bool(call.kwargs.keys() - {"values"})
        own = tables.own_categories(
            given.slots.get("name"), tables.data_of(interp, given), interp.site(call.node, call.frame)
        )
        made.slots["categories"] = None if shared else own
        made.slots["rows"] = Series(interp, given).rows
        return made

    @attribute
    def codes(self, node: ast.AST, frame: Frame) -> Value:
        categories = as_kind(self.value.slots.get("categories"), Numbered)
        rows = self.value.slots["rows"]
        return tables.numbered(self.interp, categories, rows, _code_dtype(rows)) if is_int(rows) else UNKNOWN

    def as_array(self, frame: Frame) -> Array | None:
        made = arrays.make((self.value.slots["rows"],), "object")
        made.slots["categories"] = self.value.slots["categories"]
        return made


@models(tables.INDEX)
class Index(Result):
    """The names of the columns of a table."""

    @property
    def names(self) -> tuple[str | int, ...] | None:
        return tables.names_in(self.value)

    def length(self, frame: Frame) -> Size | None:
        return None if self.names is None else len(self.names)

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        return super().iterate(node, frame) if self.names is None else Iteration(self.names, exact=True)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        key, names = self.interp.resolved(key), self.names
        if names is None:
            return UNKNOWN
        if isinstance(key, int):
            return names[key] if is_index(key, names) else UNKNOWN
        return tables.index(tables.sliced(names, key)) if isinstance(key, SliceValue) else UNKNOWN

    def get(self, node: ast.AST, frame: Frame) -> Value:
        if self.name == "values" and self.names is not None:
            return ListValue(self.names)
        return Bound(self.value, self.name)

    @method("tolist", "to_list")
    def listed(self, call: Arguments) -> Value:
        return ListValue(None if self.names is None else self.names)

    @method("drop", "difference")
    def without(self, call: Arguments) -> Value:
        given = call.given(0, "labels", call.given(0, "other"))
        taken = (given,) if isinstance(given, str | int) else tables.names_in(given)
        if self.names is None or taken is None:
            return tables.index(None)
        return tables.index(tuple(name for name in self.names if name not in taken))

    def other(self, call: Arguments) -> Value:
        return UNKNOWN


# -- functions -------------------------------------------------------------------------------------


def _keep(interp: Interpreter, path: Value, table: LibraryObject | None, call: Arguments) -> None:
    """Remember what a file that the script writes holds."""
    key = files.key_of(interp, path)
    if key is None:
        return
    held = None if table is None else tables.with_rows(interp, table, tables.rows_of(interp, table))
    columns = None if held is None else tables.columns_of(interp, held)
    if held is not None and columns is not None and tables.labels_of(columns) is None:
        held.slots["columns"] = None
    elif held is not None and columns is not None:
        read = {"bool": "bool", **dict.fromkeys(array_dtypes.NUMERIC, None)}
        read |= dict.fromkeys(("int64", "int32", "int16", "int8"), "int64") | dict.fromkeys(
            ("float64", "float32"), "float64"
        )
        columns = tuple(
            (
                str(name),
                arrays.make(one.spec.shape, "object" if "words" in one.slots else read.get(one.spec.dtype or "")),
            )
            for name, one in columns
        )
        if call.kwargs.get("index", True) is not False:
            rows = tables.rows_of(interp, held)
            columns = (("Unnamed: 0", arrays.make((rows,), None)), *columns)
        held.slots["columns"] = columns
    interp.heap.set(interp.files.slots, ("text", key), held)


_WHOLE, _NUMBER = (
    re.compile(r"[+-]?[0-9]{1,18}"),
    re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE),
)
_READ_AS_IT_IS = frozenset({"filepath_or_buffer", "sep", "encoding", "low_memory"})


@models(
    "pandas.read_csv",
    "pandas.read_table",
    "pandas.read_excel",
    "pandas.read_parquet",
    "pandas.read_feather",
    "pandas.read_pickle",
)
def _read(interp: Interpreter, call: Arguments) -> Value:
    path = call.given(0, "filepath_or_buffer", call.given(0, "path"))
    names = tables.names_in(call.kwargs["names"]) if "names" in call.kwargs else None
    if (
        not call.exact
        or not isinstance(path, str | Scalar | LibraryObject)
        or call.kwargs.keys() & {"chunksize", "iterator"}
    ):
        return UNKNOWN
    plain = call.name == "read_csv" and len(call.args) <= 1 and call.kwargs.keys() <= _READ_AS_IT_IS
    key = files.key_of(interp, path)
    written = interp.files.slots.get(("text", key)) if key is not None else None
    by_row = csv_files.table(interp, written) if plain else None
    if by_row is not None:
        return _from_file(by_row, key)
    if plain and is_object(written, tables.FRAME):
        return _from_file(tables.with_rows(interp, written, tables.rows_of(interp, written)), key)
    if plain and key is not None and call.kwargs.keys() <= {"filepath_or_buffer"}:
        known = configuration.written_text(interp, written)
        if known is not None and (table := _parsed(interp, known)) is not None:
            return _from_file(table, key)
    if names is not None and call.kwargs.keys() <= {"names", "header", "sep", "encoding"}:
        rows = interp.fresh_size("rows", positive=False)
        table = tables.frame(interp, tuple((name, arrays.make((rows,), None)) for name in names), rows)
        return _from_file(table, key)
    return tables.frame(interp, None)


def _from_file(table: LibraryObject, key: object) -> LibraryObject:
    """A table that was read: whoever reads the same file has the same one."""
    for name, column in table.slots["columns"] or ():
        column.slots["source"] = None if key is None else (key, name)
    return table


def _parsed(interp: Interpreter, text: str) -> LibraryObject | None:
    """The table in a text of values with commas between them."""
    try:
        lines = [line for line in csv.reader(io.StringIO(text)) if line]
    except csv.Error:
        return None
    if not lines or any(len(line) != len(lines[0]) for line in lines) or len(set(lines[0])) < len(lines[0]):
        return None
    count, columns = len(lines) - 1, zip(*lines[1:]) if len(lines) > 1 else ((),) * len(lines[0])
    made = tuple((name, arrays.make((count,), _read_dtype(cells))) for name, cells in zip(lines[0], columns))
    return tables.frame(interp, made, count)


def _read_dtype(cells: Sequence[str]) -> str | None:
    """The dtype of a column of a file, where it is one of numbers without gaps."""
    for dtype, form in (("int64", _WHOLE), ("float64", _NUMBER)):
        if cells and all(map(form.fullmatch, cells)):
            return dtype
    return None


@models("pandas.concat")
def _concat(interp: Interpreter, call: Arguments) -> Value:
    """One below the other, or one beside the other."""
    held, axis = elements_of(interp.resolved(call.given(0, "objs"))), interp.resolved(call.given(1, "axis", 0))
    parts = [as_kind(one, LibraryObject) for one in held or ()]
    if type(held) is not tuple or not parts or any(not is_object(one, tables.FRAME) for one in parts):
        return UNKNOWN
    known = [tables.columns_of(interp, one) for one in parts if one is not None]
    first = next(one for one in parts if one is not None)
    if axis in (1, "columns"):
        whole = None if None in known else tuple(column for one in known for column in one or ())
        unique = whole is not None and len(dict(whole)) == len(whole)
        return tables.frame(interp, whole if unique else None, tables.rows_of(interp, first))
    rows: Size = 0
    for one in parts:
        rows = dims.add(rows, tables.rows_of(interp, one)) if one is not None else rows
    same = None not in known and len({tables.labels_of(one) for one in known}) == 1
    columns = []
    for place, (name, _) in enumerate(known[0] or () if same else ()):
        dtypes = [one[place][1].spec.dtype for one in known if one is not None]
        columns.append((name, arrays.make((rows,), dtypes[0] if len(set(dtypes)) == 1 else None)))
    return tables.frame(interp, tuple(columns) if same else None, rows)


_DUMMIES = frozenset("data columns dtype prefix prefix_sep drop_first dummy_na".split())


@models("pandas.get_dummies")
def _dummies(interp: Interpreter, call: Arguments) -> Value:
    """A column for each value of what is text, behind the others; of a single column, for each of its values."""
    given, asked = as_kind(call.given(0, "data"), LibraryObject), call.kwargs.get("columns")
    if given is None or not tables.is_table(given):
        return tables.frame(interp, None)
    single = is_object(given, tables.SERIES)
    rows = Series(interp, given).rows if single else tables.rows_of(interp, given)
    name = given.slots.get("name") if single else None
    held = tables.columns_of(interp, given) if not single else None
    if single and isinstance(name, str | int):
        held, asked = ((name, tables.data_of(interp, given)),), (name,)
    names = tables.names_in(asked) if asked is not None else _of_text(held)
    plain = call.exact and len(call.args) <= 1 and call.kwargs.keys() <= _DUMMIES
    if held is None or names is None or not plain or any(name not in dict(tables.named(held)) for name in names):
        return tables.frame(interp, None, rows)
    return tables.frame(interp, _encoded(interp, held, names, call, rows), rows)


def _encoded(interp: Interpreter, held: Columns, names: tuple[str | int, ...], call: Arguments, rows: Size) -> Columns:
    """The columns with those of these names replaced by one for each of their values."""
    # Since 2.0, it gives truths.
    usual = "bool" if (version_of("pandas") or (0, 0)) >= (2, 0) else None
    dtype = array_dtypes.dtype_of(call.kwargs["dtype"]) if call.kwargs.get("dtype") is not None else usual
    site, some = interp.site(call.node, call.frame), "drop_first" not in call.kwargs
    made: list[tables.Column] = [(name, one) for name, one in held if name not in names]
    for name in names:
        column = dict(tables.named(held))[name]
        own = column.slots.get("categories", tables.own_categories(name, column, site, drawn=True))
        count = interp.fresh_size(str(name), positive=some)
        made.append((tables.Further(name, count, site), tables.numbered(interp, own, rows, dtype)))
    return tuple(made)


def _of_text(columns: Columns | None) -> tuple[str | int, ...] | None:
    """The columns of text, None where it is not known of one whether it is such."""
    if columns is None or any(one.spec.dtype is None for _, one in columns):
        return None
    return tuple(name for name, one in tables.named(columns) if one.spec.dtype in array_dtypes.TEXT)


@models("pandas.factorize")
def _numbered(interp: Interpreter, call: Arguments) -> Value:
    given = call.given(0, "values")
    data = tables.as_array(interp, given)
    rows = data.spec.shape[0] if data is not None and data.spec.shape else interp.fresh_size("rows", positive=False)
    name = given.slots.get("name") if is_object(given, tables.SERIES) else None
    own = None if data is None else tables.own_categories(name, data, interp.site(call.node, call.frame))
    return tables.numbered(interp, own, rows, "int64"), UNKNOWN

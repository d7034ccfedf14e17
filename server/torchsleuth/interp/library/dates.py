"""pandas: the points in time that an index holds, by their number, and what is read off them: hours, days, months."""

from __future__ import annotations

import ast

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import arrays, tables
from torchsleuth.interp.models import Result, attribute, models
from torchsleuth.tensors.dims import Size
from torchsleuth.values import UNKNOWN, Bound, LibraryObject, Value, is_int
from torchsleuth.values.frames import Frame

DATES = "pandas.DatetimeIndex"
_PARTS = "year month day hour minute second dayofyear day_of_year weekday dayofweek day_of_week quarter days_in_month".split()


@models("pandas.date_range")
def _range(interp: Interpreter, call: Arguments) -> Value:
    periods = interp.resolved(call.given(2, "periods"))
    made = LibraryObject(DATES, (), {}, None)
    made.slots["rows"] = periods if is_int(periods) else interp.fresh_size("rows", positive=False)
    return made


@models(DATES)
class Dates(Result):
    """The index of a time series."""

    value: LibraryObject

    @property
    def rows(self) -> Size:
        rows = self.interp.resolved(self.value.slots.get("rows"))
        return rows if is_int(rows) else self.interp.fresh_size("rows", positive=False)

    def length(self, frame: Frame) -> Size | None:
        return self.rows

    def get(self, node: ast.AST, frame: Frame) -> Value:
        found = self.attributes.get(self.name)
        return Bound(self.value, self.name) if found is None else found(self, node, frame)

    @attribute(*_PARTS)
    def part(self, node: ast.AST, frame: Frame) -> Value:
        return tables.series(arrays.make((self.rows,), "int32"), of_index=True)

    @attribute("values", "date", "time", "tz", "freq", "name", "size", "shape", "dtype", "T")
    def not_modelled(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN

    def other(self, call: Arguments) -> Value:
        self.interp.escape((*call.args, *call.kwargs.values()))
        return UNKNOWN


__all__ = ["DATES", "Dates"]

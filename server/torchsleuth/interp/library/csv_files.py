"""Tables that a script writes row by row with Python's csv module, as far as their header and the kinds of their columns are known."""

from __future__ import annotations

import ast
import re

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import arrays, configuration, files, tables
from torchsleuth.interp.models import Model, method, models
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.syntax.forms import is_display
from torchsleuth.tensors.dims import Dim
from torchsleuth.values import UNKNOWN, DictValue, LibraryObject, Scalar, Value, elements_of, is_object, items_of

PATHS = ("csv.writer", "csv.DictWriter")
_WRITTEN = re.compile(r"0?\d*d|\.(\d+)f")
"""Format specifications after which a text is a number again."""


def table(interp: Interpreter, writer: Value) -> LibraryObject | None:
    """The table that pandas reads from what was written; None where that is not known, and for what is no writer."""
    if not is_object(writer, *PATHS) or writer.identity in interp.trace.escaped:
        return None
    header, kinds = writer.slots["header"], writer.slots["kinds"]
    if header is None:
        return None
    rows = interp.fresh_size("rows", positive=False)
    columns = tuple((name, arrays.make((rows,), _dtype(kinds.get(name, set())))) for name in header)
    return tables.frame(interp, columns, rows)


def _dtype(kinds: set[str | None]) -> str | None:
    """The dtype that pandas gives to cells of these kinds; None where it depends on them."""
    if kinds and kinds <= {"int", "float"}:
        return "float64" if "float" in kinds else "int64"
    return None


@models(*PATHS)
class CsvWriter(Model):
    """A writer of rows. Slot `header`: the names of the columns, None where they are not known. Slot `kinds`: by name, those of the
    cells that any call writes: what was seen once is not forgotten."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        file = call.given(0, "csvfile" if call.path == PATHS[0] else "f")
        made = LibraryObject(call.path, call.args, call.kwargs, interp.site(call.node, call.frame))
        plain = call.exact and not call.kwargs.keys() - {"csvfile", "f", "fieldnames"}
        names = items_of(interp.resolved(call.given(1, "fieldnames"))) if call.path == PATHS[1] else None
        made.slots["header"] = names if plain and names is not None and all_are(names, str) else None
        made.slots["kinds"], made.slots["plain"] = {}, plain
        key = files.key_of(interp, file.args[0]) if is_object(file, configuration.FILE) and file.args else None
        if key is None:
            return UNKNOWN
        interp.heap.set(interp.files.slots, ("text", key), made)
        return made

    @method
    def writeheader(self, call: Arguments) -> Value:
        return None

    @method
    def writerow(self, call: Arguments) -> Value:
        written = call.node.args[0] if isinstance(call.node, ast.Call) and call.node.args else None
        self._row(self.interp.resolved(call.first), written)
        return None

    @method
    def writerows(self, call: Arguments) -> Value:
        elements = elements_of(self.interp.resolved(call.first))
        for row in elements if elements is not None else (UNKNOWN,):
            self._row(self.interp.resolved(row), None)
        return None

    def _row(self, row: Value, written: ast.expr | None) -> None:
        slots, kinds = self.value.slots, self.value.slots["kinds"]
        by_name = as_kind(row, DictValue)
        if by_name is not None and by_name.items is not None and self.value.path == PATHS[1]:
            cells = dict(by_name.items)
            nodes = dict.fromkeys(cells)
        else:
            items = items_of(row)
            if slots["header"] is None and not kinds and slots["plain"] and items and all_are(items, str):
                slots["header"] = items if len(set(items)) == len(items) else None
                kinds[""] = {None}
                return
            names = slots["header"] or ()
            if items is None or len(items) != len(names):
                slots["header"] = None
                return
            cells = dict(zip(names, items))
            nodes = dict(zip(names, written.elts)) if is_display(written) else dict.fromkeys(names)
        for name, cell in cells.items():
            kinds.setdefault(name, set()).add(_kind(self.interp.resolved(cell), nodes.get(name)))


def _kind(cell: Value, node: ast.expr | None) -> str | None:
    """Whether a cell is a number when it is read again: one, or a text that is written as one."""
    match cell:
        case bool():
            return None
        case int() | Dim():
            return "int"
        case float():
            return "float"
        case Scalar(type=("int" | "float") as kind):
            return kind
    found = _WRITTEN.fullmatch(_format(node))
    return None if found is None else "float" if int(found[1] or 0) else "int"


def _format(node: ast.expr | None) -> str:
    """The specification of the only part of ``f"{x:.1f}"``."""
    match node:
        case ast.JoinedStr(
            values=[ast.FormattedValue(format_spec=ast.JoinedStr(values=[ast.Constant(value=str() as spec)]))]
        ):
            return spec
    return ""


__all__ = ["table"]

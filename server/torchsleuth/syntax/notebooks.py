"""Notebooks as programs: the code cells in order as one Python text, places in it as cell and line, and the way back.

The text has a line ``# %% [N]`` before each cell, N as a kernel would count when all cells are run: code cells with something in
them, from 1. Every line of a cell is one line of the text. What only IPython understands is translated line by line:

- installations, settings and help (``%pip``, ``!pip``, ``%matplotlib``, ``x?``) do nothing; other shell lines run in a shell;
- ``%time f()`` is ``f()``, ``%cd``, ``%env`` and ``%run`` do what they say;
- ``%%time``, ``%%timeit`` and ``%%capture`` leave the cell as it is, ``%%writefile`` writes it; cells of other languages do
  nothing.
"""

from __future__ import annotations

import ast
import copy
import io
import json
import re
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchsleuth.sifting import all_are, as_kind, of_kind

SUFFIX = ".ipynb"
MAX_BYTES = 50_000_000
"""Size of the largest notebook that is read: pictures lie in it as text."""
_MARKER = re.compile(r"^# %% \[(\d+)\]$", re.MULTILINE)
_LINE = re.compile(r"^(\s*)(?:(\w[\w\s,.]*?)\s*=\s*)?(!!?|%(?!=))\s*(.*)$", re.DOTALL)
_HELP = re.compile(r"^(\s*)(?:\?{1,2}\s*[\w.]+|[\w.*]+\s*\?{1,2})\s*$")
_BARE_INSTALL = re.compile(r"^(\s*)(?:pip3?|conda|mamba) (?:install|uninstall)\b")
_INSTALLS = re.compile(r"^(?:sudo |python3? -m |uv )*(?:pip3?|conda|mamba|apt|apt-get|brew|uv)\b")
_RUNS_CODE = frozenset({"time", "timeit", "prun", "memit"})
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "memit", "python", "python3", "px"})


class NotANotebook(ValueError):
    """A file that is no notebook of Python; the message says why."""


@dataclass(frozen=True)
class Cell:
    """A code cell: its place in the notebook's list, its lines, and the lines that stand for them in the text."""

    index: int
    lines: tuple[str, ...]
    translated: tuple[str, ...]


@dataclass(frozen=True)
class Notebook:
    """A notebook that was read; `data` is its JSON."""

    data: dict[str, Any]
    cells: tuple[Cell, ...]

    @property
    def text(self) -> str:
        """The program that the cells are."""
        parts = [[f"# %% [{number}]", *cell.translated] for number, cell in enumerate(self.cells, 1)]
        return "".join(f"{line}\n" for part in parts for line in part)

    def with_text(self, text: str) -> str:
        """The notebook's file after a change of that text. What nobody changed stays as it was."""
        bodies = _split(text, len(self.cells))
        if len(bodies) != len(self.cells):
            raise NotANotebook("the cells are not the same")
        data = copy.deepcopy(self.data)
        cells = _cells_of(data)
        for cell, body in zip(self.cells, bodies):
            if tuple(body) != cell.translated:
                original = dict(zip(cell.translated, cell.lines))
                key = "input" if "input" in cells[cell.index] else "source"
                source = "\n".join(original.get(line, line) for line in body)
                as_list = isinstance(cells[cell.index][key], list)
                cells[cell.index][key] = source.splitlines(keepends=True) if as_list else source
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def is_notebook(path: Any) -> bool:
    return str(path).endswith(SUFFIX)


def read(data: bytes) -> Notebook:
    """A notebook out of its file. Raises NotANotebook."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NotANotebook(f"no JSON: {error}") from error
    cells = _cells_of(found)
    metadata = found.get("metadata")
    metadata = as_kind(metadata, dict) or {}
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        said = as_kind(metadata.get(part), dict)
        language = as_kind(said.get(key), str) if said is not None else None
        if language is not None and language.lower() not in ("python", "ipython"):
            raise NotANotebook(f"its language is {language}")
    code: list[Cell] = []
    for index, cell in enumerate(cells):
        source = cell.get("source", cell.get("input"))
        if isinstance(source, list) and all_are(source, str):
            source = "".join(source)
        if cell.get("cell_type") == "code" and isinstance(source, str) and source.strip():
            lines = _lines(source)
            code.append(Cell(index, tuple(lines), tuple(_translated(lines))))
    return Notebook(found, tuple(code))


def place(text: str, line: int) -> tuple[int, int]:
    """The cell and the line in it, for a line of a notebook's text."""
    before = [start for start in beginnings(text) if start <= line] or [0]
    return len(before), max(line - before[-1], 1)


def beginnings(text: str) -> list[int]:
    """The line before the first one of each cell, of a notebook's text."""
    found: list[int] = []
    for number, content in enumerate(text.split("\n"), 1):
        marker = _MARKER.match(content)
        if marker and int(marker[1]) == len(found) + 1:
            found.append(number)
    return found


def ends_cell(text: str, line: int) -> bool:
    """Whether nothing but remarks stands behind a line in its cell: IPython shows the value of an expression there."""
    for content in text.split("\n")[line:]:
        if _MARKER.match(content):
            break
        if content.strip() and not content.lstrip().startswith("#"):
            return False
    return True


def shown(path: str, text: str, line: int) -> tuple[str, int]:
    """A path as it is shown, with the cell if it is a notebook, and the line in it."""
    if not is_notebook(path):
        return path, line
    cell, line = place(text, line)
    return f"{path}:cell {cell}", line


def in_cells(value: Any, text_of: Callable[[str], str]) -> Any:
    """A value out of JSON in which the places in notebooks are told as ``cell``, and lines in it."""
    if isinstance(value, list | tuple):
        return [in_cells(item, text_of) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: in_cells(item, text_of) for name, item in value.items()}
    path = as_kind(value.get("path"), str)
    line = _first_line(value)
    if path is None or not is_notebook(path) or line is None:
        return found
    cell, inside = place(text_of(path), line)
    return {"cell": cell, **found, **_moved(found, inside - line)}


def _first_line(value: dict[str, Any]) -> int | None:
    start = as_kind(value.get("start"), dict)
    line = start.get("line") if start is not None else value.get("line")
    span = as_kind(value.get("span"), list, tuple)
    if line is None and span is not None and span:
        line = span[0]
    return as_kind(line, int)


def _moved(found: dict[str, Any], by: int) -> dict[str, Any]:
    """The entries that say lines, moved."""
    moved: dict[str, Any] = {}
    for name in ("start", "end"):
        if isinstance(found.get(name), dict) and "line" in found[name]:
            moved[name] = {**found[name], "line": found[name]["line"] + by}
    if isinstance(found.get("line"), int):
        moved["line"] = found["line"] + by
    span = as_kind(found.get("span"), list)
    if span is not None and len(span) == 4:
        moved["span"] = [span[0] + by, span[1], span[2] + by, span[3]]
    return moved


def _cells_of(data: Any) -> list[dict[str, Any]]:
    """The cells, of the format of today or of the third one."""
    found = data.get("cells") if isinstance(data, dict) else None
    if found is None and isinstance(data, dict) and isinstance(data.get("worksheets"), list):
        sheets = of_kind(data["worksheets"], dict)
        found = [cell for sheet in sheets for cell in sheet.get("cells", [])]
    if not isinstance(found, list) or not all(isinstance(cell, dict) for cell in found):
        raise NotANotebook("it has no cells")
    return found


def _lines(source: str) -> list[str]:
    """Lines as Python counts them."""
    return source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")


def _split(text: str, count: int) -> list[list[str]]:
    """The lines of each cell of a text."""
    bodies: list[list[str]] = []
    for line in _lines(text):
        marker = _MARKER.match(line)
        if marker and int(marker[1]) == len(bodies) + 1 and len(bodies) < count:
            bodies.append([])
        elif bodies:
            bodies[-1].append(line)
    return bodies


def _parses(lines: list[str]) -> bool:
    try:
        ast.parse("\n".join(lines) + "\n")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _translated(lines: list[str]) -> list[str]:
    """As many lines, in Python."""
    first = next(index for index, line in enumerate(lines) if line.strip())
    if not lines[first].startswith("%%"):
        return lines if _parses(lines) else _without_magics(lines)
    name, _, rest = lines[first][2:].strip().partition(" ")
    head = [*lines[:first], f"# {lines[first]}"]
    if name in _PYTHON_CELLS:
        return head + _translated_rest(lines[first + 1 :])
    body = [f"# {line}" for line in lines[first + 1 :]]
    if name in ("writefile", "file") and rest.strip():
        *options, path = rest.split()
        mode = "a" if "-a" in options else "w"
        content = "\n".join(lines[first + 1 :]) + "\n"
        head[first] = f"__import__('builtins').open({path!r}, {mode!r}).write({content!r})"
    return head + body


def _translated_rest(lines: list[str]) -> list[str]:
    return lines if _parses(lines) else _without_magics(lines)


def _without_magics(lines: list[str]) -> list[str]:
    found: list[str] = []
    continued = False
    for line in lines:
        if continued:
            continued = line.endswith("\\")
            found.append(f"# {line}".rstrip("\\"))
            continue
        new = None if _is_open(found) else _statement(line)
        continued = new is not None and line.endswith("\\")
        found.append(line if new is None else new)
    return found


def _is_open(lines: list[str]) -> bool:
    """Whether a line behind these stands inside of brackets, or of a string of many lines."""
    if lines and lines[-1].endswith("\\"):
        return True
    try:
        for _ in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            pass
    except tokenize.TokenError:
        return True
    except (SyntaxError, IndentationError):
        return False
    return False


def _statement(line: str) -> str | None:
    """A line that is meant for IPython, in Python; None for any other."""
    bare = _HELP.match(line) or _BARE_INSTALL.match(line)
    if bare is not None:
        return f"{bare[1]}pass  # {line.strip()}"
    match = _LINE.match(line)
    if match is None:
        return None
    indent, target, mark, rest = match[1], match[2], match[3], match[4].rstrip("\\").strip()
    nothing = f"{indent}{target} = None" if target else f"{indent}pass  # {line.strip()}".rstrip("\\")
    if mark.startswith("!"):
        return nothing if _INSTALLS.match(rest) and not target else indent + _shell(target, rest)
    name, _, rest = rest.partition(" ")
    rest = rest.strip()
    if name in _RUNS_CODE and rest and not rest.startswith("-"):
        # As long as what stood there, so that columns stay.
        before = line[: len(line) - len(rest)] if line.endswith(rest) else ""
        return f"{indent}{target} = {rest}" if target else f"{indent}if 1:".ljust(len(before)) + rest
    if name in _STATEMENTS and rest and not target:
        return indent + _STATEMENTS[name](rest)
    return nothing


def _shell(target: str | None, command: str) -> str:
    text = repr(command)
    if "{" in command and _parses([f"f{text}"]):
        text = f"f{text}"  # IPython puts the values of expressions there
    if target:
        return f"{target} = __import__('subprocess').getoutput({text}).splitlines()"
    return f"__import__('os').system({text})"


def _environment(rest: str) -> str:
    name, value = re.split(r"[=\s]", rest, maxsplit=1) if re.search(r"[=\s]", rest) else (rest, "")
    return f"__import__('os').environ[{name.strip()!r}] = {value.strip()!r}" if value else "pass"


_STATEMENTS: dict[str, Callable[[str], str]] = {
    "cd": lambda rest: f"__import__('os').chdir(__import__('os').path.expanduser({rest!r}))",
    "env": _environment,
    "set_env": _environment,
    "run": lambda rest: f"globals().update(__import__('runpy').run_path({rest.split()[0]!r}, run_name='__main__'))",
}

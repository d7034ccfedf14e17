"""Notebooks as programs: cells, what only IPython understands, places, and the way back."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.check import engine
from torchsleuth.syntax import files
from torchsleuth.syntax.notebooks import MAX_BYTES, NotANotebook, in_cells, place, read


def notebook(*cells: str, **changes: Any) -> bytes:
    """The file of a notebook with these code cells."""
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(keepends=True)} for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **changes}).encode()


def translated(cell: str) -> str:
    text = read(notebook(cell)).text
    ast.parse(text)
    head, _, rest = text.partition("\n")
    assert head == "# %% [1]" and len(rest.splitlines()) == len(cell.splitlines())
    return rest.removesuffix("\n")


@pytest.mark.parametrize(
    "cell, expected",
    [
        ("x = 1\ny = x", "x = 1\ny = x"),
        ("%matplotlib inline\nx = 1", "pass  # %matplotlib inline\nx = 1"),
        ("if colab:\n    !pip install torch\nx = 2", "if colab:\n    pass  # !pip install torch\nx = 2"),
        ("pip install torch", "pass  # pip install torch"),
        ("!mkdir -p out", "__import__('os').system('mkdir -p out')"),
        ("!mkdir {name}", "__import__('os').system(f'mkdir {name}')"),
        ("names = !ls", "names = __import__('subprocess').getoutput('ls').splitlines()"),
        ("!wget a \\\n  -O b\nx = 1", "__import__('os').system('wget a')\n#   -O b\nx = 1"),
        ("%time y = f(x)", "if 1: y = f(x)"),
        ("for i in x:\n    %timeit f(i)", "for i in x:\n    if 1:   f(i)"),
        ("y = %time f(x)", "y = f(x)"),
        ("%timeit -n 10 f(x)", "pass  # %timeit -n 10 f(x)"),
        ("%%time\n\nx = f()\n%time g()", "# %%time\n\nx = f()\nif 1: g()"),
        ("%%capture out\nx = 1", "# %%capture out\nx = 1"),
        ("%%bash\nls | wc", "# %%bash\n# ls | wc"),
        ("%%writefile m.py\nx = 1", "__import__('builtins').open('m.py', 'w').write('x = 1\\n')\n# x = 1"),
        ("%cd sub", "__import__('os').chdir(__import__('os').path.expanduser('sub'))"),
        ("%env A=b c", "__import__('os').environ['A'] = 'b c'"),
        ("model?\n??f\nx = 1", "pass  # model?\npass  # ??f\nx = 1"),
        ("%autoreload\ny = (a\n  % b)", "pass  # %autoreload\ny = (a\n  % b)"),
        ("%autoreload\ny = '''\n!ls\n%time\n'''", "pass  # %autoreload\ny = '''\n!ls\n%time\n'''"),
        ("y = a \\\n  % b", "y = a \\\n  % b"),
    ],
)
def test_what_only_ipython_understands(cell: str, expected: str) -> None:
    assert translated(cell) == expected


def test_cells_are_counted_as_they_are_run() -> None:
    text = read(notebook("a = 1", "", "  \n", "b = 2\n\nc = 3\n", "# %% [1]\nd = 4")).text
    assert text == "# %% [1]\na = 1\n# %% [2]\nb = 2\n\nc = 3\n# %% [3]\n# %% [1]\nd = 4\n"
    assert [place(text, line) for line in (1, 2, 4, 6, 8, 9)] == [(1, 1), (1, 1), (2, 1), (2, 3), (3, 1), (3, 2)]


def test_a_changed_text_goes_back_into_its_cells() -> None:
    source = notebook("%matplotlib inline\nx = 1", "# a note", "!ls\ny = x\nz = y")
    before = read(source)
    after = read(before.with_text(before.text.replace("y = x\n", "y = x + 1\nw = 2\n")).encode())
    cells = ["".join(cell["source"]) for cell in after.data["cells"]]
    assert cells == ["%matplotlib inline\nx = 1", "# a note", "!ls\ny = x + 1\nw = 2\nz = y"]
    assert json.loads(before.with_text(before.text)) == json.loads(source)


def test_the_third_format_and_sources_in_one_piece() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}]}], "nbformat": 3}
    assert read(json.dumps(old).encode()).text == "# %% [1]\na = 1\nb = 2\n"
    one = {"cells": [{"cell_type": "code", "source": "a = 1\nb = 2"}, {"cell_type": "markdown", "source": "b"}]}
    changed = json.loads(read(json.dumps(one).encode()).with_text("# %% [1]\na = 3\nb = 2\n"))
    assert changed["cells"][0]["source"] == "a = 3\nb = 2"


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"{", b'{"cells": 1}', b'{"cells": [1]}', b"\xff\xfe", b"[" * 100_000]
    + [notebook("x", metadata={"kernelspec": {"language": "julia"}})],
)
def test_what_is_no_notebook_of_python(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(NotANotebook):
        read(data)
    (tmp_path / "n.ipynb").write_bytes(data)
    with pytest.raises(files.Unreadable, match="n.ipynb is no notebook that can be read"):
        files.read_source(tmp_path / "n.ipynb")


@pytest.mark.parametrize("metadata", [None, [], {"kernelspec": 1}, {"language_info": {"name": None}}])
@pytest.mark.parametrize("source", [None, 1, [1], ["x = 1"]])
def test_strange_parts_are_left_out(metadata: Any, source: Any) -> None:
    data = {"cells": [{"cell_type": "code", "source": source}, {}], "metadata": metadata}
    assert read(json.dumps(data).encode()).text in ("", "# %% [1]\nx = 1\n")


def test_large_notebooks_are_read(tmp_path: Path) -> None:
    file = tmp_path / "n.ipynb"
    file.write_bytes(notebook("x = 1", pictures="A" * (files.MAX_BYTES + 1)))
    assert files.read_source(file) == "# %% [1]\nx = 1\n"
    with file.open("ab") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(files.Unreadable, match="larger than 50 MB"):
        files.read_source(file)


def test_places_in_json() -> None:
    text = "# %% [1]\na\n# %% [2]\nb\nc\n"
    value = {
        "path": "n.ipynb",
        "start": {"line": 5, "column": 1},
        "end": {"line": 5, "column": 2},
        "related": [{"path": "n.ipynb", "line": 2, "column": 1}, {"path": "m.py", "line": 2}],
        "frames": [{"path": "n.ipynb", "line": 4, "span": [4, 0, 5, 1]}],
    }
    assert in_cells(value, lambda path: text) == {
        "cell": 2,
        "path": "n.ipynb",
        "start": {"line": 2, "column": 1},
        "end": {"line": 2, "column": 2},
        "related": [{"cell": 1, "path": "n.ipynb", "line": 1, "column": 1}, {"path": "m.py", "line": 2}],
        "frames": [{"cell": 2, "path": "n.ipynb", "line": 1, "span": [1, 0, 2, 1]}],
    }


def test_what_a_cell_shows_is_not_thrown_away() -> None:
    shown = "# %% [1]\nimport torch\nm = torch.ones(2, 3)\nm.half()\n# halves\n# %% [2]\nm.double()\nm.sum()\n"
    found = engine().analyze("n.ipynb", shown).diagnostics
    assert [(one.code, one.start.line) for one in found] == [("TS202", 7)]

"""Notebooks that are run: as a kernel would run all their cells, with places told as cell and line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.test_runs import execute
from tests.unit.test_notebooks import notebook
from torchsleuth.syntax.files import Unreadable

SERVER = Path(__file__).parents[2] / "server"
CELLS = (
    "%matplotlib inline\nimport os, sys, torch\nfrom torch import nn\nwords = !echo one",
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(10, 5)\n"
    "        self.out = nn.Linear(6, 2)\n\n    def forward(self, x):\n        return self.out(self.fc(x))",
    "",
    "print(os.getcwd() == DATA, words, '__file__' in globals(), __name__)\ndisplay(torch.ones(1))",
    "%%time\nmodel = Net()\n%time y = model(torch.randn(3, 10))\nprint(list(y.shape))",
)


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(SERVER)}
    given = [sys.executable, "-m", "torchsleuth", *arguments]
    return subprocess.run(given, cwd=folder, capture_output=True, text=True, env=environment)


def write(tmp_path: Path) -> Path:
    file = tmp_path / "sub" / "train.ipynb"
    file.parent.mkdir()
    file.write_bytes(notebook(*CELLS).replace(b"DATA", json.dumps(repr(str(file.parent))).strip('"').encode()))
    return file


def test_a_crash_is_told_as_cell_and_line(tmp_path: Path) -> None:
    write(tmp_path)
    done = command(tmp_path, "run", "--report", "report.json", "sub/train.ipynb")
    assert done.returncode == 1
    assert done.stdout == "True ['one'] False __main__\ntensor([1.])\n"
    traceback, _, said = done.stderr.partition("\n\nerror[TS101]")
    assert 'train.ipynb", cell 4, line 3, in <module>\n' in traceback
    assert 'train.ipynb", cell 2, line 8, in forward\n    return self.out(self.fc(x))\n' in traceback
    assert "--> sub/train.ipynb:cell 2:8:16\n    8 |         return self.out(self.fc(x))" in said
    assert "(sub/train.ipynb:cell 2:5)" in said and "(sub/train.ipynb:cell 4:3)" in said
    report = json.loads((tmp_path / "report.json").read_text())
    (found,) = report["diagnostics"]
    assert (found["cell"], found["start"]) == (2, {"line": 8, "column": 16})
    assert [(frame["cell"], frame["line"], frame["span"][0]) for frame in report["crash"]["frames"]] == [
        (2, 8, 8),
        (4, 3, 3),
    ]
    assert {fact["cell"] for fact in report["facts"]} == {2, 3, 4}


def test_the_analysis_and_the_repair_of_a_notebook(tmp_path: Path) -> None:
    file = write(tmp_path)
    before = file.read_bytes()
    checked = command(tmp_path, "check", "--output-format", "concise", "sub/train.ipynb")
    assert checked.returncode == 1 and checked.stdout.startswith("sub/train.ipynb:cell 2:8:16: TS101 ")
    fixed = command(tmp_path, "fix", "--copy", "copy", "sub/train.ipynb")
    assert "[FIXED] sub/train.ipynb:cell 2:8" in fixed.stdout and "Status: SUCCESS" in fixed.stdout
    assert file.read_bytes() == before
    cells = ["".join(cell["source"]) for cell in json.loads((tmp_path / "copy/train.ipynb").read_text())["cells"]]
    assert [cell for cell, old in zip(cells, CELLS) if cell != old and "DATA" not in old] == [
        CELLS[1].replace("nn.Linear(6, 2)", "nn.Linear(5, 2)")
    ]
    applied = command(tmp_path, "check", "--fix", "sub/train.ipynb")
    assert "nn.Linear(5, 2)" in file.read_text() and "%time y" in file.read_text(), applied.stderr


def test_a_cell_that_is_no_python_and_a_file_that_is_no_notebook(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_bytes(notebook("import torch", "x = 1\nx = = 2"))
    report, output = execute(str(file))
    assert report.exit_code == 1 and output == f"{file}, cell 2, line 2: SyntaxError: invalid syntax\n"
    assert report.crash is not None and report.crash["type"] == "SyntaxError"
    file.write_text("{}")
    done = command(tmp_path, "run", "a.ipynb")
    assert done.returncode == 2 and "a.ipynb is no notebook that can be read: it has no cells" in done.stderr
    with pytest.raises(Unreadable, match="it has no cells"):
        execute(str(file))

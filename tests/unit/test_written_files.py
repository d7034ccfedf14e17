"""Files that a script writes itself are known when it reads them, unless something else may have written there."""

from __future__ import annotations

import pytest

from tests.check import analyze

START = """
import csv
import json
import os
import tempfile
from pathlib import Path
import torch
import yaml

folder = tempfile.mkdtemp()
"""
KNOWN = [
    """
path = os.path.join(folder, "a.json")
with open(path, "w") as file:
    file.write('{"n": 3}')
with open(path) as file:
    data = json.load(file)
""",
    """
(Path(folder) / "a.yaml").write_text("n: 3")
data = yaml.safe_load((Path(folder) / "a.yaml").read_text())
""",
    """
def save(folder, data):
    with open(os.path.join(folder, "a.json"), "w") as file:
        json.dump(data, file, indent=2)

save(folder, {"n": 3})
data = json.loads(open(os.path.join(folder, "a.json")).read())
""",
    """
with open("a.json", "w") as file:
    file.write('{"n": ')
    file.write("3}")
data = json.load(open("a.json"))
""",
]
UNKNOWN = [
    """
with open("a.json", "w") as file:
    file.write('{"n": 3}')
with open("a.json", "a") as file:
    file.write("\\n")
data = json.load(open("a.json"))
""",
    """
with open("a.json", "w") as file:
    print('{"n": 4}', file=file)
data = json.load(open("a.json"))
""",
    """
import elsewhere
with open("a.json", "w") as file:
    elsewhere.write(file)
data = json.load(open("a.json"))
""",
    """
with open("a.json", "w") as file:
    file.write('{"n": 3}')
if torch.rand(1).item() > 0.5:
    with open("a.json", "w") as file:
        file.write('{"n": 4}')
data = json.load(open("a.json"))
""",
    """
other = tempfile.mkdtemp()
with open(os.path.join(folder, "a.json"), "w") as file:
    file.write('{"n": 3}')
data = json.load(open(os.path.join(other, "a.json")))
""",
]


def shape(program: str) -> tuple[object, ...] | None:
    analysis = analyze(START + program + "\nx = torch.zeros(data['n'], 2)\n")
    assert analysis.stats["internal_errors"] == []
    (found,) = {fact.shape for fact in analysis.facts if fact.expression == "x"} or {None}
    return found


@pytest.mark.parametrize("program", KNOWN)
def test_known(program: str) -> None:
    assert shape(program) == (3, 2)


@pytest.mark.parametrize("program", UNKNOWN)
def test_unknown(program: str) -> None:
    found = shape(program)
    assert found is None or found[0] != 3

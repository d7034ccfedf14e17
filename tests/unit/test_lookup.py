"""Modules that lie beside the roots are found by what the importing file does to ``sys.path``; installed ones are not taken."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.unit.test_cli import torchsleuth
from torchsleuth.lookup.modules import Import, find, folders

NET = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(9, 2)

    def forward(self, x):
        return self.fc(x)
"""
TRAIN = """
import os
import sys

import torch

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "libs"))
import wandb_that_is_not_there
from mylib import Net

print(Net()(torch.randn(4, 8)))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    package, scripts = tmp_path / "libs" / "mylib", tmp_path / "scripts"
    package.mkdir(parents=True)
    scripts.mkdir()
    (package / "__init__.py").write_text("from .net import *\n")
    (package / "net.py").write_text(NET)
    (scripts / "train.py").write_text(TRAIN)
    return scripts / "train.py"


def test_changes_of_the_path_are_followed(script: Path) -> None:
    imports = [
        Import("mylib", str(script), 9, TRAIN),
        Import("wandb_that_is_not_there", str(script), 8, TRAIN),
        Import("pytest", str(script), 1, "import pytest\n"),
        Import("mylib", str(script), 99, TRAIN),
    ]
    assert find(imports, sys.executable, (str(script.parent),)) == (str(script.parents[1] / "libs"),)


def test_what_is_no_answer_names_no_folder() -> None:
    assert folders(b"") == folders(b"{") == folders(json.dumps({"a": 1}).encode()) == ()


def test_the_command_line_finds_them_too(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # as on a machine where jedi never ran
    done = torchsleuth("check", "--output-format", "concise", script.name, cwd=script.parent)
    assert "net.py:11:16: TS101" in done.stdout

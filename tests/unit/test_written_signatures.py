"""Parameters of classes that are read in the files of an installed package, which is not imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.check import analyze
from torchsleuth.oracle import written

_INIT = "from .accelerator import Accelerator\nfrom .utils import Loading\n"
_CLASSES = """raise RuntimeError("this is not to be imported")


class Base:
    def __init__(self, one, *, two=2):
        pass


class Accelerator(Base):
    def __init__(self, mixed_precision=None, cpu: bool = False):
        pass

    def save_state(self, output_dir=None, **options):
        pass

    @wrapped
    def accumulate(self, *models):
        pass


class Derived(Base):
    pass


class Made:
    def __new__(cls, kind):
        return object.__new__(cls)
"""
_UTILS = """from dataclasses import dataclass, field
from typing import ClassVar


@dataclass
class Kept:
    first: int


@dataclass
class Loading(Kept):
    split: bool = field(default=False)
    shared: ClassVar[int] = 3
    later: int = field(init=False)
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "__init__.py").write_text(_INIT)
    (tmp_path / "accelerator.py").write_text(_CLASSES)
    (tmp_path / "utils.py").write_text(_UTILS)
    monkeypatch.setattr(written, "_root", lambda package: tmp_path)
    monkeypatch.setattr("torchsleuth.wall.is_installed", lambda path: path.startswith(str(tmp_path)))
    for kept in (written.signature, written._body):
        kept.cache_clear()
    yield
    for kept in (written.signature, written._body):
        kept.cache_clear()


def names(path: str) -> list[str] | None:
    found = written.signature(path)
    return None if found is None else [one.name for one in found]


def test_classes_are_found_behind_imports() -> None:
    before = set(sys.modules)
    assert names("accelerate.Accelerator") == ["mixed_precision", "cpu"]
    assert names("accelerate.accelerator.Derived") == ["one", "two"]
    assert names("accelerate.Loading") == ["first", "split"]
    assert names("accelerate.Accelerator.save_state") == ["self", "output_dir", "options"]
    assert not any(name.startswith("accelerate") for name in set(sys.modules) - before)


def test_what_is_not_certain_is_not_known() -> None:
    assert names("accelerate.accelerator.Made") is None
    assert names("accelerate.Accelerator.accumulate") is None
    assert names("accelerate.Missing") is None
    assert names("torchmetrics.Metric") is None


def test_a_call_is_held_against_them() -> None:
    text = "import torch\nfrom accelerate import Accelerator\n"
    found = analyze(text + "accelerator = Accelerator(even_batches=False)\n").diagnostics
    assert [(one.code, one.start.line) for one in found] == [("TS820", 3)]
    assert "even_batches" in found[0].message
    assert not analyze(text + "accelerator = Accelerator(cpu=True)\n").diagnostics

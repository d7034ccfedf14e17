"""Parameters of installed packages, read from their sources: what is plainly written, and nothing else."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from torchsleuth.interp.installed_sources import _folder, signature

FILES = {
    "__init__.py": """
        from typing import TYPE_CHECKING

        from .parts import Base, Derived as Renamed, Fields, Made, Wrapped, decorated, plain
        from .starred import *
        from . import tools

        if TYPE_CHECKING:
            from .parts import late

        made_later = plain
        """,
    "parts.py": """
        from dataclasses import dataclass, field
        from functools import wraps


        def plain(a, /, b, *, c=1, **kwargs): ...


        def late(x, y=2): ...


        def renames(function):
            @wraps(function)
            def inner(*args, **kwargs): ...
            return inner


        @renames
        def decorated(a): ...


        class Base:
            def __init__(self, width, depth=2): ...


        class Derived(Base): ...


        class Made:
            def __new__(cls, task, *rest): ...


        class Wrapped(Base, metaclass=type):
            def __init__(self, x): ...


        @dataclass
        class Fields:
            path: str
            rate: float = 0.1
            names: list = field(default_factory=list)
        """,
    "starred.py": "def from_star(x): ...\n",
    "tools.py": "def measure(x, unit='s'): ...\n",
    "broken.py": "def (",
}


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages" / "kit_of_parts"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(textwrap.dedent(text))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site-packages"), *sys.path])
    signature.cache_clear()
    _folder.cache_clear()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", ["a place True", "b either True", "c name False", "kwargs names False"]),
        ("late", ["x either True", "y either False"]),
        ("Base", ["width either True", "depth either False"]),
        ("Renamed", ["width either True", "depth either False"]),
        ("Made", ["task either True", "rest places False"]),
        ("Fields", ["path either True", "rate either False", "names either False"]),
        ("from_star", ["x either True"]),
        ("tools.measure", ["x either True", "unit either False"]),
        ("parts.plain", ["a place True", "b either True", "c name False", "kwargs names False"]),
    ],
)
def test_what_is_plainly_written(name: str, expected: list[str]) -> None:
    found = signature(f"kit_of_parts.{name}")
    assert found is not None
    assert [f"{one.name} {one.kind} {one.required}" for one in found] == expected


@pytest.mark.parametrize("name", ["decorated", "Wrapped", "made_later", "missing", "broken.x", "tools"])
def test_what_may_be_something_else(name: str) -> None:
    assert signature(f"kit_of_parts.{name}") is None


def test_packages_that_are_not_installed_or_known_better() -> None:
    assert signature("no_such_package.function") is None
    assert signature("torch.nn.Linear") is None
    assert signature("json.loads") is None


def test_nothing_is_imported() -> None:
    signature("kit_of_parts.plain")
    assert "kit_of_parts" not in sys.modules

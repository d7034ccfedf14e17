"""Scripts do the same under instrumentation as plainly; `python -m benchmarks.transparent` compares all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.transparent import SCRIPTS, compare

TORCH = ("garbage", "settrace", "debugger", "tracing_users", "closes_everything", "modes", "hooks")
"""Those with PyTorch, which takes its time, that are compared here."""
CHOSEN = [
    path for path in sorted(SCRIPTS.glob("*.py")) if path.stem in TORCH or b"import torch" not in path.read_bytes()
]


def test_there_are_enough() -> None:
    assert len(list(SCRIPTS.glob("*.py"))) >= 60 and len(CHOSEN) >= 25


@pytest.mark.parametrize("script", CHOSEN, ids=lambda path: path.stem)
def test_a_script_does_the_same(script: Path) -> None:
    assert compare(script, sys.executable) == []

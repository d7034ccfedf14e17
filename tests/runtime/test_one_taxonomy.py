"""A fault has one code, in the text and in a run: each example of the run's catalogue is analysed, run, and merged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check import engine
from tests.runtime.inprocess import execute
from torchsleuth.errors.catalogue import CATALOGUE
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.lsp.store import ResultStore

SHOWN = [
    pytest.param(entry, id=f"{entry.code}-{entry.pattern.pattern[:40]}")
    for entry in CATALOGUE
    if entry.example is not None
]


@pytest.mark.parametrize("entry", SHOWN)
def test_the_run_confirms_what_the_analysis_says(entry: ErrorEntry, tmp_path: Path) -> None:
    path, text = tmp_path / "script.py", f"import torch\n{entry.example}\n"
    run = execute(path, text).diagnostic
    static = engine().analyze(str(path), text, verify=False).diagnostics
    assert not static or run.code in {item.code for item in static}, [item.message for item in static]
    store = ResultStore(lambda _: None, lambda _: None)
    store.replace("static", str(path), static, [])
    store.replace("run", str(path), [run], [])
    if static:
        confirmed = [item.diagnostic for item in store.findings(str(path)) if item.confirmed]
        assert [item.code for item in confirmed] == [run.code] and len(store.findings(str(path))) == len(static)


def test_the_analysis_finds_most_of_what_ends_a_run() -> None:
    """So that the test above is not passed by silence. What is only explained may be seen in values, states and files."""
    silent = [
        entry.pattern.pattern
        for entry in (param.values[0] for param in SHOWN)
        if isinstance(entry, ErrorEntry)
        and not entry.plain
        and not engine().analyze("script.py", f"import torch\n{entry.example}\n", verify=False).diagnostics
    ]
    assert len(silent) <= 8, silent

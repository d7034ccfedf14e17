"""Errors that several processes report at one place: told once, with where the first one was."""

from __future__ import annotations

from torchsleuth.runtime.crashes import merged
from torchsleuth.schema import Diagnostic, Json, Position


def _crash(process: str | None, **more: object) -> Json:
    return {"process": None if process is None else {"rank": None, "name": process, "pid": 1}, **more}


def _where(*crashes: Json) -> str:
    one = Diagnostic("a.py", "TS918", "key", "error", "no key", Position(1, 1), Position(1, 2))
    ((_, where),) = merged((crash, one) for crash in crashes)
    return where


def test_a_sample_is_told_once_however_many_workers_meet_another() -> None:
    first = _crash(None, sample=8, worker_number=0)
    assert _where(first, _crash("Process-2", sample=3), _crash("Process-1", sample=4)) == (
        "sample 8 of the dataset, worker 0 of the loader"
    )


def test_processes_without_samples_are_all_told() -> None:
    assert _where(_crash("one"), _crash("two"), _crash("one")) == "process one, process two"

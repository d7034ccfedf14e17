"""Working scripts in many styles: each runs to its end, and the analysis, which finishes, has nothing to say against it."""

from __future__ import annotations

import io
import multiprocessing
import os
import runpy
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.check import engine

CORPUS = Path(__file__).parents[1] / "corpus"
SCRIPTS = {
    **{path.stem: path for path in sorted(CORPUS.glob("*.py"))},
    **{path.parent.name: path for path in sorted(CORPUS.glob("*/main.py"))},
}
KNOWN: set[str] = set()
"""Scripts that the analysis is wrong about today."""
SECONDS = 300
"""A limit for one script on a slow and busy machine; alone, each takes about a second."""


def cases() -> list[object]:
    mark = pytest.mark.xfail(reason="a false alarm, to be repaired", strict=True)
    return [pytest.param(name, marks=[mark] if name in KNOWN else []) for name in SCRIPTS]


def test_the_corpus_is_large() -> None:
    assert len(SCRIPTS) >= 80 and set(SCRIPTS) >= KNOWN


@pytest.mark.parametrize("name", cases())
def test_nothing_is_reported(name: str) -> None:
    path = SCRIPTS[name]
    roots = (str(path.parent),) if path.name == "main.py" else ()
    found = engine().analyze(str(path), path.read_text(encoding="utf-8"), roots=roots)
    assert found.stats["incomplete"] is None and found.stats["internal_errors"] == []
    assert [f"{d.code} {d.path}:{d.start.line} {d.message}" for d in found.diagnostics if d.severity != "hint"] == []


def run_script(path: str, output: str) -> None:
    """What a child process does: the script as ``python SCRIPT`` would run it, in the folder of its output. How it ended is
    written beside that: the server that forks the children may lose what it is to report (it says 255 then)."""
    import torch

    torch.set_num_threads(1)
    os.chdir(Path(output).parent)
    sys.argv = [path]
    sys.path.insert(0, str(Path(path).parent))
    code: object = 0
    with open(output, "w", encoding="utf-8") as file:
        sys.stdout = sys.stderr = file
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc(file=file)
            code = 1
    Path(output).with_name("code.txt").write_text(str(code))


def test_every_script_runs(tmp_path: Path) -> None:
    """Children are forked from a process that has imported torch, so that it is imported once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "torch.utils.data", "torch.distributions", __name__])

    def run(item: tuple[str, Path]) -> tuple[str, str, str]:
        name, path = item
        folder = tmp_path / name
        folder.mkdir()
        output = folder / "output.txt"
        child = context.Process(target=run_script, args=(str(path), str(output)))
        child.start()
        child.join(SECONDS)
        if child.exitcode is None:
            child.kill()
            child.join()
        code = output.with_name("code.txt")
        ended = code.read_text() if code.exists() else "none"
        return name, ended, output.read_text(encoding="utf-8")[-2000:] if output.exists() else ""

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(run, SCRIPTS.items()))
    text = io.StringIO()
    for name, code, output in ends:
        if code != "0":
            print(f"{name}: exit code {code}\n{output}", file=text)
    assert not text.getvalue(), text.getvalue()

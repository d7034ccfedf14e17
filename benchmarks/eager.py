"""What PyTorch says about scripts: each is run in a child of a process that has imported torch. Answers about mutants are
kept."""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
import runpy
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.mutants import Mutant

SECONDS = 60
"""A script that takes longer is not waited for."""


@dataclass(frozen=True)
class Crash:
    """An exception that ended a mutant. `lines`: in its own files, innermost last, by file name."""

    error: str
    lines: tuple[tuple[str, int], ...]


class Eager:
    """Runs mutants, and remembers by their texts what became of them, in a file if there is one."""

    def __init__(self, memory: Path | None) -> None:
        self._memory = memory
        self._known: dict[str, dict[str, object] | None] = {}
        if memory is not None and memory.exists():
            self._known = json.loads(memory.read_text(encoding="utf-8"))
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["torch", "torch.utils.data", "torch.distributions", __name__])

    def crash(self, mutant: Mutant) -> Crash | None:
        """How a mutant crashes; None if it runs to its end."""
        key = _key(mutant)
        if key not in self._known:
            self._try(mutant)
        known = self._known[key]
        if known is None:
            return None
        lines = tuple((str(name), int(line)) for name, line in known["lines"])  # type: ignore[attr-defined]
        return Crash(str(known["error"]), lines)

    def changes(self, mutant: Mutant) -> bool:
        """Whether a mutant crashes, or prints something else than its script."""
        script = replace(mutant, text=mutant.file.read_text(encoding="utf-8"))
        return self.crash(mutant) is not None or self._printed(mutant) != self._printed(script)

    def _printed(self, mutant: Mutant) -> dict[str, object] | None:
        key = f"printed {_key(mutant)}"
        if key not in self._known:
            self._try(mutant)
        return self._known[key]

    def _try(self, mutant: Mutant) -> None:
        """Run a mutant, and keep how it crashes and a digest of what it prints."""
        key = _key(mutant)
        with tempfile.TemporaryDirectory() as folder:
            try:
                crash, printed = self._run(_copy(mutant, Path(folder)))
            except TimeoutError:
                crash, printed = None, ""
        self._known[key] = None if crash is None else asdict(crash)
        self._known[f"printed {key}"] = {"digest": hashlib.sha256(printed.encode()).hexdigest()}
        if self._memory is not None:
            self._memory.write_text(json.dumps(self._known), encoding="utf-8")

    def run(self, script: Path) -> Crash | None:
        """How a script crashes; None if it runs to its end. TimeoutError after SECONDS."""
        return self._run(script)[0]

    def measured(self, script: Path, expression: str) -> tuple[Crash | None, bool]:
        """How a script crashes, and whether `expression` is true of its globals at the end. TimeoutError after SECONDS."""
        crash, _, good = self._execute(script, expression)
        return crash, good

    def _run(self, script: Path) -> tuple[Crash | None, str]:
        """How a script crashes, and what it prints."""
        return self._execute(script, "True")[:2]

    def _execute(self, script: Path, expression: str) -> tuple[Crash | None, str, bool]:
        with tempfile.TemporaryDirectory() as folder:
            answer = Path(folder) / "answer.json"
            child = self._context.Process(target=_execute, args=(str(script), str(answer), expression))
            child.start()
            child.join(SECONDS)
            if child.exitcode is None:
                child.kill()
                child.join()
                raise TimeoutError
            if child.exitcode > 0:
                raise RuntimeError(f"{script.name} could not be run")
            if not answer.exists():
                return Crash(f"signal {-child.exitcode}", ()), "", False
            said = json.loads(answer.read_text(encoding="utf-8"))
            crash = Crash(said["error"], tuple((name, line) for name, line in said["lines"])) if said["error"] else None
            return crash, str(said["printed"]).replace(str(script.parent), ""), bool(said["good"])


def _key(mutant: Mutant) -> str:
    return hashlib.sha256(f"{mutant.script.name}\0{mutant.file.name}\0{mutant.text}".encode()).hexdigest()


def _copy(mutant: Mutant, folder: Path) -> Path:
    """The mutated script, with the files beside it if it has several."""
    base = mutant.script.path.parent
    if len(mutant.script.files) > 1:
        shutil.copytree(base, folder, dirs_exist_ok=True)
    target = folder / mutant.file.relative_to(base)
    target.write_text(mutant.text, encoding="utf-8")
    return folder / mutant.script.path.name


def _execute(path: str, answer: str, expression: str) -> None:
    """In the child: the script as ``python SCRIPT`` would run it."""
    import torch

    torch.set_num_threads(1)
    folder = os.path.dirname(path)
    os.chdir(folder)
    sys.argv = [path]
    sys.path.insert(0, folder)
    warnings.simplefilter("ignore")  # They speak of lines, which mutants shift.
    sys.stdout = sys.stderr = printed = io.StringIO()
    said: dict[str, object] = {"error": None, "lines": [], "good": False}
    try:
        said["good"] = bool(eval(expression, runpy.run_path(path, run_name="__main__")))
    except SystemExit:
        pass
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        said["lines"] = [(os.path.basename(f.filename), f.lineno) for f in frames if f.filename.startswith(folder)]
        said["error"] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    Path(answer).write_text(json.dumps({**said, "printed": printed.getvalue()}), encoding="utf-8")


def crashing(eager: Eager, mutants: Iterable[Mutant]) -> list[tuple[Mutant, Crash]]:
    """Those of the mutants that crash, with their crashes."""
    found = ((mutant, eager.crash(mutant)) for mutant in mutants)
    return [(mutant, crash) for mutant, crash in found if crash is not None]

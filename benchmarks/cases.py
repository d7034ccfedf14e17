"""Bug cases: is each found where a user looks, silent once corrected, and repaired by a quick fix into a script that runs?

python -m benchmarks.cases FOLDER…

A case is a folder with `bug.py` and further modules, `fixed/` with the corrected files, and `expect.json`: `file`, `lines`
(where a diagnostic may stand), `related_lines` and `other_file_lines` (the other end of the fault: lines by file, or a list of both), `runtime` (a regular
expression of the exception, null for a silent fault) and `needs_cuda`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.eager import Eager
from torchsleuth.schema import Diagnostic, Fix
from torchsleuth.syntax.text import SourceText
from torchsleuth.worker.engine import Engine


@dataclass
class Outcome:
    """What became of one case."""

    name: str
    category: str
    found: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)
    fixes: int = 0
    repaired: str = "no fix"


def cases(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(file.parent for file in path.rglob("expect.json"))


def python_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "fixed" not in path.relative_to(folder).parts)


def judge(engine: Engine, folder: Path, eager: Eager | None) -> Outcome:
    expected: dict[str, Any] = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    outcome = Outcome(folder.name, expected.get("category", ""))
    at = _accepted(folder, expected)
    hits: list[Diagnostic] = []
    for diagnostic in _analyze(engine, folder):
        text = f"{diagnostic.code} {Path(diagnostic.path).name}:{diagnostic.start.line} {diagnostic.message}"
        lines = range(diagnostic.start.line, diagnostic.end.line + 1)
        if any((os.path.realpath(diagnostic.path), line) in at for line in lines):
            hits.append(diagnostic)
            outcome.found.append(text)
        else:
            outcome.elsewhere.append(text)
    fixed = folder / "fixed"
    outcome.noise = [
        f"{d.code} {Path(d.path).name}:{d.start.line} {d.message}"
        for d in _analyze(engine, fixed)
        if d.severity in ("error", "warning")
    ]
    fixes = [fix for diagnostic in hits for fix in diagnostic.fixes]
    outcome.fixes = len(fixes)
    if fixes:
        outcome.repaired = _repaired(eager, folder, fixes, expected) if eager else "not run"
    return outcome


def _accepted(folder: Path, expected: dict[str, Any]) -> set[tuple[str, int]]:
    file = os.path.realpath(folder / expected["file"])
    accepted = {(file, line) for line in (*expected["lines"], *(expected.get("related_lines") or ()))}
    others = expected.get("other_file_lines") or {}
    for name, lines in others.items() if isinstance(others, dict) else ((one["file"], one["lines"]) for one in others):
        accepted |= {(os.path.realpath(folder / name), line) for line in lines}
    return accepted


def _analyze(engine: Engine, folder: Path) -> list[Diagnostic]:
    found: dict[tuple[str, str, Any], Diagnostic] = {}
    for path in python_files(folder):
        text = path.read_text(encoding="utf-8")
        for item in engine.analyze(str(path), text, roots=(str(folder),)).diagnostics:
            found.setdefault((item.path, item.code, item.start), item)
    return list(found.values())


def _repaired(eager: Eager, folder: Path, fixes: list[Fix], expected: dict[str, Any]) -> str:
    """Whether the first fix that does so makes the script run."""
    if expected.get("needs_cuda"):
        return "needs an accelerator"
    reasons: list[str] = []
    for fix in fixes:
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(folder, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("fixed"))
            _apply(fix, folder, Path(copy))
            try:
                crash = eager.run(Path(copy, expected["file"]))
            except TimeoutError:
                reasons.append(f"{fix.title}: takes too long")
                continue
        if crash is None:
            return f"runs: {fix.title}"
        reasons.append(f"{fix.title}: {crash.error}")
    return "fails: " + " | ".join(reasons)


def _apply(fix: Fix, folder: Path, copy: Path) -> None:
    for path in {edit.path for edit in fix.edits}:
        target = copy / Path(path).relative_to(folder)
        source = SourceText(path, target.read_text(encoding="utf-8"))
        target.write_text(source.apply(tuple(edit for edit in fix.edits if edit.path == path)), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--no-run", action="store_true", help="do not execute the repaired scripts")
    parser.add_argument("--only", default="", help="regular expression of the names of cases")
    arguments = parser.parse_args()
    engine = Engine()
    eager = None if arguments.no_run else Eager(None)
    outcomes: list[Outcome] = []
    for folder in cases([path.resolve() for path in arguments.paths]):
        if not re.search(arguments.only, folder.name):
            continue
        outcome = judge(engine, folder, eager)
        outcomes.append(outcome)
        print(f"{'found ' if outcome.found else 'MISSED'} {outcome.name}", flush=True)
        for label, lines in (("", outcome.found), ("elsewhere", outcome.elsewhere), ("NOISE ON FIXED", outcome.noise)):
            for line in lines:
                print(f"    {label} {line}".rstrip())
        print(f"    {outcome.fixes} fixes, {outcome.repaired}")
    total = len(outcomes)
    found = sum(bool(outcome.found) for outcome in outcomes)
    silent = sum(not outcome.noise for outcome in outcomes)
    fixable = [outcome for outcome in outcomes if outcome.repaired not in ("needs an accelerator",)]
    runs = sum(outcome.repaired.startswith("runs") for outcome in fixable)
    print(
        f"\nfound {found}/{total}, silent on the fixed version {silent}/{total}, repaired and running {runs}/{len(fixable)}"
    )


if __name__ == "__main__":
    main()

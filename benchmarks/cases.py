"""Bug cases: is each found where a user looks, silent once corrected, and repaired by a quick fix into a script that works?

python -m benchmarks.cases FOLDER…

A case is a folder with `expect.json` and one of

- `bug.py`, further modules, and `fixed/` with the corrected files,
- `bug.py` and `fixed.py`,
- `bug.ipynb` and `fixed.ipynb`, whose lines are those of the program that their cells are,
- `bug/` and `fixed/`, several files each, of which `main` is run.

`expect.json` says `file`, `lines` (where a diagnostic may stand), `related_lines` and `other_file_lines` (the other end of the
fault: lines by file, or a list of both), `main`, `runtime` (a regular expression of the exception, null for a silent fault),
`measure` (of a silent fault: `expr` over the globals of the finished script, and `good`, a comparison that its value satisfies
once the fault is gone) and `needs_cuda`.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.eager import Eager
from torchsleuth.schema import Diagnostic, Fix
from torchsleuth.syntax import notebooks
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


@dataclass(frozen=True)
class Case:
    """A case whose two versions were copied into folders of their own, so that neither sees the other."""

    expected: dict[str, Any]
    bug: Path
    fixed: Path

    @property
    def main(self) -> str:
        """The script that is run, relative to its version's folder."""
        return str(self.expected.get("main") or self.expected["file"])


def copied(folder: Path, to: Path) -> Case:
    """The case in `folder`, its versions copied to `to`."""
    expected: dict[str, Any] = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    case = Case(expected, to / "bug", to / "fixed")
    if (folder / "bug").is_dir():
        shutil.copytree(folder / "bug", case.bug)
        shutil.copytree(folder / "fixed", case.fixed)
    elif (folder / "fixed.py").is_file():
        for version in (case.bug, case.fixed):
            version.mkdir()
            shutil.copy(folder / f"{version.name}.py", version / expected["file"])
    elif (folder / "fixed.ipynb").is_file():
        expected.update(file="bug.py", main="bug.py")
        for version in (case.bug, case.fixed):
            version.mkdir()
            notebook = notebooks.read((folder / f"{version.name}.ipynb").read_bytes())
            lines = [line for line in notebook.text.splitlines(keepends=True) if not line.startswith("# %% [")]
            (version / "bug.py").write_text("".join(lines), encoding="utf-8")
    else:
        shutil.copytree(folder, case.bug, ignore=shutil.ignore_patterns("fixed", "expect.json"))
        shutil.copytree(folder / "fixed", case.fixed)
    return case


def judge(engine: Engine, folder: Path, eager: Eager | None) -> Outcome:
    with tempfile.TemporaryDirectory() as copy:
        return _judged(engine, folder.name, copied(folder, Path(copy).resolve()), eager)


def _judged(engine: Engine, name: str, case: Case, eager: Eager | None) -> Outcome:
    outcome = Outcome(name, case.expected.get("category", ""))
    at = _accepted(case)
    hits: list[Diagnostic] = []
    for diagnostic in _analyze(engine, case.bug):
        text = f"{diagnostic.code} {Path(diagnostic.path).name}:{diagnostic.start.line} {diagnostic.message}"
        if at & _lines(diagnostic):
            hits.append(diagnostic)
            outcome.found.append(text)
        else:
            outcome.elsewhere.append(text)
    outcome.noise = [
        f"{d.code} {Path(d.path).name}:{d.start.line} {d.message}"
        for d in _analyze(engine, case.fixed)
        if d.severity in ("error", "warning")
    ]
    fixes = [fix for diagnostic in hits for fix in diagnostic.fixes]
    outcome.fixes = len(fixes)
    if fixes:
        outcome.repaired = _repaired(eager, case, fixes) if eager else "not run"
    return outcome


def _accepted(case: Case) -> set[tuple[str, int]]:
    expected = case.expected
    accepted = {(expected["file"], line) for line in (*expected["lines"], *(expected.get("related_lines") or ()))}
    others = expected.get("other_file_lines") or {}
    for name, lines in others.items() if isinstance(others, dict) else ((one["file"], one["lines"]) for one in others):
        accepted |= {(name, line) for line in lines}
    return {(str(case.bug / name), line) for name, line in accepted}


def _lines(diagnostic: Diagnostic) -> set[tuple[str, int]]:
    """The lines at which a diagnostic is seen: its own, and those of the places that it points to."""
    places = [(diagnostic.path, diagnostic.start, diagnostic.end)]
    places += [(related.path, related.start, related.end) for related in diagnostic.related]
    return {(path, line) for path, start, end in places for line in range(start.line, end.line + 1)}


def _analyze(engine: Engine, folder: Path) -> list[Diagnostic]:
    found: dict[tuple[str, str, Any], Diagnostic] = {}
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for item in engine.analyze(str(path), text, roots=(str(folder),)).diagnostics:
            found.setdefault((item.path, item.code, item.start), item)
    return list(found.values())


def _repaired(eager: Eager, case: Case, fixes: list[Fix]) -> str:
    """Whether the first fix that does so makes the script work."""
    if case.expected.get("needs_cuda"):
        return "needs an accelerator"
    measure = case.expected.get("measure")
    reasons: list[str] = []
    for fix in fixes:
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(case.bug, copy, dirs_exist_ok=True)
            _apply(fix, case.bug, Path(copy))
            try:
                expression = f"({measure['expr']}) {measure['good']}" if measure else "True"
                crash, good = eager.measured(Path(copy, case.main), expression)
            except TimeoutError:
                reasons.append(f"{fix.title}: takes too long")
                continue
        if crash is None and good:
            return f"runs: {fix.title}"
        reasons.append(f"{fix.title}: {crash.error if crash else f'{expression} is false'}")
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

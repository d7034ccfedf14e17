"""The repair loop: run → crash → apply the fix to a copy → run the copy, until it works or the fixes are used up."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from torchsleuth.runtime.session import RunReport, run
from torchsleuth.schema import Diagnostic, Fix
from torchsleuth.syntax.text import SourceText

MAX_TRIES = 3
"""Fixes tried for one error."""
MAX_ERRORS = 10
"""Different errors repaired in one script."""
_IGNORED = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "*.pt", "*.pth", "*.ckpt")


@dataclass(frozen=True)
class Repair:
    path: str
    line: int
    error: str
    fix: str


@dataclass
class Outcome:
    """What the loop did. `script` is the repaired copy."""

    script: Path
    success: bool = False
    repairs: list[Repair] = field(default_factory=list)
    modified: set[str] = field(default_factory=set)
    remaining: Diagnostic | None = None
    exit_code: int = 0


def repair(
    script: Path, arguments: tuple[str, ...], copy: Path, interpreter: str, say: Callable[[str], None]
) -> Outcome:
    """Repair a copy of the script's folder; the user's own files are never touched. Raises FileExistsError if the
    folder for the copy holds something that is no earlier copy."""
    target = _copy(script, copy)
    outcome = Outcome(target)
    report = _execute(target, arguments, interpreter, say)
    for _ in range(MAX_ERRORS):
        if report.exit_code == 0:
            outcome.success = True
            return outcome
        outcome.exit_code = report.exit_code
        outcome.remaining = report.diagnostics[0] if report.diagnostics else None
        if outcome.remaining is None:
            return outcome
        better = _try_fixes(outcome, outcome.remaining, arguments, interpreter, say)
        if better is None:
            return outcome
        report = better
    return outcome


def _try_fixes(
    outcome: Outcome, error: Diagnostic, arguments: tuple[str, ...], interpreter: str, say: Callable[[str], None]
) -> RunReport | None:
    """The report after the first fix that removes the error, None if none does; the others are taken back."""
    for fix in error.fixes[:MAX_TRIES]:
        before = _apply(fix)
        report = _execute(outcome.script, arguments, interpreter, say)
        if _fingerprint(report) != _identity(error):
            outcome.repairs.append(Repair(error.path, error.start.line, error.message, fix.title))
            outcome.modified.update(before)
            outcome.remaining = None
            say(f"[FIXED] {os.path.relpath(error.path)}:{error.start.line}  {fix.title}")
            return report
        for path, text in before.items():
            Path(path).write_text(text)
    return None


def _identity(error: Diagnostic) -> tuple[str, str, int]:
    return (error.code, error.path, error.start.line)


def _fingerprint(report: RunReport) -> tuple[str, str, int] | None:
    return _identity(report.diagnostics[0]) if report.diagnostics else None


def _apply(fix: Fix) -> dict[str, str]:
    """Apply a fix to the files of the copy; returns their texts as they were."""
    before: dict[str, str] = {}
    for path in {edit.path for edit in fix.edits}:
        text = Path(path).read_text()
        before[path] = text
        Path(path).write_text(SourceText(path, text).apply(fix.edits))
    return before


def _copy(script: Path, copy: Path) -> Path:
    """A copy of the script and of the Python files beside it."""
    marker = copy / ".torchsleuth-copy"
    if copy.exists() and any(copy.iterdir()) and not marker.exists():
        raise FileExistsError(f"{copy} is not empty and not an earlier copy")
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(script.parent, copy, ignore=_inside(copy))
    marker.touch()
    return copy / script.name


def _inside(copy: Path) -> Callable[[str, list[str]], set[str]]:
    """Leaves out hidden and heavy files, and the copy itself where it lies in the folder that is copied."""

    def ignore(folder: str, names: list[str]) -> set[str]:
        own = {name for name in names if (Path(folder) / name).resolve() == copy.resolve()}
        return own | _IGNORED(folder, names)

    return ignore


def _execute(
    script: Path, arguments: tuple[str, ...], interpreter: str, say: Callable[[str], None]
) -> RunReport:
    lines: list[str] = []
    report = run(str(script), arguments, interpreter=interpreter, on_output=lines.append)
    if report.exit_code == 0:
        say("".join(lines).rstrip("\n"))
    return report

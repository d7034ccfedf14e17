"""The repair loop: run → crash → apply a fix to a copy → run the copy, until it works or the fixes are used up.

A fix is rejected when the same error comes back (same code, same line of the text, same layer). An error further along
is progress. It is done when the script ends well, its losses are finite and its parameters moved.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from torchsleuth.messages import message
from torchsleuth.repair.project_copy import CopyRefused, ProjectCopy
from torchsleuth.runtime.session import RunReport, run
from torchsleuth.schema import Diagnostic, Fix
from torchsleuth.syntax.files import Unreadable, encoded, read_encoded, read_source
from torchsleuth.syntax.notebooks import shown
from torchsleuth.syntax.text import SourceText

__all__ = ["MAX_ERRORS", "MAX_TRIES", "CopyRefused", "Outcome", "Repair", "repair"]

MAX_TRIES = 3
"""Fixes tried for one error."""
MAX_ERRORS = 10
"""Different errors repaired in one script."""
_TRACEBACK = "Traceback (most recent call last):"
MAX_RUNS = 30
"""Runs of one script, however many ways its fixes open."""
Fingerprint = tuple[str, str, str, str | None]
"""Code, path, text of the failing line, path of the failing layer. The text, because a fix above moves the number."""


@dataclass(frozen=True)
class Repair:
    """An error that a fix removed. Paths are those of the user's own files; the fix has been run."""

    path: str
    line: int
    error: str
    fix: str
    verified: Fix


@dataclass(frozen=True)
class Outcome:
    """The outcome of the loop. `script` is the repaired copy, `modified` the copies that differ from their originals,
    `remaining` the error that no fix removed."""

    script: Path
    success: bool
    repairs: tuple[Repair, ...]
    modified: tuple[str, ...]
    remaining: Diagnostic | None
    exit_code: int
    output: str


@dataclass(frozen=True)
class _Trial:
    report: RunReport
    output: str

    @property
    def sound(self) -> bool:
        """It ended well, and nothing that ended badly was printed on the way."""
        return self.report.trained_soundly and _TRACEBACK not in self.output

    @property
    def error(self) -> Diagnostic | None:
        """The first thing that ended it; what else a run shows is no error."""
        return next((found for found in self.report.diagnostics if found.severity == "error"), None)


def repair(
    script: Path,
    arguments: tuple[str, ...],
    copy: Path,
    interpreter: str,
    say: Callable[[str], None],
    explain: Callable[[RunReport], RunReport] = lambda report: report,
) -> Outcome:
    """Repair a copy of the script's project; the user's own files are never touched. `say` gets a line for each step,
    and at the end the output of the repaired script; `explain` may add to a report what else is known. Raises CopyRefused if the folder for the copy holds something
    else, and OSError if the interpreter cannot be started."""
    loop = _Loop(script, arguments, copy, interpreter, say, explain)
    return loop.run()


class _Loop:
    def __init__(
        self,
        script: Path,
        arguments: tuple[str, ...],
        copy: Path,
        interpreter: str,
        say: Callable[[str], None],
        explain: Callable[[RunReport], RunReport],
    ) -> None:
        self.original = Path(os.path.abspath(script))
        self.arguments = arguments
        self.folder = copy
        self.interpreter = interpreter
        self.say = say
        self.explain = explain
        self.repairs: list[Repair] = []
        self._runs_left = MAX_RUNS
        self._own: dict[Path, tuple[str, str]] = {}
        """The files that were changed, as they were before."""
        self.copy = ProjectCopy(self.original.parent, copy)

    def run(self) -> Outcome:
        self.say(message("repair.run", script=_short(self.original)))
        first = self._execute(self.original)
        files = [Path(path) for path in first.report.loaded] or [self.original]
        self.copy = ProjectCopy(_common_folder([self.original, *files]), self.folder)
        self.copy.create([self.original, *files])
        return self._outcome(self._repaired(self._in_copy(first), MAX_ERRORS))

    def _repaired(self, trial: _Trial, depth: int) -> _Trial:
        """The last run of a copy that is as far repaired as can be. A fix is kept if what it leads to runs in the end, or
        if it lets the script go on behind the line that failed; one that only moves its error elsewhere is taken back."""
        error = trial.error
        if error is None or depth == 0:
            return trial
        self._say_of(error, "repair.error", code=error.code, error=error.message)
        halfway: tuple[Fix, _Trial] | None = None
        for fix in error.fixes[:MAX_TRIES]:
            if self._runs_left <= 0:
                break
            known = len(self.repairs)
            with self._applied(fix) as keep:
                after = self._execute(self.copy.of(self.original))
                if not self._is_progress(trial, after):
                    self._say_of(error, "repair.rejected", fix=fix.title)
                    continue
                self._note(error, fix)
                best = self._repaired(after, depth - 1)
                if best.sound:
                    keep()
                    return best
                if halfway is None and _goes_on(trial, after, fix):
                    halfway = (fix, after)
                del self.repairs[known:]
                self._say_of(error, "repair.rejected", fix=fix.title)
        if halfway is None:
            return trial
        fix, after = halfway
        with self._applied(fix) as keep:
            keep()
        self._note(error, fix)
        return self._repaired(after, depth - 1) if self._runs_left > 0 else after

    def _note(self, error: Diagnostic, fix: Fix) -> None:
        own = self._as_original(error)
        verified = replace(self._fix_as_original(fix), verified=True)
        self.repairs.append(Repair(own.path, own.start.line, own.message, fix.title, verified))
        self._say_of(error, "repair.fixed", fix=fix.title)

    def _outcome(self, trial: _Trial) -> Outcome:
        success = trial.sound
        if trial.output and trial.report.exit_code == 0:
            self.say(trial.output.rstrip("\n"))
        if trial.report.exit_code == 0 and not success:
            self.say(message("repair.unsound"))
        modified = {edit.path for item in self.repairs for edit in item.verified.edits}
        return Outcome(
            self.copy.of(self.original),
            success,
            tuple(self.repairs),
            tuple(sorted(str(self.copy.of(Path(path))) for path in modified)),
            None if trial.error is None else self._as_original(trial.error),
            trial.report.exit_code,
            trial.output,
        )

    def _is_progress(self, before: _Trial, after: _Trial) -> bool:
        """Whether a run got further: to a sound end, or to another error with at least as many values seen on the way."""
        if after.report.cancelled or _fingerprint(after) == _fingerprint(before) or self._is_old(after):
            return False
        further = len(after.report.facts) >= len(before.report.facts)
        return after.sound or (after.error is not None and further)

    def _is_old(self, trial: _Trial) -> bool:
        """Whether an error that was repaired is back."""
        return trial.error is not None and any(item.error == trial.error.message for item in self.repairs)

    @contextlib.contextmanager
    def _applied(self, fix: Fix) -> Iterator[Callable[[], None]]:
        """The copy with a fix, for the time of the block, or for good if the function it yields is called."""
        own = {path: self.copy.make_own(self.copy.of(Path(path))) for path in {edit.path for edit in fix.edits}}
        for file in own.values():
            self._own.setdefault(file, read_encoded(file))
        before = {file: read_encoded(file) for file in self._own}
        kept: list[bool] = []
        for path, file in own.items():
            text, encoding = before[file]
            changed = SourceText(path, text).apply(fix.edits)
            file.write_bytes(encoded(file, changed, encoding))
        try:
            yield lambda: kept.append(True)
        finally:
            if not kept:
                for file, first in self._own.items():  # what is kept inside is taken back, too
                    text, encoding = before.get(file, first)
                    file.write_bytes(encoded(file, text, encoding))

    def _execute(self, script: Path) -> _Trial:
        self._runs_left -= 1
        lines: list[str] = []
        cwd = Path.cwd()
        if script != self.original and self.copy.root in [cwd.resolve(), *cwd.resolve().parents]:
            cwd = self.copy.of(cwd)
        report = run(str(script), self.arguments, interpreter=self.interpreter, cwd=str(cwd), on_output=lines.append)
        return _Trial(self.explain(report), "".join(lines))

    def _in_copy(self, trial: _Trial) -> _Trial:
        """The first run, of the originals, as if it had been of the copy."""
        return replace(
            trial, report=replace(trial.report, diagnostics=tuple(map(self._as_copied, trial.report.diagnostics)))
        )

    def _as_copied(self, error: Diagnostic) -> Diagnostic:
        return _moved(error, lambda path: str(self.copy.of(Path(path))))

    def _as_original(self, error: Diagnostic) -> Diagnostic:
        return _moved(error, lambda path: str(self.copy.original(Path(path))))

    def _fix_as_original(self, fix: Fix) -> Fix:
        return _moved_fix(fix, lambda path: str(self.copy.original(Path(path))))

    def _say_of(self, at: Diagnostic, identifier: str, **values: str) -> None:
        path, line = shown(_short(self.copy.original(Path(at.path))), _text(at.path), at.start.line)
        self.say(message(identifier, path=path, line=line, **values))


def _goes_on(before: _Trial, after: _Trial, fix: Fix) -> bool:
    """Whether the next error is another fault, rather than the same one at another place: one of another kind, or one behind
    a fix that the analysis has found to cause no other."""
    error, following = before.error, after.error
    return error is not None and following is not None and (fix.verified or error.code[:3] != following.code[:3])


def _moved(error: Diagnostic, move: Callable[[str], str]) -> Diagnostic:
    return replace(
        error,
        path=move(error.path),
        related=tuple(replace(related, path=move(related.path)) for related in error.related),
        fixes=tuple(_moved_fix(fix, move) for fix in error.fixes),
    )


def _moved_fix(fix: Fix, move: Callable[[str], str]) -> Fix:
    return replace(fix, edits=tuple(replace(edit, path=move(edit.path)) for edit in fix.edits))


def _fingerprint(trial: _Trial) -> Fingerprint | None:
    error = trial.error
    if error is None:
        return None
    text = _text(error.path)
    module = (trial.report.crash or {}).get("module") or {}
    return (
        error.code,
        os.path.basename(error.path),
        SourceText(error.path, text).line(error.start.line),
        module.get("path"),
    )


def _text(path: str) -> str:
    try:
        return read_source(path)
    except Unreadable:
        return ""


def _common_folder(files: list[Path]) -> Path:
    return Path(os.path.commonpath([file.resolve().parent for file in files]))


def _short(path: Path) -> str:
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative

"""``torchsleuth check``: analyse files without running them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from torchsleuth.cli.files import PathNames, not_python
from torchsleuth.cli.formats import github, sarif
from torchsleuth.cli.output import Output, command, complain, data, line, note, patch
from torchsleuth.cli.render import concise, print_diagnostic, source_reader, to_json
from torchsleuth.cli.repairs import Repairs, difference
from torchsleuth.cli.writing import Unwritable, write_source, write_text
from torchsleuth.control import baseline as baselines
from torchsleuth.control.baseline import Baseline
from torchsleuth.control.configuration import Configurations, selectors
from torchsleuth.control.selection import ConfigurationError, Layer
from torchsleuth.control.shown import shown
from torchsleuth.lookup.modules import Import
from torchsleuth.lookup.modules import find as find_modules
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, FileAnalysis
from torchsleuth.syntax.files import Unreadable, python_files, read_source
from torchsleuth.syntax.names import imported_from
from torchsleuth.syntax.text import SourceText
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable


@dataclass(frozen=True)
class Options:
    """The options of the command line beside the paths."""

    output_format: str = "text"
    python: str | None = None
    select: str | None = None
    extend_select: str | None = None
    ignore: str | None = None
    exclude: tuple[str, ...] = ()
    config: Path | None = None
    isolated: bool = False
    fix: bool = False
    diff: bool = False
    unsafe_fixes: bool = False
    baseline: Path | None = None
    write_baseline: Path | None = None

    @property
    def changes(self) -> bool:
        return self.fix or self.diff


_Version = tuple[str, dict[str, str]]
"""The text of a file, and the texts not on the disk that it may see through its imports."""


@dataclass
class _Files:
    """Texts by path as the user wrote it, each file once."""

    texts: dict[str, str] = field(default_factory=dict)
    all_read: bool = True


def check(paths: list[Path], options: Options) -> int:
    try:
        return _check(paths, options)
    except (ConfigurationError, WorkerUnavailable) as error:
        complain(str(error))
        return 2


def _check(paths: list[Path], options: Options) -> int:
    configurations = _configurations(options)
    wanted = options.baseline is not None and options.write_baseline is None
    known = baselines.load(str(options.baseline)) if wanted else None
    files = _read(paths, configurations)
    if not files.texts and not files.all_read:
        return 2
    for path in files.texts:
        configurations.of(path)  # what is wrong with it is said before the work
    worker = WorkerClient(options.python or sys.executable)
    try:
        # Also without a single file: an interpreter that cannot do the work is never reported as a clean result.
        worker.start()
        analyses = _Analyses(worker, configurations, known)
        repairs = Repairs(files.texts, analyses.of, options.unsafe_fixes)
        if options.changes:
            diagnostics = repairs.run()
        else:
            diagnostics = analyses.of(files.texts, {}, partial=options.write_baseline is None)
    finally:
        worker.close()
    texts = repairs.texts if options.changes else files.texts
    if options.write_baseline is not None:
        return _write_baseline(diagnostics, texts, options.write_baseline)
    if options.diff:
        patch(difference(files.texts, texts))
        return 2 if not files.all_read or not analyses.all_done else 1 if texts != files.texts else 0
    written = not options.fix or _write(files.texts, repairs)
    _print(diagnostics, texts, options.output_format)
    if not files.all_read or not analyses.all_done or not written:
        return 2
    return 1 if diagnostics else 0


def _configurations(options: Options) -> Configurations:
    layer = Layer(
        None if options.select is None else _codes(options.select, "--select"),
        _codes(options.extend_select or "", "--extend-select"),
        _codes(options.ignore or "", "--ignore"),
    )
    file = str(options.config) if options.config is not None else None
    return Configurations(layer, options.exclude, file, options.isolated)


def _codes(text: str, where: str) -> tuple[str, ...]:
    return selectors([part for part in text.replace(",", " ").split()], where)


def _read(paths: list[Path], configurations: Configurations) -> _Files:
    """Every file, whether or not all of it is Python. Those that are named are read even if they are excluded."""
    files = _Files()
    seen: set[str] = set()

    def unreadable(reason: str) -> None:
        complain(reason)
        files.all_read = False

    def excluded(name: str) -> bool:
        return configurations.of(name).excludes(name)

    for file in (file for path in paths for file in python_files(path, excluded, unreadable)):
        if (real := os.path.realpath(file)) in seen:
            continue
        seen.add(real)
        try:
            text = files.texts[str(file)] = read_source(file)
        except Unreadable as error:
            unreadable(str(error))
        else:
            if (reason := not_python(file, text)) is not None:
                unreadable(reason)  # what does parse in it is analysed all the same
    return files


class _Analyses:
    """The analyses of many files. A file is analysed again only if its text, or that of one it may import, is another."""

    def __init__(self, worker: WorkerClient, configurations: Configurations, known: Baseline | None) -> None:
        self._worker = worker
        self._configurations = configurations
        self._known = known
        self._done: dict[str, tuple[_Version, FileAnalysis]] = {}
        self.all_done = True
        """Whether every file that was asked for was analysed."""

    def of(self, texts: Mapping[str, str], overlay: Mapping[str, str], partial: bool = False) -> list[Diagnostic]:
        """Each thing once, in order, but for what the baseline knows. `overlay`: texts that are not on the disk yet.
        `partial`: when the interpreter is lost on the way, what was found before; else raises WorkerUnavailable."""
        names = PathNames(texts)
        found: dict[tuple[str, str, int, int], Diagnostic] = {}
        complete: list[str] = []
        for path, text in texts.items():
            try:
                analysis = self._analysis(path, text, overlay)
            except WorkerUnavailable as error:
                if not partial or not self._done:
                    raise
                complain(message("cli.lost", path=path, error=error))
                self.all_done = False
                break
            if not analysis.stats.get("incomplete"):
                complete.append(path)
            for diagnostic in map(names.diagnostic, analysis.diagnostics):
                key = (diagnostic.path, diagnostic.code, diagnostic.start.line, diagnostic.start.column)
                found.setdefault(key, diagnostic)
        source_of = source_reader({**overlay, **texts})
        wanted = shown(found.values(), self._configurations.of, source_of, complete)
        return wanted if self._known is None else self._known.unknown(wanted, source_of)

    def _analysis(self, path: str, text: str, overlay: Mapping[str, str]) -> FileAnalysis:
        version = (text, {other: overlay[other] for other in imported_from(path, text, overlay)})
        before = self._done.get(path)
        if before is not None and before[0] == version:
            return before[1]
        codes = self._configurations.of(path).codes()
        analysis = _with_found_modules(self._worker, path, text, overlay, codes)
        if analysis.stats.get("incomplete"):
            complain(message("cli.incomplete", path=path, reason=analysis.stats["incomplete"]))
            self.all_done &= "analysis_ms" in analysis.stats  # else there is no result at all, only the reason
        self._done[path] = (version, analysis)
        return analysis


def _with_found_modules(
    worker: WorkerClient, path: str, text: str, overlay: Mapping[str, str], codes: tuple[str, ...] | None
) -> FileAnalysis:
    """The analysis of a file; once more, with what jedi finds, where it changes ``sys.path`` and imports fail."""
    roots = (os.getcwd(),)
    analysis = worker.analyze(path, text, overlay, roots=roots, codes=codes)
    missing = [Import(name, where, line, text) for name, where, line in analysis.stats.get("missing") or ()]
    here = [item for item in missing if os.path.abspath(item.path) == os.path.abspath(path)]
    if here and "sys.path" in text:
        found = find_modules(here, worker.search_path, roots)
        if found:
            return worker.analyze(path, text, overlay, roots=(*roots, *found), codes=codes)
    return analysis


def _write(before: Mapping[str, str], repairs: Repairs) -> bool:
    """Write what was repaired, and say what it was. Whether all of it could be written."""
    all_written = True
    for path, text in repairs.texts.items():
        if text == before[path]:
            continue
        try:
            write_source(Path(path), text)
        except (Unwritable, Unreadable) as error:
            complain(str(error))
            all_written = False
            continue
        except (SyntaxError, UnicodeError, LookupError) as error:
            complain(message("cli.cannot_write", path=path, error=error))
            all_written = False
            continue
        for done in repairs.done:
            if done.path == path:
                note(message("cli.fixed", path=path, line=done.line, code=done.code, fix=done.title))
    return all_written


def _write_baseline(diagnostics: list[Diagnostic], texts: dict[str, str], path: Path) -> int:
    text = baselines.written(diagnostics, source_reader(texts), str(path))
    try:
        write_text(path, text)
    except Unwritable as error:
        complain(str(error))
        return 2
    line(message("cli.baseline", path=path, findings=_count(len(diagnostics), "finding")))
    return 0


def _print(diagnostics: list[Diagnostic], texts: dict[str, str], output_format: str) -> None:
    if output_format in ("json", "sarif"):
        data(to_json(diagnostics, source_reader(texts)) if output_format == "json" else sarif(diagnostics))
    elif output_format == "github":
        for diagnostic in diagnostics:
            command(github(diagnostic))
    elif output_format == "concise":
        for diagnostic in diagnostics:
            line(concise(diagnostic, source_reader(texts)))
    else:
        _print_text(diagnostics, texts)


def _print_text(diagnostics: list[Diagnostic], texts: dict[str, str]) -> None:
    out = Output()
    sources: Callable[[str], SourceText] = source_reader(texts)
    for diagnostic in diagnostics:
        print_diagnostic(out, diagnostic, sources)
    counts = ((level, sum(item.severity == level for item in diagnostics)) for level in ("error", "warning", "hint"))
    found = ", ".join(_count(number, level) for level, number in counts if number)
    out.line(message("cli.checked", files=_count(len(texts), "file"), found=found or message("cli.nothing_found")))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

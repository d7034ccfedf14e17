"""``torchsleuth check``: analyse files without running them."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

from torchsleuth.cli.files import PathNames, Unreadable, complain, python_files, read_source
from torchsleuth.cli.render import concise, console, print_diagnostic, source_reader, to_json
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable


def check(paths: list[Path], output_format: str, python: str | None) -> int:
    texts, all_read = _read(paths)
    if not texts and not all_read:
        return 2
    worker = WorkerClient(python or sys.executable)
    try:
        # Also without a single file: an interpreter that cannot do the work is never reported as a clean result.
        worker.start()
        diagnostics = _analyze(worker, texts)
    except WorkerUnavailable as error:
        complain(str(error))
        return 2
    finally:
        worker.close()
    _print(diagnostics, texts, output_format)
    if not all_read:
        return 2
    return 1 if diagnostics else 0


def _read(paths: list[Path]) -> tuple[dict[str, str], bool]:
    """Texts by path, each file once, and whether all of them could be read as Python."""
    texts: dict[str, str] = {}
    seen: set[Path] = set()
    all_read = True
    for file in (file for path in paths for file in python_files(path)):
        if file.resolve() in seen:
            continue
        seen.add(file.resolve())
        try:
            text = texts[str(file)] = read_source(file)
            ast.parse(text)
        except Unreadable as error:
            complain(str(error))
            all_read = False
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            # What does parse in it is analysed all the same.
            line = getattr(error, "lineno", None) or 1
            reason = getattr(error, "msg", None) or str(error)
            complain(message("cli.not_python", path=file, line=line, error=reason))
            all_read = False
    return texts, all_read


def _analyze(worker: WorkerClient, texts: dict[str, str]) -> list[Diagnostic]:
    """All diagnostics, each once, in order."""
    names = PathNames(texts)
    found: dict[tuple[str, str, int, int], Diagnostic] = {}
    for path, text in texts.items():
        analysis = worker.analyze(path, text, roots=(os.getcwd(),))
        if analysis.stats.get("incomplete"):
            complain(message("cli.incomplete", path=path, reason=analysis.stats["incomplete"]))
        for diagnostic in map(names.diagnostic, analysis.diagnostics):
            key = (diagnostic.path, diagnostic.code, diagnostic.start.line, diagnostic.start.column)
            found.setdefault(key, diagnostic)
    return sorted(found.values(), key=lambda item: (item.path, item.start, item.code))


def _print(diagnostics: list[Diagnostic], texts: dict[str, str], output_format: str) -> None:
    if output_format == "json":
        print(to_json(diagnostics))
    elif output_format == "concise":
        for diagnostic in diagnostics:
            print(concise(diagnostic))
    else:
        _print_text(diagnostics, texts)


def _print_text(diagnostics: list[Diagnostic], texts: dict[str, str]) -> None:
    out = console()
    sources = source_reader(texts)
    for diagnostic in diagnostics:
        print_diagnostic(out, diagnostic, sources)
    counts = ((level, sum(item.severity == level for item in diagnostics)) for level in ("error", "warning", "hint"))
    found = ", ".join(_count(number, level) for level, number in counts if number)
    out.print(message("cli.checked", files=_count(len(texts), "file"), found=found or message("cli.nothing_found")))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

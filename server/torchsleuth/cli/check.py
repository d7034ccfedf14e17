"""``torchsleuth check``: analyse files without running them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from torchsleuth.cli.files import Unreadable, complain, python_files, read_source
from torchsleuth.cli.render import concise, console, print_diagnostic, source_reader
from torchsleuth.schema import Diagnostic
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable


def check(paths: list[Path], output_format: str, python: str | None) -> int:
    try:
        files = list(python_files(paths))
    except FileNotFoundError as error:
        complain(f"{error.args[0]} does not exist")
        return 2
    texts: dict[str, str] = {}
    failed = False
    for file in files:
        try:
            texts[str(file)] = read_source(file)
        except Unreadable as error:
            complain(str(error))
            failed = True
    worker = WorkerClient(python or sys.executable)
    try:
        diagnostics, incomplete = _analyze(worker, texts)
    except WorkerUnavailable as error:
        complain(str(error))
        return 2
    finally:
        worker.close()
    for path, reason in incomplete.items():
        complain(f"{path}: {reason}")
    _print(diagnostics, texts, output_format)
    if failed:
        return 2
    return 1 if diagnostics else 0


def _analyze(worker: WorkerClient, texts: dict[str, str]) -> tuple[list[Diagnostic], dict[str, str]]:
    """All diagnostics, each once, in order, and the files whose analysis stopped early."""
    found: dict[tuple[str, str, int, int], Diagnostic] = {}
    incomplete: dict[str, str] = {}
    root = os.getcwd()
    for path, text in texts.items():
        analysis = worker.analyze(path, text, roots=(root,))
        if analysis.stats.get("incomplete"):
            incomplete[path] = analysis.stats["incomplete"]
        for diagnostic in analysis.diagnostics:
            key = (os.path.abspath(diagnostic.path), diagnostic.code, diagnostic.start.line, diagnostic.start.column)
            found.setdefault(key, diagnostic)
    ordered = sorted(found.values(), key=lambda item: (item.path, item.start, item.code))
    return ordered, incomplete


def _print(diagnostics: list[Diagnostic], texts: dict[str, str], output_format: str) -> None:
    if output_format == "json":
        print(json.dumps([diagnostic.to_json() for diagnostic in diagnostics], indent=2, ensure_ascii=False))
        return
    if output_format == "concise":
        for diagnostic in diagnostics:
            print(concise(diagnostic))
        return
    out = console()
    sources = source_reader(texts)
    for diagnostic in diagnostics:
        print_diagnostic(out, diagnostic, sources)
    counts = {level: sum(item.severity == level for item in diagnostics) for level in ("error", "warning", "hint")}
    summary = ", ".join(f"{count} {level}{'s' if count != 1 else ''}" for level, count in counts.items() if count)
    out.print(f"{len(texts)} file{'s' if len(texts) != 1 else ''} checked: {summary or 'nothing found'}")

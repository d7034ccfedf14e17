"""Scripts that crash: is each crash found where it happened, explained by the line to change, named and repaired?

    python -m benchmarks.crashes [NAME…] [--scripts FOLDER] [--python PYTHON] [--show] [--no-fixes] [--cold]

A run starts as a fork of a process that has imported torch, which saves seconds; with `--cold`, as ``torchsleuth run``
starts it, and so it does for scripts in several ranks, for notebooks, and with another interpreter (`--python`).

The scripts are in `benchmarks/scripts/crashes/`, a file or a notebook each, or a folder with a `main.py`; those that need more than
PyTorch are in `benchmarks/scripts/frameworks/`. Comments in them say what is right:

- ``# raises CODE[/CODE…] at EXPRESSION``: the expression that raises (several, separated by `` or ``, where either is right),
- ``# cause``, also at the end of the other one: a line that an expert would change; one of them has to be shown,
- ``# run MODULE ARGUMENTS``: the script is run by ``python -m MODULE ARGUMENTS main.py``.

A fix counts as a repair if the script with it runs to its end under plain Python, and does not if it only moves the error.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.warm import SECONDS, Fork, execute, warm_up
from torchsleuth.cli.explained import Explainer
from torchsleuth.runtime.report import RunReport
from torchsleuth.runtime.session import Run
from torchsleuth.schema import Diagnostic, Fix
from torchsleuth.syntax import notebooks
from torchsleuth.syntax.text import SourceText

SCRIPTS = Path(__file__).parent / "scripts" / "crashes"
_RAISES = re.compile(r"# raises (TS\d+(?:/TS\d+)*) at (.+?)(?:, cause)?$")
_CAUSE = re.compile(r"(?:# |, )cause$")
_RUN = re.compile(r"^# run (.+)$", re.MULTILINE)
GENERIC = {"TS199", "TS918"}
"""Codes that claim nothing: an error of an operator, an error of the script."""
TRIED = 3
"""Fixes that are tried, as by ``torchsleuth fix``."""
COLUMNS = ("reported", "file", "line", "columns", "cause", "name", "first fix", "fixed")


@dataclass
class Script:
    """A script and what its comments say about it."""

    name: str
    files: dict[str, str]
    """Texts by path; that of a notebook is the program that its cells are."""
    notebook: notebooks.Notebook | None = None
    raising: list[tuple[str, int, int, int]] = field(default_factory=list)
    """File, line, and the columns where an expression starts and ends."""
    codes: set[str] = field(default_factory=set)
    causes: set[tuple[str, int]] = field(default_factory=set)
    command: tuple[str, ...] = ()

    @property
    def main(self) -> str:
        return "main.py" if "main.py" in self.files else next(iter(self.files))


@dataclass
class Result:
    """What became of one script."""

    script: Script
    marks: dict[str, bool]
    wrong: bool
    shown: list[str]


def scripts(root: Path, wanted: list[str]) -> list[Script]:
    found = []
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.ipynb")]):
        folder, notebook = path.parent, None
        if path.name == "main.py":
            files = {str(file.relative_to(folder)): file.read_text() for file in sorted(folder.rglob("*.py"))}
            name = str(folder.relative_to(root))
        elif any((parent / "main.py").exists() for parent in path.parents if parent.is_relative_to(root)):
            continue
        else:
            notebook = notebooks.read(path.read_bytes()) if notebooks.is_notebook(path) else None
            text = path.read_text() if notebook is None else notebook.text
            files, name = {path.name: text}, str(path.relative_to(root).with_suffix(""))
        if not wanted or any(part in name for part in wanted):
            found.append(_read(Script(name, files, notebook)))
    return found


def _read(script: Script) -> Script:
    name, files = script.name, script.files
    for file, text in files.items():
        if (command := _RUN.search(text)) is not None:
            script.command = tuple(command[1].split())
        for number, line in enumerate(text.splitlines(), 1):
            if _CAUSE.search(line):
                script.causes.add((file, number))
            if (match := _RAISES.search(line)) is not None:
                script.codes |= set(match[1].split("/"))
                for expression in match[2].split(" or "):
                    start = line.find(expression) + 1
                    assert 0 < start < match.start() + 1, f"{name}:{number}: no {expression!r}"
                    script.raising.append((file, number, start, start + len(expression)))
    assert script.raising and script.causes, f"{name}: nothing expected"
    return script


def measure(script: Script, explainer: Explainer, fixes: bool, python: str | None) -> Result:
    """`python`: the interpreter that starts it afresh, None where a fork will do."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder)) / "project"
        _write(root, script.files)
        if script.notebook is not None:
            (root / script.main).write_text(script.notebook.with_text(script.files[script.main]))
        report, output = _execute(root, script, python)
        report = explainer.explain(report)
        first = report.diagnostics[0] if report.diagnostics else None
        marks = dict.fromkeys(COLUMNS, False)
        if first is None:
            return Result(script, marks, False, ["nothing reported", *output.strip().splitlines()[-3:]])
        places = [place for place in script.raising if place[0] == os.path.relpath(first.path, root)]
        lines = [place for place in places if place[1] == first.start.line]
        marks["reported"] = True
        marks["file"] = bool(places)
        marks["line"] = bool(lines)
        marks["columns"] = (first.start.column, first.end.column) in [(start, end) for _, _, start, end in lines]
        marks["cause"] = any(place in script.causes for place in _places(first, root))
        marks["name"] = first.code in script.codes
        if fixes:
            for number, fix in enumerate(first.fixes[:TRIED]):
                if _runs_with(root, script, fix, python):
                    marks["first fix"], marks["fixed"] = number == 0, True
                    break
        return Result(script, marks, first.code not in script.codes | GENERIC, _described(first, root))


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def _execute(root: Path, script: Script, python: str | None) -> tuple[RunReport, str]:
    if python or script.command or script.notebook:
        output: list[str] = []
        target, *arguments = [*script.command, script.main]
        job = Run(target, tuple(arguments), python or sys.executable, str(root), on_output=output.append)
        job.module = bool(script.command)
        report = job.execute()
        return report, "".join(output)
    return execute(root, script.main)


def _places(diagnostic: Diagnostic, root: Path) -> set[tuple[str, int]]:
    """The lines that a diagnostic shows."""
    spans = [diagnostic, *diagnostic.related]
    return {
        (os.path.relpath(span.path, root), line) for span in spans for line in range(span.start.line, span.end.line + 1)
    }


def _runs_with(root: Path, script: Script, fix: Fix, python: str | None) -> bool:
    copy = root.parent / "repaired"
    shutil.rmtree(copy, ignore_errors=True)
    files = dict(script.files)
    for name, text in files.items():
        path = str(root / name)
        if edits := tuple(edit for edit in fix.edits if edit.path == path):
            files[name] = SourceText(path, text).apply(edits)
    _write(copy, files)
    if not python and not script.command and not _starts_afresh(script):
        return Fork(lambda: _run_plainly(script.main), copy).wait() == 0
    command = [python or sys.executable, *(["-m", *script.command] if script.command else []), script.main]
    try:
        return subprocess.run(command, cwd=copy, capture_output=True, timeout=SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _starts_afresh(script: Script) -> bool:
    """Whether the script starts processes that load it again, which a fork cannot do."""
    return any("spawn" in text for text in script.files.values())


def _run_plainly(name: str) -> int:
    sys.argv = [name]
    sys.path.insert(0, os.getcwd())
    runpy.run_path(name, run_name="__main__")
    return 0


def _described(diagnostic: Diagnostic, root: Path) -> list[str]:
    def place(span: object) -> str:
        return f"{os.path.relpath(span.path, root)}:{span.start.line}:{span.start.column}-{span.end.column}"  # type: ignore[attr-defined]

    return [
        f"{place(diagnostic)} {diagnostic.code} {diagnostic.message}",
        *(f"  note {place(related)} {related.message}" for related in diagnostic.related),
        *(f"  fix  {fix.title}" for fix in diagnostic.fixes),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help="only scripts with this in their name")
    parser.add_argument("--scripts", type=Path, default=SCRIPTS, help="the folder that they are in")
    parser.add_argument("--python", help="the interpreter that runs them")
    parser.add_argument("--show", action="store_true", help="what is said of every script")
    parser.add_argument("--no-fixes", action="store_true", help="try no fix")
    parser.add_argument("--cold", action="store_true", help="start every run as the command line does")
    options = parser.parse_args()
    warm_up()
    began, total, wrong = time.monotonic(), Counter[str](), 0
    chosen = scripts(options.scripts, options.name)
    explainer = Explainer(options.python or sys.executable)
    python = options.python or (sys.executable if options.cold else None)
    for script in chosen:
        with explainer if script is chosen[-1] else contextlib.nullcontext():
            result = measure(script, explainer, not options.no_fixes, python)
        total.update(name for name, right in result.marks.items() if right)
        wrong += result.wrong
        missed = [name for name, right in result.marks.items() if not right]
        missed += ["WRONG EXPLANATION"] if result.wrong else []
        print(f"{script.name}: {'missed ' + ', '.join(missed) if missed else 'all right'}", flush=True)
        if options.show or missed and set(missed) != {"first fix", "fixed"}:
            print("\n".join("    " + line for line in result.shown), flush=True)
    print(f"\n{len(chosen)} scripts in {time.monotonic() - began:.0f} s")
    for name in COLUMNS:
        print(f"  {name:10} {total[name]:4}  {total[name] / max(1, len(chosen)):6.1%}")
    print(f"  wrong explanations {wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Faults from real threads, in programs as people write them: is each found, its correct twin silent, and its first fix a repair?

    python -m benchmarks.real [--only REGEX] [--verify] [--no-run] [--show] [--unpack FOLDER]

Each file of `benchmarks/scripts/real/` is one program of several files. Its head says `source` (the thread that it rebuilds),
`main` (`train.py` if nothing is said), `codes` (families that name the fault), `needs` (a package without which it cannot be
run) and either `crash` (a regular expression of the exception) or `measure` (an expression over the globals of the finished
program, false because of the fault). Comments in the code say what is right, and make the twin:

- ``CODE  # fault``: a line at which the fault may be named; ``# fault | fixed: OTHER``: also how it stands in the twin,
- ``CODE  # removed`` or ``# fault | removed``: a line that the twin lacks,
- ``# fixed: LINE`` alone on a line: one that only the twin has, with its indentation.

Neither version is analysed or run with these comments. A fault is found if something of any severity is said, under one of its
codes, at a marked line, and repaired if the first fix offered there makes the program run, or its measure true.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.cases import _apply
from benchmarks.eager import Eager
from torchsleuth.schema import Diagnostic, Fix
from torchsleuth.worker.engine import Engine

PROGRAMS = Path(__file__).parent / "scripts" / "real"
_FENCE = re.compile(r"^```\w+ (?P<path>\S+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"\s*# (?P<fault>fault)?(?: \| )?(?:(?P<removed>removed)|fixed: ?(?P<fixed>.*))?$")


@dataclass
class Program:
    """A program and its twin. `lines`: where its fault may be named, by file."""

    name: str
    head: dict[str, str]
    faulty: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)
    lines: set[tuple[str, int]] = field(default_factory=set)

    @property
    def main(self) -> str:
        return self.head.get("main", "train.py")

    @property
    def silent(self) -> bool:
        return "measure" in self.head

    @property
    def runs_here(self) -> bool:
        return "needs" not in self.head or importlib.util.find_spec(self.head["needs"]) is not None


def programs(only: str = "") -> Iterator[Program]:
    for path in sorted(PROGRAMS.glob("*.md")):
        if re.search(only, path.stem):
            yield read(path.stem, path.read_text(encoding="utf-8"))


def read(name: str, text: str) -> Program:
    """A program out of its file."""
    head = dict(line.split(": ", 1) for line in text.partition("```")[0].splitlines()[1:] if ": " in line)
    program = Program(name, head)
    for fence in _FENCE.finditer(text):
        faulty, fixed = _versions(fence["path"], fence["text"], program.lines)
        program.faulty[fence["path"]], program.fixed[fence["path"]] = faulty, fixed
    assert program.lines and ("crash" in head) != ("measure" in head), f"{name}: what is expected of it?"
    return program


def _versions(path: str, text: str, marked: set[tuple[str, int]]) -> tuple[str, str]:
    faulty: list[str] = []
    fixed: list[str] = []
    for line in text.splitlines():
        mark = _MARK.search(line)
        if mark is None or not (mark["fault"] or mark["removed"] or mark["fixed"] is not None):
            faulty.append(line)
            fixed.append(line)
            continue
        code = line[: mark.start()]
        if not code.strip():
            fixed.append(mark["fixed"])
            continue
        faulty.append(code)
        if mark["fault"]:
            marked.add((path, len(faulty)))
        if not mark["removed"]:
            indentation = code[: len(code) - len(code.lstrip())]
            fixed.append(code if mark["fixed"] is None else indentation + mark["fixed"])
    return "\n".join(faulty) + "\n", "\n".join(fixed) + "\n"


def write(files: dict[str, str], folder: Path) -> Path:
    for name, text in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return folder


def analyze(engine: Engine, folder: Path) -> list[Diagnostic]:
    """What is said of all files of a program, each once."""
    found: dict[tuple[str, str, object], Diagnostic] = {}
    for path in sorted(folder.rglob("*.py")):
        for item in engine.analyze(str(path), path.read_text(encoding="utf-8"), roots=(str(folder),)).diagnostics:
            found.setdefault((item.path, item.code, item.start), item)
    return list(found.values())


def at_marked_line(program: Program, folder: Path, item: Diagnostic) -> bool:
    places = [(item.path, item.start, item.end), *((r.path, r.start, r.end) for r in item.related)]
    lines = {(path, line) for path, start, end in places for line in range(start.line, end.line + 1)}
    codes = tuple(program.head.get("codes", "TS").split())
    return item.code.startswith(codes) and bool(lines & {(str(folder / name), line) for name, line in program.lines})


def works(eager: Eager, program: Program, folder: Path) -> str:
    """Empty if the program in `folder` runs to its end and does what it should; else what it does."""
    measure = program.head.get("measure", "True")
    try:
        crash, good = eager.measured(folder / program.main, measure)
    except TimeoutError:
        return "takes too long"
    return crash.error if crash else "" if good else f"{measure} is false"


def wrong(eager: Eager, program: Program) -> str:
    """What a program is other than it says of itself, if anything."""
    with tempfile.TemporaryDirectory() as before, tempfile.TemporaryDirectory() as after:
        said = works(eager, program, write(program.faulty, Path(before).resolve()))
        expected = program.head.get("crash", re.escape(f"{program.head.get('measure')} is false"))
        if not re.search(expected, said):
            return f"the faulty version: {said or 'works'}"
        said = works(eager, program, write(program.fixed, Path(after).resolve()))
        return f"the twin: {said}" if said else ""


def repaired(eager: Eager, program: Program, folder: Path, fix: Fix) -> str:
    with tempfile.TemporaryDirectory() as copy:
        target = write(program.faulty, Path(copy).resolve())
        _apply(fix, folder, target)
        return works(eager, program, target)


def described(item: Diagnostic, folder: Path) -> str:
    place = f"{Path(item.path).relative_to(folder)}:{item.start.line}"
    return f"{item.severity:7} {item.code} {place} {item.message}"


@dataclass
class Tally:
    """The counts of one part of the programs."""

    programs: int = 0
    found: int = 0
    accused: int = 0
    runnable: int = 0
    first: int = 0

    def __str__(self) -> str:
        return (
            f"found {self.found}/{self.programs}, twins accused {self.accused}/{self.programs}, "
            f"repaired by the first fix {self.first}/{self.runnable}"
        )


def judge(engine: Engine, eager: Eager | None, program: Program, tally: Tally, show: bool) -> None:
    with tempfile.TemporaryDirectory() as before, tempfile.TemporaryDirectory() as after:
        faulty, fixed = write(program.faulty, Path(before).resolve()), write(program.fixed, Path(after).resolve())
        said = analyze(engine, faulty)
        hits = [item for item in said if at_marked_line(program, faulty, item)]
        noise = [item for item in analyze(engine, fixed) if item.severity in ("error", "warning")]
        tally.programs += 1
        tally.found += bool(hits)
        tally.accused += bool(noise)
        print(f"{'found ' if hits else 'MISSED'} {program.name}{' (silent)' if program.silent else ''}", flush=True)
        for item in said if show else hits:
            print(f"    {'' if item in hits else 'elsewhere '}{described(item, faulty)}")
        for item in noise:
            print(f"    TWIN ACCUSED {described(item, fixed)}")
        if not hits or eager is None or not program.runs_here:
            return
        tally.runnable += 1
        fixes = [fix for item in hits for fix in item.fixes]
        outcome = repaired(eager, program, faulty, fixes[0]) if fixes else "no fix"
        tally.first += not outcome
        print(
            f"    {len(fixes)} fixes{', first: ' + fixes[0].title if fixes else ''} → {outcome or 'works'}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="regular expression of the names of programs")
    parser.add_argument(
        "--verify", action="store_true", help="run both versions instead: are the programs what they say?"
    )
    parser.add_argument("--no-run", action="store_true", help="do not run the repaired programs")
    parser.add_argument("--show", action="store_true", help="also what is said elsewhere")
    parser.add_argument("--unpack", type=Path, help="write both versions of each program into this folder instead")
    options = parser.parse_args()
    chosen = list(programs(options.only))
    if options.unpack:
        for program in chosen:
            write(program.faulty, options.unpack / program.name / "bug")
            write(program.fixed, options.unpack / program.name / "fixed")
        return
    eager = None if options.no_run else Eager(None)
    if options.verify and eager is not None:
        for program in chosen:
            said = wrong(eager, program) if program.runs_here else f"not run without {program.head['needs']}"
            print(f"{program.name}: {said or 'as it says'}", flush=True)
        return
    engine, crashing, silent = Engine(), Tally(), Tally()
    for program in chosen:
        judge(engine, eager, program, silent if program.silent else crashing, options.show)
    print(f"\ncrashing: {crashing}\nsilent:   {silent}")


if __name__ == "__main__":
    main()

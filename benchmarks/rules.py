"""How much the rules find: their samples, faults put into working scripts, what TorchFix finds, and what they cost.

python -m benchmarks.rules [FOLDER…] [--part PART…] [--each COUNT] [--kind WORDS] [--torchfix VENV --against FOLDER] [--memory FILE]

FOLDER holds working scripts (default: tests/corpus). Parts: samples, faults, shapes, time. The mutants of shapes, and those faults
that are some only if they crash, are run to see; `--memory` keeps that for the next time. With `--torchfix`, a virtual environment in which TorchFix
is installed, its reports on a folder are compared.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from benchmarks.eager import Crash, Eager, crashing
from benchmarks.faults import CHANGING, CRASHING, FAULTS, fault_mutants
from benchmarks.mutants import CORPUS, Mutant, Script, sample, scripts, shape_mutants
from benchmarks.torchfix import compare
from tests.rules.samples import load_samples
from torchsleuth.rules.registry import RULES
from torchsleuth.schema import Diagnostic
from torchsleuth.worker.engine import Engine

PARTS = ("samples", "faults", "shapes", "time")
DEFAULT = [code for code, rule in RULES.items() if rule.fault.default]
PER_SCRIPT = 6
"""Mutants of shapes for each script."""
REPEATS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[CORPUS])
    parser.add_argument("--part", action="append", choices=PARTS, help="default: all")
    parser.add_argument("--each", type=int, metavar="COUNT", help="faults of each kind at most (default: all)")
    parser.add_argument("--kind", metavar="WORDS", help="only the faults with these words in their names")
    parser.add_argument("--torchfix", type=Path, metavar="VENV")
    parser.add_argument("--against", type=Path, metavar="FOLDER", default=CORPUS, help="what TorchFix is compared on")
    parser.add_argument("--memory", type=Path, metavar="FILE", help="keeps which mutants crash")
    options = parser.parse_args()
    parts = options.part or ([] if options.torchfix else list(PARTS))
    engine, working = Engine(), scripts(options.folders)
    if "samples" in parts:
        show("Samples", samples(engine))
    if "faults" in parts:
        show(
            "Faults put into working scripts",
            faults(engine, working, Eager(options.memory), options.each, options.kind or ""),
        )
    if "shapes" in parts:
        show("Shapes changed in working scripts", shapes(engine, working, Eager(options.memory)))
    if "time" in parts:
        show("Time of engine and rules", cost(engine, working))
    if options.torchfix:
        show(f"TorchFix on {options.against}", compare(engine, options.torchfix, options.against))


def show(title: str, lines: Iterator[str]) -> None:
    print(f"\n{title}\n")
    for line in lines:
        print(line, flush=True)


# -- samples ---------------------------------------------------------------------------------------


def samples(engine: Engine) -> Iterator[str]:
    """For each rule: samples in which it finds all that it should, and near misses in which nothing is found."""
    found, positives, silent, misses = (Counter[str]() for _ in range(4))
    for item in load_samples():
        codes = [*DEFAULT, *({item.code} - set(DEFAULT))]
        diagnostics = engine.analyze("sample.py", item.text, verify=False, codes=codes).diagnostics
        lines = {diagnostic.start.line for diagnostic in diagnostics if diagnostic.code == item.code}
        if item.lines:
            positives[item.code] += 1
            found[item.code] += lines == set(item.lines)
        else:
            misses[item.code] += 1
            silent[item.code] += not lines
    for code in RULES:
        if positives[code] or misses[code]:
            yield (
                f"{code} {RULES[code].fault.name:<32} {found[code]:>3} of {positives[code]:>3} found, "
                f"{silent[code]:>3} of {misses[code]:>3} silent"
            )
    yield f"together: {found.total()} of {positives.total()} found, {silent.total()} of {misses.total()} silent"
    bare = [code for code, rule in RULES.items() if rule.fault.default and not positives[code]]
    if bare:
        yield f"without samples: {', '.join(bare)}"


# -- mutants ---------------------------------------------------------------------------------------


def analyzed(
    engine: Engine, script: Script, overlay: dict[str, str], more: tuple[str, ...] = ()
) -> tuple[Diagnostic, ...]:
    """What is said about a script, with other texts in the place of some of its files. `more`: rules that are off by
    default."""
    path = str(script.path)
    text = overlay.get(path) or script.path.read_text(encoding="utf-8")
    roots = (str(script.path.parent),)
    return engine.analyze(path, text, overlay, roots, verify=False, codes=[*DEFAULT, *more]).diagnostics


def faults(engine: Engine, working: list[Script], eager: Eager, each: int | None, words: str) -> Iterator[str]:
    """For each kind of fault: how many of those put in are found under a code that names them, and by what rule."""
    found, other = Counter[str](), Counter[str]()
    by_code: Counter[tuple[str, str]] = Counter()
    missed: list[str] = []
    put_in: dict[str, list[Mutant]] = {kind: [] for kind, _, _ in FAULTS}
    for script in working:
        for mutant in fault_mutants(script):
            put_in[mutant.kind].append(mutant)
    chosen: dict[str, list[Mutant]] = {}
    for kind, mutants in put_in.items():
        if words in kind:
            harmful = eager.crash if kind in CRASHING else eager.changes if kind in CHANGING else bool
            chosen[kind] = list(islice(filter(harmful, sample(iter(mutants), len(mutants))), each))
    injected = {kind: len(mutants) for kind, mutants in chosen.items() if mutants}
    for mutant in (mutant for mutants in chosen.values() for mutant in mutants):
        overlay = {str(mutant.file): mutant.text}
        documents = {mutant.script.path: mutant.script, mutant.file: replace(mutant.script, path=mutant.file)}
        said = [item for script in documents.values() for item in analyzed(engine, script, overlay, mutant.expected)]
        codes = {item.code for item in said}
        by_code.update((mutant.kind, code) for code in codes & set(mutant.expected))
        if codes & set(mutant.expected):
            found[mutant.kind] += 1
        else:
            other[mutant.kind] += bool(codes)
            missed.append(f"  missed: {mutant} {' '.join(sorted(codes))}")
    for kind, count in injected.items():
        rules = ", ".join(f"{code} {number}" for (of, code), number in sorted(by_code.items()) if of == kind)
        yield f"{kind:<40} {found[kind]:>4} of {count:>4} found ({rules}), {other[kind]} under other codes"
    yield f"together: {found.total()} of {sum(injected.values())}"
    yield from missed


def shapes(engine: Engine, working: list[Script], eager: Eager) -> Iterator[str]:
    """Mutants that crash: how many are found, and how many where the crash or the change is."""
    counts, found, placed = Counter[str](), Counter[str](), Counter[str]()
    causes: Counter[str] = Counter()
    missed: list[str] = []
    tried = 0
    for script in working:
        chosen = sample(shape_mutants(script), PER_SCRIPT)
        tried += len(chosen)
        for mutant, crash in crashing(eager, chosen):
            diagnostics = analyzed(engine, script, {str(mutant.file): mutant.text})
            errors = [item for item in diagnostics if item.severity != "hint"]
            counts[mutant.kind] += 1
            found[mutant.kind] += bool(errors)
            placed[mutant.kind] += any(_at(item, mutant, crash) for item in errors)
            if not errors:
                causes[_cause(crash)] += 1
                where = " ← ".join(f"{name}:{line}" for name, line in reversed(crash.lines[-2:]))
                missed.append(f"  missed: {mutant} | {crash.error[:110]} | {where}")
    for kind, count in counts.items():
        yield f"{kind:<20} {found[kind]:>4} of {count:>4} found, {placed[kind]:>4} at the crash or the change"
    share = 100 * found.total() / max(counts.total(), 1)
    yield f"together: {found.total()} of {counts.total()} that crash found ({share:.1f} %), of {tried} mutants"
    yield from (f"  missed {number} × {cause}" for cause, number in causes.most_common())
    yield from missed


def _at(diagnostic: Diagnostic, mutant: Mutant, crash: Crash) -> bool:
    """Whether a diagnostic, or a place that it relates to, is on a line of the crash or on the changed one."""
    wanted = {*crash.lines, (mutant.file.name, mutant.line)}
    places = [(diagnostic.path, diagnostic.start.line, diagnostic.end.line)]
    places += [(item.path, item.start.line, item.end.line) for item in diagnostic.related]
    return any((Path(path).name, line) in wanted for path, first, last in places for line in range(first, last + 1))


def _cause(crash: Crash) -> str:
    """The message without its numbers."""
    words = crash.error.split(":", 1)
    return f"{words[0]}: {' '.join(word for word in words[-1].split() if not any(map(str.isdigit, word)))[:70]}"


# -- cost ------------------------------------------------------------------------------------------


def cost(engine: Engine, working: list[Script]) -> Iterator[str]:
    """A whole check of each script against the engine alone, with a memory that is warm."""
    rules = [RULES[code] for code in DEFAULT]
    alone: list[float] = []
    whole: list[float] = []
    for script in working:
        path = str(script.path)
        files, roots = {path: script.path.read_text(encoding="utf-8")}, (str(script.path.parent),)
        engine._diagnose(engine.interpret(path, files, roots), rules)
        times = []
        for _ in range(REPEATS):
            began = time.process_time()
            analysis = engine.interpret(path, files, roots)
            ran = time.process_time()
            engine._diagnose(analysis, rules)
            times.append((ran - began, time.process_time() - began))
        alone.append(statistics.median(first for first, _ in times))
        whole.append(statistics.median(second for _, second in times))
    ratio = sum(whole) / sum(alone)
    yield f"engine alone: {sum(alone):.2f} s, engine and rules: {sum(whole):.2f} s, {ratio:.2f} times as long"
    worst = max(range(len(working)), key=lambda index: whole[index] / alone[index])
    yield f"at most {whole[worst] / alone[worst]:.2f} times ({working[worst].name}), {len(working)} scripts"


if __name__ == "__main__":
    main()

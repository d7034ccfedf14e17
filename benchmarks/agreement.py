"""How much of what a run shows the analysis knew before, and whether it was right.

    python -m benchmarks.agreement tests/corpus examples my_project/ --json agreement.json

Every script (a folder with a ``main.py`` is one) runs under instrumentation; each tensor expression that the run saw is
looked up, by its place, in the facts of the analysis. A contradiction is a size, rank, dtype or device that the analysis
states and the run refutes. Covered is an expression of which the analysis knows the dtype and every size, by number or by
name; where its executions differ, those of the execution that was observed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torchsleuth.runtime.session import Run
from torchsleuth.schema import DimJson, Json, Position, TensorFact
from torchsleuth.worker.engine import Engine, facts_of

Place = tuple[str, Position, Position]
REASONS = ("nothing known", "unknown rank", "unknown sizes", "unknown dtype")


@dataclass
class Comparison:
    """What came out of one script."""

    script: Path
    exit_code: int | None = None
    observed: int = 0
    covered: int = 0
    contradictions: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    """Sizes that some executions of the expression had and others had not."""
    uncovered: list[tuple[str, str, bool]] = field(default_factory=list)
    """Reason, place with expression, and whether the loss begins there, its operands being covered."""
    incomplete: list[str] = field(default_factory=list)

    @property
    def reasons(self) -> Counter[str]:
        return Counter(reason for reason, _, _ in self.uncovered)

    def to_json(self) -> Json:
        return {
            "script": str(self.script),
            "exit_code": self.exit_code,
            "observed": self.observed,
            "covered": self.covered,
            "contradictions": self.contradictions,
            "partial": self.partial,
            "uncovered": [{"reason": reason, "at": at, "begins_here": origin} for reason, at, origin in self.uncovered],
            "incomplete": self.incomplete,
        }


def scripts(paths: Sequence[str]) -> Iterator[Path]:
    """The scripts that the arguments name: files, folders with a ``main.py``, and what lies directly in a folder."""
    for given in map(Path, paths):
        if given.is_file():
            yield given
        elif (given / "main.py").is_file():
            yield given / "main.py"
        else:
            yield from sorted(given.glob("*.py"))
            yield from sorted(given.glob("*/main.py"))


def observe(script: Path, seconds: float, cwd: str | None) -> tuple[int, tuple[TensorFact, ...]]:
    """Run a script, in a folder that is thrown away unless one is given, and hand out what was seen."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
        job = Run(
            str(script.resolve()),
            interpreter=sys.executable,
            cwd=cwd or folder,
            on_output=lambda text: None,
            environment=environment,
        )
        timer = threading.Timer(seconds, job.cancel)
        timer.start()
        try:
            report = job.execute()
        finally:
            timer.cancel()
    return report.exit_code, report.facts


def contradiction(known: TensorFact, seen: TensorFact) -> tuple[str | None, bool]:
    """What a run refutes, and whether only some of its executions do."""
    observations = [shape for shape in (seen.shape, seen.later) if shape is not None]
    if (known.shape is not None or known.variants) and observations:
        stated = known.variants or (known.shape,)
        wrong = [_least(refuted(one, shape) for one in stated) for shape in observations]
        if all(wrong):
            return wrong[0], False
        if any(wrong):
            return next(item for item in wrong if item), True
    if None not in (seen.dtype, *known.dtypes) and known.dtypes and seen.dtype not in known.dtypes:
        return "dtype", False
    if known.dtype is not None and seen.dtype is not None and known.dtype != seen.dtype:
        return "dtype", False
    # The fact of "an accelerator when there is one" reads like that of a fixed one, with which the script would not run.
    accelerated = known.device is not None and known.device.split(":")[0] not in ("cpu", "meta")
    if known.device is not None and seen.device is not None and not accelerated and known.device != seen.device:
        return "device", False
    return None, False


def _least(found: Iterable[str | None]) -> str | None:
    """None where one of the stated shapes agrees, else what is wrong with one of them."""
    faults = list(found)
    return None if None in faults else faults[0]


def refuted(stated: tuple[DimJson, ...], shape: tuple[DimJson, ...]) -> str | None:
    if len(stated) != len(shape):
        return "rank"
    names: dict[str, DimJson] = {}
    for size, actual in zip(stated, shape):
        if isinstance(size, int):
            if size != actual:
                return "size"
        elif size != "?" and names.setdefault(size, actual) != actual:
            return "size"
    return None


def reason(known: TensorFact | None, seen: TensorFact) -> str | None:
    """Why an expression is not covered, or None."""
    if known is None:
        return REASONS[0]
    for one, dtype in zip(known.variants, known.dtypes):
        fits = seen.shape is not None and "?" not in one and refuted(one, seen.shape) is None
        if fits and dtype is not None and dtype == seen.dtype:
            return None
    if known.shape is None:
        return REASONS[1]
    if "?" in known.shape:
        return REASONS[2]
    return REASONS[3] if known.dtype is None else None


def compare(engine: Engine, script: Path, seconds: float, cwd: str | None) -> Comparison:
    result = Comparison(script)
    result.exit_code, observed = observe(script, seconds, cwd)
    static: dict[Place, TensorFact] = {}
    paths = {fact.path for fact in observed}
    main = str(script.resolve())
    # The script first: it calls what it imports. What it does not reach is known from the file itself.
    for path in sorted(paths | {main}, key=lambda path: (path != main, path)):
        try:
            text = Path(path).read_text(encoding="utf-8")
            analysis = engine.interpret(path, {path: text}, (str(script.resolve().parent),))
            found = [fact for other in paths if path in (main, other) for fact in facts_of(analysis, other)]
        except Exception:
            result.incomplete.append(f"{path}: {traceback.format_exc(limit=-1).splitlines()[-1]}")
            continue
        trace = analysis.trace
        result.incomplete += [
            f"{path}: {fault}" for fault in (trace.incomplete, *trace.internal_errors) if fault is not None
        ]
        for fact in found:
            if not fact.supposed:
                static.setdefault((fact.path, fact.start, fact.end), fact)
    lost = {
        (fact.path, fact.start, fact.end): fact
        for fact in observed
        if reason(static.get((fact.path, fact.start, fact.end)), fact) is not None
    }
    for seen in observed:
        place = (seen.path, seen.start, seen.end)
        known = static.get(place)
        result.observed += 1
        why = reason(known, seen)
        at = f"{shown(seen.path)}:{seen.start.line}:{seen.start.column} {' '.join(seen.expression.split())[:80]}"
        if why is None:
            result.covered += 1
        else:
            result.uncovered.append((why, at, begins(seen, lost)))
        if known is not None:
            kind, partial = contradiction(known, seen)
            if kind is not None:
                later = "" if seen.later is None else f", later {list(seen.later)}"
                line = f"{at}: {kind}: static {known.describe()}, observed {seen.describe()}{later}"
                (result.partial if partial else result.contradictions).append(line)
    return result


def begins(seen: TensorFact, lost: dict[Place, TensorFact]) -> bool:
    """Whether knowledge is lost in this very expression: no part of it, and no variable in it, was lost before."""
    names: set[str] = set()
    try:
        for node in ast.walk(ast.parse(seen.expression.strip(), mode="eval")):
            if isinstance(node, ast.Name | ast.Attribute):
                names.add(ast.unparse(node))
    except (SyntaxError, ValueError):
        pass
    for (path, start, end), other in lost.items():
        if path != seen.path or other is seen:
            continue
        inside = seen.start <= start and end <= seen.end and (start, end) != (seen.start, seen.end)
        before = other.binding in names and start < seen.start
        if inside or before:
            return False
        if seen.binding is not None and start.line <= seen.start.line and seen.start < start <= end:
            return False  # the value that this target is given was lost itself
        if seen.binding is not None and start.line >= seen.start.line and start.line <= seen.start.line + 1:
            return False
    return True


def shown(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement", description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--json", metavar="FILE", help="write everything there, too")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="SECONDS", help="for one script")
    parser.add_argument("--cwd", metavar="FOLDER", help="where the scripts run (default: an empty temporary folder)")
    parser.add_argument("--uncovered", action="store_true", help="list where coverage is lost first")
    options = parser.parse_args()
    engine = Engine()
    results: list[Comparison] = []
    for script in scripts(options.paths):
        result = compare(engine, script, options.timeout, options.cwd)
        results.append(result)
        ended = "" if result.exit_code == 0 else f", exit code {result.exit_code}"
        print(
            f"{shown(str(script.resolve()))}: {result.observed} observed, "
            f"{percent(result.covered, result.observed)} covered, {len(result.contradictions)} contradictions{ended}",
            flush=True,
        )
        for line in result.incomplete:
            print(f"    incomplete: {line}")
        for line in result.contradictions:
            print(f"    contradiction: {line}")
        for line in result.partial:
            print(f"    in some executions: {line}")
        if options.uncovered:
            for why, at, origin in result.uncovered:
                if origin:
                    print(f"    {why}: {at}")
    observed = sum(result.observed for result in results)
    covered = sum(result.covered for result in results)
    reasons = sum((result.reasons for result in results), Counter[str]())
    contradictions = sum(len(result.contradictions) for result in results)
    partial = sum(len(result.partial) for result in results)
    print(
        f"\n{len(results)} scripts, {observed} tensor expressions observed, {covered} covered "
        f"({percent(covered, observed)}), {contradictions} contradictions, {partial} true of some executions only"
    )
    for why in REASONS:
        print(f"    {why}: {reasons[why]} ({percent(reasons[why], observed)})")
    if options.json:
        Path(options.json).write_text(json.dumps([result.to_json() for result in results], indent=2), encoding="utf-8")
    return 1 if contradictions else 0


if __name__ == "__main__":
    raise SystemExit(main())

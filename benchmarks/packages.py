"""The analysis of published code: every file of well-known packages, each as a document of its own.

    python -m benchmarks.packages CACHE [--only NAME,…] [--every N [--first K]] [--seconds S] [--json FILE]

The packages' Python sources are downloaded from the package index with pip, and unpacked below CACHE. This code works, so
every error and warning is either a bug of the package or one of ours, and is printed in full; so is every crash, every
expression at which the analysis failed and went on, and every file that takes longer than the budget. `known results` is
how many `forward` methods have a returned expression whose rank the analysis knows, with nothing given but the class; also
where it only supposes the rank that the first layer is made for.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import json
import signal
import subprocess
import sys
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

from torchsleuth.schema import FileAnalysis
from torchsleuth.worker.engine import Engine

PACKAGES = {
    "vit-pytorch": "vit_pytorch/*",
    "x-transformers": "x_transformers/*",
    "einops": "einops/*",
    "timm": "timm/*",
    "segmentation-models-pytorch": "segmentation_models_pytorch/*",
    "torchvision": "torchvision/*",
    "lightning": "lightning/*",
    "transformers": "transformers/models/*/modeling_*",
    # These train what they define.
    "d2l": "d2l/*",
    "denoising-diffusion-pytorch": "denoising_diffusion_pytorch/*",
    "facenet-pytorch": "facenet_pytorch/*",
    "labml-nn": "labml_nn/*",
    "lightly": "lightly/*",
    "pytorch-metric-learning": "pytorch_metric_learning/*",
    "simpletransformers": "simpletransformers/*",
    "stable-baselines3": "stable_baselines3/*",
    "stylegan2-pytorch": "stylegan2_pytorch/*",
    "yolov5": "yolov5/*",
}
"""Names on the index, and the files that are looked at."""


class TimedOut(BaseException):
    """The budget of a file is used up. Not an Exception: the analysis recovers from those."""


@dataclass
class Tally:
    files: int = 0
    lines: int = 0
    seconds: float = 0.0
    crashes: list[str] = field(default_factory=list)
    internal_errors: list[str] = field(default_factory=list)
    timeouts: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    hints: Counter[str] = field(default_factory=Counter)
    incomplete: Counter[str] = field(default_factory=Counter)
    forwards: int = 0
    known: int = 0
    slowest: list[tuple[float, str]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        for name, value in vars(other).items():
            if isinstance(value, Counter):
                getattr(self, name).update(value)
            else:
                setattr(self, name, getattr(self, name) + value)

    def report(self, name: str) -> None:
        lines = f"{self.files} files, {self.lines} lines, {self.seconds:.0f} s"
        known = f"{self.known} of {self.forwards} ({100 * self.known / max(1, self.forwards):.1f} %)"
        print(f"{name}: {lines}")
        print(
            f"  crashes {len(self.crashes)}, internal errors {len(self.internal_errors)}, time-outs {len(self.timeouts)}, findings {len(self.findings)}",
            end="",
        )
        print(f", known results {known}")
        slow = ", ".join(f"{Path(path).name} {seconds:.1f} s" for seconds, path in sorted(self.slowest)[:-4:-1])
        print(f"  slowest: {slow}; hints: {sum(self.hints.values())}; incomplete: {sum(self.incomplete.values())}")


def sources(package: str, cache: Path) -> Path:
    """The folder with the unpacked package, downloaded when it is not there yet."""
    folder = cache / package
    if not folder.exists():
        archives = cache / "archives"
        archives.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(archives), package], check=True, stderr=subprocess.DEVNULL)
        stem = package.replace("-", "_")
        wheel = next(iter(sorted(archives.glob(f"{stem}-*.whl"))))
        partial = folder.with_suffix(".partial")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(partial, [name for name in archive.namelist() if name.endswith(".py")])
        partial.rename(folder)
    return folder


@contextmanager
def budget(seconds: float) -> Iterator[None]:
    def expire(signum: int, frame: Any) -> None:
        raise TimedOut

    previous = signal.signal(signal.SIGPROF, expire)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def returned_by_forwards(tree: ast.Module) -> Iterator[list[ast.expr]]:
    """For each `forward` of a class: the expressions it returns, with tuples taken apart."""
    for cls in ast.walk(tree):
        if not isinstance(cls, ast.ClassDef):
            continue
        for method in cls.body:
            if isinstance(method, ast.FunctionDef) and method.name == "forward":
                values = [
                    part
                    for node in ast.walk(method)
                    if isinstance(node, ast.Return) and node.value is not None
                    for part in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])
                ]
                if values:
                    yield values


def known_results(text: str, analysis: FileAnalysis) -> tuple[int, int]:
    """(`forward` methods, those of them with a returned expression of known rank)."""
    lines = text.split("\n")
    known = {(fact.start.line, fact.start.column, fact.end.line) for fact in analysis.facts if fact.shape is not None}
    total = found = 0
    for values in returned_by_forwards(ast.parse(text)):
        total += 1
        for value in values:
            column = len(lines[value.lineno - 1].encode()[: value.col_offset].decode()) + 1
            if (value.lineno, column, value.end_lineno) in known:
                found += 1
                break
    return total, found


def analyze(engine: Engine, path: Path, root: Path, seconds: float) -> Tally:
    tally = Tally(files=1)
    name = str(path.relative_to(root))
    text = path.read_text(encoding="utf-8")
    tally.lines = text.count("\n")
    began = time.process_time()
    try:
        with budget(seconds):
            analysis = engine.analyze(str(path), text, roots=(str(root),), verify=False)
    except TimedOut:
        tally.timeouts.append(name)
        return tally
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        tally.crashes.append(f"{name}: {error!r} at {Path(last.filename).name}:{last.lineno}")
        return tally
    finally:
        tally.seconds = time.process_time() - began
        tally.slowest.append((tally.seconds, name))
    for item in analysis.diagnostics:
        if item.severity == "hint":
            tally.hints[item.code] += 1
        else:
            where = Path(item.path)
            place = where.relative_to(root) if where.is_relative_to(root) else where
            related = "".join(
                f"\n      {Path(note.path).name}:{note.start.line}: {note.message}" for note in item.related
            )
            source = text.split("\n")[item.start.line - 1].strip() if where == path else ""
            tally.findings.append(f"{place}:{item.start.line}: {item.code} {item.message}\n      {source}{related}")
    tally.internal_errors = list(dict.fromkeys(analysis.stats["internal_errors"]))
    if analysis.stats["incomplete"]:
        tally.incomplete[analysis.stats["incomplete"]] += 1
    tally.forwards, tally.known = known_results(text, analysis)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packages")
    parser.add_argument("cache", type=Path, help="folder for the downloaded sources")
    parser.add_argument("--only", default=",".join(PACKAGES), help="names of packages, separated by commas")
    parser.add_argument("--files", default="*", help="pattern of the file names")
    parser.add_argument("--every", type=int, default=1, help="every Nth file")
    parser.add_argument("--first", type=int, default=0, help="position of the first of them")
    parser.add_argument("--seconds", type=float, default=60.0, help="budget for a file, of processor time")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    options = parser.parse_args()
    # Most of the others use it, so it is there where they are.
    sys.path.append(str(sources("einops", options.cache).resolve()))
    engine = Engine()
    total = Tally()
    numbers: dict[str, Any] = {}
    for package in options.only.split(","):
        root = sources(package, options.cache).resolve()
        tally = Tally()
        paths = sorted(path for path in root.rglob("*.py") if fnmatch.fnmatch(str(path), f"{root}/{PACKAGES[package]}"))
        wanted = [path for path in paths if fnmatch.fnmatch(path.name, options.files)]
        for path in wanted[options.first :: options.every]:
            one = analyze(engine, path, root, options.seconds)
            for title in ("crashes", "internal_errors", "timeouts", "findings"):
                for entry in getattr(one, title):
                    print(f"{title.upper()} {entry}", flush=True)
            tally.add(one)
        tally.report(package)
        total.add(tally)
        numbers[package] = {name: value for name, value in vars(tally).items() if name != "slowest"}
    total.report("all")
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()

"""How long an analysis takes: the first one, the ones after each keystroke, and how the time grows with the length.

    python -m benchmarks.latency [SCRIPT…] [--warm FOLDER] [--edits N] [--pyrefly EXECUTABLE]

Everything is measured in one process, as in the worker: interpreter and rules, without fixes (they are verified after the
diagnostics are shown). *Empty*: the memo of the oracle knows nothing. *Warm*: it has seen the scripts of `--warm`, but not
this one. An *edit* changes one character, at places drawn at random but the same in each run: a letter of a name, a digit,
an operator, a new line. Many leave a statement that does not parse, a name that nothing binds, or a word that stands nowhere
else: then what was found before is kept, as in the editor (until the user pauses), and only that decision takes time; their
share is printed as *kept*. *Asked* is the median of those for which the worker is asked. With `--pyrefly`, the same files are checked by that program
and by ours, each a process of its own, in turns. Compare ratios: the wall clock is that of a machine with other work.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.unfinished import Analysed
from torchsleuth.worker import collector
from torchsleuth.worker.engine import Engine

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"
SCRIPTS = [CORPUS / "gpt_train_full.py", CORPUS / "hf_style.py", CORPUS / "llama_rope.py"]
LENGTHS = (100, 300, 1000, 3000)
TURNS = 3


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def analysis(engine: Engine, path: Path, text: str) -> tuple[float, int, int]:
    """Seconds, and the questions to the oracle that it had, and had not, been asked before."""
    collector.tidy(passing=engine.unrepaired)
    began = time.perf_counter()
    stats = engine.analyze(str(path), text, verify=False).stats
    return time.perf_counter() - began, stats["hits"], stats["misses"]


def warmed(folder: Path, without: Sequence[Path]) -> Engine:
    engine = Engine()
    for path in sorted(folder.glob("*.py")):
        if path not in without:
            engine.analyze(str(path), path.read_text(encoding="utf-8"), verify=False)
    return engine


def edited(text: str, count: int) -> list[str]:
    """Versions of the text with one character changed."""
    drawn = random.Random(0)
    found: list[str] = []
    while len(found) < count:
        place = drawn.randrange(len(text))
        if text[place].isspace() and drawn.random() < 0.8:
            continue
        kind = drawn.choice(("insert", "delete", "replace"))
        new = drawn.choice("abx017+.(,= \n") if kind != "delete" else ""
        version = text[:place] + new + text[place + (kind != "insert") :]
        if version != text:
            found.append(version)
    return found


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def script_of(lines: int) -> str:
    """A training script of about that many lines: one class, function and loop after another."""
    parts = ["import torch", "from torch import nn", ""]
    number = 0
    while len(parts) < lines:
        width = 16 + number % 7
        parts += f"""
class Net{number}(nn.Module):
    def __init__(self, width={width}):
        super().__init__()
        self.first = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(2 * width)
        self.second = nn.Linear(2 * width, width)

    def forward(self, x):
        h = torch.relu(self.norm(self.first(x)))
        return x + self.second(h)


def train{number}(model, data, target, steps=10):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        loss = nn.functional.mse_loss(model(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


data{number} = torch.randn(32, {width})
print(train{number}(Net{number}(), data{number}, data{number}.roll(1, dims=1)))
""".splitlines()
        number += 1
    return "\n".join(parts[:lines]) + "\n" if lines < 40 else "\n".join(parts) + "\n"


def first_and_edits(paths: Sequence[Path], warm: Path, count: int) -> None:
    print(
        f"{'script':<24} {'lines':>5} {'empty s':>8} {'warm s':>8} {'again ms':>9} {'edit p50':>9} {'p95 ms':>7} {'asked ms':>8} {'kept':>6} {'memo':>6}"
    )
    for path in paths:
        text = path.read_text(encoding="utf-8")
        empty, _, _ = analysis(Engine(), path, text)
        engine = warmed(warm, paths)
        first, hits, misses = analysis(engine, path, text)
        again = statistics.median(analysis(engine, path, text)[0] for _ in range(TURNS))
        before = Analysed(SourceText(str(path), text), frozenset(engine.vocabulary()))
        edits: list[float] = []
        asked: list[float] = []
        for version in edited(text, count):
            collector.tidy(passing=engine.unrepaired)
            began = time.perf_counter()
            kept = before.unfinished(version) is not None
            if not kept:
                engine.analyze(str(path), version, verify=False)
            edits.append((time.perf_counter() - began) * 1000)
            if not kept:
                asked.append(edits[-1])
        print(
            f"{path.stem:<24} {len(text.splitlines()):>5} {empty:>8.2f} {first:>8.2f} {again * 1000:>9.0f} "
            f"{quantile(edits, 0.5):>9.0f} {quantile(edits, 0.95):>7.0f} {quantile(asked or [0.0], 0.5):>8.0f} {1 - len(asked) / count:>6.0%} {hits / max(hits + misses, 1):>6.1%}"
        )


def growth() -> None:
    """Time for each line, against that of the shortest script; the memo knows all of them."""
    engine = Engine()
    base = None
    for lines in LENGTHS:
        text = script_of(lines)
        engine.analyze("growth.py", text, verify=False)
        taken = min(analysis(engine, Path("growth.py"), text)[0] for _ in range(TURNS))
        each = taken / len(text.splitlines())
        base = base or each
        print(
            f"{len(text.splitlines()):>6} lines {taken * 1000:>8.0f} ms {each * 1e6:>7.0f} µs a line, ratio {each / base:.2f}"
        )


def beside(program: str, paths: Sequence[Path]) -> None:
    """Whole processes in turns: theirs and ours, the start included."""
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            theirs, ours = [], []
            copy = Path(folder) / path.name
            copy.write_bytes(path.read_bytes())
            for _ in range(TURNS):
                commands = (
                    [program, "check", str(copy)],
                    [sys.executable, "-m", "torchsleuth", "check", str(copy)],
                )
                for command, times in zip(commands, (theirs, ours)):
                    times.append(
                        seconds(lambda command=command: subprocess.run(command, capture_output=True, cwd=folder))
                    )  # type: ignore[misc]
            a, b = statistics.median(theirs), statistics.median(ours)
            print(f"{path.stem:<24} {Path(program).name} {a:.2f} s, torchsleuth {b:.2f} s, ratio {b / a:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", type=Path, default=SCRIPTS)
    parser.add_argument("--warm", type=Path, default=CORPUS, help="a folder of other scripts")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--pyrefly", help="the executable")
    options = parser.parse_args()
    collector.quiet()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    first_and_edits(options.scripts, options.warm, options.edits)
    growth()
    if options.pyrefly:
        beside(options.pyrefly, options.scripts)


if __name__ == "__main__":
    main()

"""The laws of the join on many examples, and joins with a mistake planted in each, which the laws must find.

python -m benchmarks.lattice [--examples N] [--mutants]

The examples are for each law of tests/unit/test_values_laws.py. A mutant is a copy of the package with one line changed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAWS = "tests/unit/test_values_laws.py"


@dataclass(frozen=True)
class Mutant:
    """A change of one place of a file of `values/`."""

    what: str
    file: str
    before: str
    after: str


MUTANTS = (
    Mutant("the dtype of one side", "join.py", "left.dtype if left.dtype == right.dtype else None", "left.dtype"),
    Mutant(
        "requires_grad of one side",
        "join.py",
        "left.requires_grad if left.requires_grad == right.requires_grad else None",
        "right.requires_grad",
    ),
    Mutant(
        "no requires_grad at all",
        "join.py",
        "left.requires_grad if left.requires_grad == right",
        "None if left == right",
    ),
    Mutant("the tags of both sides", "join.py", "left.tags & right.tags", "left.tags | right.tags"),
    Mutant("no tags", "join.py", "left.tags & right.tags", "frozenset()"),
    Mutant("the history that both have", "join.py", "left.history | right.history", "left.history & right.history"),
    Mutant("the device of one side", "join.py", "left.device if left.device == right.device else None", "left.device"),
    Mutant(
        "an integer or a float is a float",
        "join.py",
        '(int, Dim), lambda value: ("int",)',
        '(int, Dim), lambda value: ("float",)',
    ),
    Mutant(
        "a truth value or an integer is an integer",
        "join.py",
        'bool: lambda value: ("bool",)',
        'bool: lambda value: ("int",)',
    ),
    Mutant("equal sizes get a new name", "join.py", "self._sizes[key] = dims.of(symbol)", "return dims.of(symbol)"),
    Mutant("one positive size is enough", "join.py", "positive = all(", "positive = any("),
    Mutant("the length of one text", "join.py", "(a if a == b else None for a, b", "(a for a, b"),
    Mutant("no length of a text", "join.py", "length=length, words=words", "words=words"),
    Mutant("a list of as many elements", "join.py", "and not open_ended:", "and True:"),
    Mutant("an entry that one side lacks", "join.py", "value if certain else Maybe(value)", "value"),
    Mutant("a choice of the first", "join.py", "return Choice(tuple(kept)) if", "return kept[0] if"),
    Mutant("the kind of one list", "join.py", '("list", value.type_name)', '("list",)'),
    Mutant("the kind of one dict", "join.py", '("dict", value.type_name, id(', '("dict", id('),
    Mutant("a fact of one branch", "heap.py", "found[0] if agreed else MISSING", "found[0]"),
    Mutant(
        "what was before a branch is forgotten",
        "heap.py",
        "if place in delta else base",
        "if place in delta else MISSING",
    ),
    Mutant("the other side of a condition", "heap.py", "one, other = other, one", "pass"),
)


def laws(folder: Path, examples: int) -> subprocess.CompletedProcess[str]:
    """Run the laws with the package in a folder."""
    environment = {
        **os.environ,
        "LATTICE_EXAMPLES": str(examples),
        "PYTHONPATH": os.pathsep.join((str(folder), str(ROOT))),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--tb=line", LAWS]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def survives(mutant: Mutant, examples: int) -> bool:
    """Whether the laws hold for a mutant."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "server"
        shutil.copytree(ROOT / "server", folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        path = folder / "torchsleuth" / "values" / mutant.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(mutant.before, mutant.after, 1), encoding="utf-8")
        return laws(folder, examples).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--examples", type=int, default=2000, help="of each law")
    parser.add_argument("--mutants", action="store_true", help="look whether the laws find planted mistakes")
    options = parser.parse_args()
    if options.mutants:
        surviving = [mutant.what for mutant in MUTANTS if not _told(mutant, options.examples)]
        print(f"{len(MUTANTS) - len(surviving)} of {len(MUTANTS)} mutants are found")
        return bool(surviving)
    result = laws(ROOT / "server", options.examples)
    counts = re.findall(r"\d+ (?:passed|failed)", result.stdout)
    print(
        result.stdout[-4000:] if result.returncode else f"{options.examples} examples of each law: {', '.join(counts)}"
    )
    return result.returncode


def _told(mutant: Mutant, examples: int) -> bool:
    found = not survives(mutant, examples)
    print(f"{'found   ' if found else 'SURVIVES'} {mutant.what}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())

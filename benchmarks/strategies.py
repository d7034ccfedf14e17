"""Which ways to repair win: for each function of the rules that makes candidates, how many it made, how many were kept
after verification, and how often one of them came first.

python -m benchmarks.strategies [--only CODE] [--tests] [--losers] [FOLDER…]

Every example and sample of the rules is analysed, the scripts of `examples/`, and the cases of the folders (see
`benchmarks.cases`); with `--tests`, the programs of `tests/rules`, too. A function that nothing of these ever kept is a
way that can go: `--losers` prints those alone, with their lines. `--only TS101`, or `TS1`, keeps to the examples and samples
of some rules, and to the ways that these tried.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import torchsleuth.rules
from benchmarks.cases import cases
from tests.check import split_carets
from tests.rules.samples import load_examples, load_samples
from torchsleuth.repair.verify import State
from torchsleuth.rules.rule import Candidate
from torchsleuth.schema import Fix
from torchsleuth.worker import engine as worker
from torchsleuth.worker.engine import Engine

ROOT = Path(__file__).parents[1]
RULES = Path(torchsleuth.rules.__file__).parent
Strategy = tuple[str, str]
"""A file below `rules/`, and a function in it."""


class Ablation:
    """Counts what each function on the stack makes when a candidate is made, and what becomes of it."""

    def __init__(self) -> None:
        self.made: Counter[Strategy] = Counter()
        self.kept: Counter[Strategy] = Counter()
        self.first: Counter[Strategy] = Counter()
        self._makers: dict[tuple[str, object], tuple[Strategy, ...]] = {}

    def install(self) -> None:
        make, verify, fix = Candidate.__init__, worker.verified_fixes, State.fix

        def noted(candidate: Candidate, *args: Any, **kwargs: Any) -> None:
            make(candidate, *args, **kwargs)
            makers = tuple(dict.fromkeys(_makers(sys._getframe(1))))
            self.made.update(makers)
            for key in ((candidate.title, candidate.edits), (candidate.title, None)):
                self._makers.setdefault(key, makers)

        def verified(*args: Any) -> Any:
            found: tuple[Fix, ...] = yield from verify(*args)
            for place, one in enumerate(found):
                makers = {maker for key in _keys(one) for maker in self._makers.get(key, ())}
                self.kept.update(makers)
                self.first.update(makers if place == 0 else ())
            return found

        def with_titles(state: State) -> Fix:
            made = fix.fget(state)  # type: ignore[attr-defined]
            object.__setattr__(made, "steps", state.titles)
            return made  # type: ignore[no-any-return]

        Candidate.__init__ = noted  # type: ignore[method-assign]
        worker.verified_fixes = verified
        State.fix = property(with_titles)  # type: ignore[method-assign, assignment]


def _keys(fix: Fix) -> Iterator[tuple[str, object]]:
    """How the candidates of a fix are remembered: its own, or those of a chain, by their titles."""
    steps: tuple[str, ...] = getattr(fix, "steps", ())
    yield from ((title, None) for title in steps) if steps else [(fix.title, fix.edits)]


def _makers(frame: FrameType | None) -> Iterator[Strategy]:
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if RULES in path.parents:
            name = frame.f_code.co_name
            if not name.startswith("<"):
                yield path.relative_to(RULES).as_posix(), name
        frame = frame.f_back


def strategies() -> dict[Strategy, int]:
    """The functions of the rules that return candidates, with their numbers of lines."""
    return {
        (path.relative_to(RULES).as_posix(), node.name): (node.end_lineno or node.lineno) - node.lineno + 1
        for path in sorted(RULES.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.returns is not None and "Candidate" in ast.unparse(node.returns)
    }


def texts(folders: list[Path], only: str | None) -> Iterator[tuple[str, str, str | None]]:
    for example in load_examples():
        if example.code.startswith(only or "TS"):
            yield "script.py", split_carets(example.bad)[0], example.code
    for sample in load_samples():
        if sample.lines and sample.code.startswith(only or "TS"):
            yield "script.py", sample.text, sample.code
    for path in sorted((ROOT / "examples").glob("*.py")) if only is None else ():
        yield str(path), path.read_text(encoding="utf-8"), None
    for folder in cases(folders):
        yield str(folder / "bug.py"), (folder / "bug.py").read_text(encoding="utf-8"), None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--only", metavar="CODE", help="the rules whose codes begin so")
    parser.add_argument("--tests", action="store_true", help="the programs of tests/rules, too")
    parser.add_argument("--losers", action="store_true", help="only what nothing kept")
    options = parser.parse_args()
    ablation = Ablation()
    ablation.install()
    engine = Engine()
    on = [rule.code for rule in worker.RULES.values() if rule.fault.default]
    for path, text, code in texts(options.folders, options.only):
        engine.analyze(path, text, codes=on if code is None else [*on, code])
    if options.tests:
        pytest.main([str(ROOT / "tests" / "rules"), "-q", "-p", "no:randomly", "-p", "no:cacheprovider"])
    found = strategies()
    if options.only is not None:
        found = {strategy: lines for strategy, lines in found.items() if ablation.made[strategy]}
    print(f"{'made':>6} {'kept':>6} {'first':>6} {'lines':>6}")
    for strategy, lines in sorted(found.items(), key=lambda item: (-ablation.kept[item[0]], item[0])):
        if not options.losers or not ablation.kept[strategy]:
            counts = (ablation.made[strategy], ablation.kept[strategy], ablation.first[strategy], lines)
            print(*(f"{count:>6}" for count in counts), ": ".join(strategy))
    lost = [lines for strategy, lines in found.items() if not ablation.kept[strategy]]
    print(f"{len(found)} ways to repair, {len(lost)} of them never kept ({sum(lost)} lines)")


if __name__ == "__main__":
    main()

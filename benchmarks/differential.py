"""Small programs, executed by CPython and interpreted by the analysis: what does it know of the values at their end?

python -m benchmarks.differential [FOLDER…] [--list]

A folder holds `*.py` files of programs, each below a heading ``# == what it is about``. CPython executes a program and leaves
its global variables; the analysis interprets the same text. Of each variable that holds data, what the analysis says is
right, unknown or wrong; a program is accused if the analysis reports an error or a warning about it. `--list` shows the
values that are unknown; what is wrong or accused is always shown.
"""

from __future__ import annotations

import argparse
import contextlib
import enum
import io
import math
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from torchsleuth.interp.budget import Budget
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.interpreter import Execution
from torchsleuth.interp.library.hierarchy import STATE
from torchsleuth.interp.library.plain import Known
from torchsleuth.rules.rule import Analysis
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import Dim
from torchsleuth.tensors.spec import DType, Native, TensorSpec
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    Array,
    Choice,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Maybe,
    Parameters,
    Scalar,
    Several,
    Sizes,
    SliceValue,
    Tensor,
    Value,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.worker.engine import Engine

PROGRAMS = Path(__file__).parent.parent / "tests" / "differential" / "programs"
HEADING = "# =="
RIGHT, UNCERTAIN, WRONG = "right", "unknown", "wrong"
_PATH = "program.py"
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_DATA = (
    *_PLAIN, list, tuple, dict, set, frozenset, deque, range, torch.Tensor, np.ndarray, np.generic, enum.Enum, torch.dtype,
    torch.device,
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    """One program: its section (the file it stands in), what it is about, and its text. `expected`: codes of what the
    analysis is right to report, named in brackets at the end of the heading."""

    section: str
    name: str
    text: str
    expected: frozenset[str] = frozenset()


@dataclass
class Outcome:
    """What the analysis knows of one program.

    `values`: of each variable the verdict, what CPython has, and what the analysis has. `accused`: messages of errors and
    warnings. `raised`: the exception that CPython ended with. `internal`: internal errors of the analysis.
    """

    program: Program
    values: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    accused: list[str] = field(default_factory=list)
    raised: str | None = None
    internal: list[str] = field(default_factory=list)

    def count(self, verdict: str) -> int:
        return sum(one == verdict for one, _, _ in self.values.values())


def programs(folder: Path = PROGRAMS) -> Iterator[Program]:
    """The programs of a folder, in order."""
    for path in sorted(folder.glob("*.py")):
        name, lines = "", list[str]()
        for line in [*path.read_text(encoding="utf-8").splitlines(), HEADING]:
            if line.startswith(HEADING):
                if name:
                    title, _, codes = name.removesuffix("]").partition(" [")
                    yield Program(path.stem, title, "\n".join(lines).strip() + "\n", frozenset(codes.split()))
                name, lines = line.removeprefix(HEADING).strip(), []
            else:
                lines.append(line)


def executed(text: str) -> tuple[dict[str, Any], str | None]:
    """The global variables that a program leaves in CPython, and the exception it ends with."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, _PATH, "exec", dont_inherit=True), names)
        except Exception as error:
            return names, type(error).__name__
    return names, None


class Recorder(Engine):
    """An engine that compares the variables of a document, as its body leaves them, with those that CPython has."""

    def compare(self, program: Program) -> Outcome:
        self.outcome = Outcome(program)
        # Only documents that import PyTorch are executed by the analysis.
        text = f"import torch\n{program.text}"
        self.actual, self.outcome.raised = executed(text)
        found = self.analyze(_PATH, text, verify=False)
        self.outcome.internal = list(found.stats["internal_errors"])
        self.outcome.accused = [
            f"{item.code} line {item.start.line - 1}: {item.message}"
            for item in found.diagnostics
            if item.severity in ("error", "warning") and item.code not in program.expected
        ]
        return self.outcome

    def interpret(self, path: str, files: Mapping[str, str], roots: tuple[str, ...]) -> Analysis:
        recorder, source, workspace = self, SourceText(path, files[path]), Workspace(files, roots)

        class Recording(Execution):
            done = False

            def body(self, statements: Any, frame: Frame) -> int:
                ended = super().body(statements, frame)
                if not self.done:
                    self.done = True
                    recorder.record(frame.names)
                return ended

        trace = Recording(self.oracle, workspace, Budget(), self.progress).run_document(source)
        return Analysis(source, trace, workspace, self.oracle.version)

    def record(self, names: Mapping[str, Value]) -> None:
        for name, value in self.actual.items():
            if name.startswith("__"):
                continue
            known = names.get(name, UNKNOWN)
            verdict = judged(known, value)
            # Functions, classes and objects are not values worth counting, unless they are taken for something else.
            if isinstance(value, _DATA) or verdict == WRONG:
                self.outcome.values[name] = verdict, _shown(value), _described(known)


def _shown(value: Any) -> str:
    if isinstance(value, torch.Tensor | np.ndarray):
        return f"{type(value).__name__} {tuple(value.shape)} {value.dtype}"
    return f"{value!r}"[:100]


def _described(known: Value) -> str:
    if isinstance(known, ListValue | DictValue):
        return f"{known.type_name} {_described_items(known)}"[:160]
    return f"{known.spec}" if isinstance(known, Tensor | Array) else f"{known!r}"[:160]


def _described_items(known: ListValue | DictValue) -> str:
    items = known.slots["items"]
    if isinstance(items, dict):
        return str({key: _described(value) for key, value in items.items()})
    kind = "some of " if isinstance(items, Several) else ""
    return kind + str([_described(value) for value in items]) if isinstance(items, tuple) else "unknown"


# -- verdicts ----------------------------------------------------------------------------------------


def judged(known: Value, actual: Any) -> str:
    """Whether what the analysis has says what CPython has, says less, or contradicts it."""
    if is_unknown(known) or (isinstance(known, Native) and known.kind == "external"):
        return UNCERTAIN
    if isinstance(known, Known):
        return RIGHT if repr(known.object) == repr(actual) else WRONG
    if isinstance(known, SliceValue):
        return judged((known.start, known.stop, known.step), (actual.start, actual.stop, actual.step))
    if isinstance(known, Native):
        return RIGHT if getattr(actual, "__name__", "").rpartition(".")[2] == known.name else WRONG
    if isinstance(known, Parameters):
        return UNCERTAIN
    if isinstance(known, Choice):
        return WRONG if all(judged(option, actual) == WRONG for option in known.options) else UNCERTAIN
    if isinstance(known, Scalar):
        return UNCERTAIN if type(actual).__name__.startswith(known.type) else WRONG
    if isinstance(known, Dim):
        return UNCERTAIN if isinstance(actual, int | np.integer) and not isinstance(actual, bool) else WRONG
    if isinstance(known, Tensor | Array):
        return _of_tensors(known, actual)
    if isinstance(known, Instance | LibraryModule | Function | ClassValue):
        return _of_objects(known, actual)
    if isinstance(known, ListValue):
        return _of_lists(known, actual)
    if isinstance(known, DictValue):
        return _of_dicts(known, actual)
    if isinstance(known, DType | Device):
        return RIGHT if str(actual).removeprefix("torch.") == _plain_name(known) else WRONG
    if type(known) in _PLAIN or isinstance(actual, _PLAIN) or isinstance(known, tuple):
        return _of_constants(known, actual)
    if isinstance(known, LibraryObject) and (known.path == STATE or known.type_name == type(actual).__name__):
        return UNCERTAIN  # such as a PackedSequence, which is a tuple, too, and the result of state_dict(), which is a dict
    return WRONG if isinstance(actual, _DATA) and not isinstance(actual, enum.Enum) else UNCERTAIN


def _plain_name(known: DType | Device) -> str:
    return known.name if isinstance(known, DType) else known.kind


def _of_constants(known: Value, actual: Any) -> str:
    if isinstance(known, tuple) and isinstance(actual, tuple):
        return WRONG if isinstance(known, Sizes) and type(actual) is tuple else _all(known, actual)
    if type(known) is not type(actual):
        return WRONG
    same = known == actual or (isinstance(known, float) and math.isnan(known) and math.isnan(actual))
    return RIGHT if same else WRONG


def _all(known: Iterable[Value], actual: Iterable[Any]) -> str:
    """The verdict on all elements."""
    some, others = tuple(known), tuple(actual)
    if len(some) != len(others):
        return WRONG
    verdicts = {judged(one, other) for one, other in zip(some, others)}
    return WRONG if WRONG in verdicts else UNCERTAIN if UNCERTAIN in verdicts else RIGHT


def _of_tensors(known: Tensor | Array, actual: Any) -> str:
    wanted = torch.Tensor if isinstance(known, Tensor) else (np.ndarray, np.generic)
    if not isinstance(actual, wanted):
        return WRONG
    spec: TensorSpec = known.spec
    shape = tuple(actual.shape)
    dtype = str(actual.dtype).removeprefix("torch.")
    if spec.dtype is not None and spec.dtype != dtype:
        return WRONG
    if spec.shape is None:
        return UNCERTAIN
    if len(spec.shape) != len(shape) or any(isinstance(a, int) and a != b for a, b in zip(spec.shape, shape)):
        return WRONG
    return RIGHT if spec.shape == shape and spec.dtype is not None else UNCERTAIN


def _of_objects(known: Instance | LibraryModule | Function | ClassValue, actual: Any) -> str:
    """Of an object the kind is compared, of a function, a class or a member of an enum the name."""
    if isinstance(known, Function | ClassValue):
        held = known.attributes if isinstance(known, Function) else known.slots
        name = held.get("__name__", known.name)
        return RIGHT if getattr(actual, "__name__", None) == name else WRONG
    kind = known.cls.name if isinstance(known, Instance) else known.type_name
    if isinstance(known, Instance) and isinstance(actual, enum.Enum) and known.name is not None:
        return RIGHT if actual.name == known.name else WRONG
    return RIGHT if type(actual).__name__ == kind else WRONG


def _of_lists(known: ListValue, actual: Any) -> str:
    kind = type(actual).__name__
    if isinstance(actual, list | tuple | set | frozenset | deque | range | dict | str) and kind != known.type_name:
        return WRONG
    if not isinstance(actual, list | set | frozenset | deque | range):
        return UNCERTAIN
    if known.items is None:
        return UNCERTAIN
    if isinstance(actual, set | frozenset):
        return _of_sets(known.items, actual)
    return _all(known.items, actual)


def _of_sets(known: tuple[Value, ...], actual: Any) -> str:
    if len(known) != len(actual):
        return WRONG
    certain = all(any(judged(one, other) == RIGHT for one in known) for other in actual)
    possible = all(any(judged(one, other) != WRONG for one in known) for other in actual)
    return RIGHT if certain else UNCERTAIN if possible else WRONG


def _of_dicts(known: DictValue, actual: Any) -> str:
    if not isinstance(actual, dict):
        return WRONG if isinstance(actual, _DATA) else UNCERTAIN
    if type(actual).__name__ != known.type_name:
        return WRONG
    entries = known.entries
    if entries is None or OTHERS in entries:
        return UNCERTAIN
    certain = [key for key, value in entries.items() if not isinstance(value, Maybe)]
    if any(_key(key) not in map(_key, actual) for key in certain):
        return WRONG
    if len(certain) < len(entries):
        return UNCERTAIN
    return _all((*map(_constant_key, entries), *entries.values()), (*map(_constant_key, actual), *actual.values()))


def _key(key: Any) -> Any:
    """A key, of a member of an enum or a class its name."""
    if isinstance(key, type | ClassValue):
        return key.__name__ if isinstance(key, type) else key.name
    if isinstance(key, enum.Enum | Instance):
        return key.name
    return key if isinstance(key, _PLAIN) else str(key)


def _constant_key(key: Any) -> Any:
    """A key that can be compared: that of a member or an object by its kind alone."""
    return key if isinstance(key, (*_PLAIN, tuple)) and not isinstance(key, enum.Enum) else None


# -- report ------------------------------------------------------------------------------------------


def table(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """A line for each section, and one for all."""
    sections: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        sections.setdefault(outcome.program.section, []).append(outcome)
    yield "| section | programs | right | unknown | wrong | accused |"
    yield "| --- | --- | --- | --- | --- | --- |"
    every = [outcome for section in sections.values() for outcome in section]
    for name, section in [*sections.items(), ("together", every)]:
        counts = [sum(one.count(verdict) for one in section) for verdict in (RIGHT, UNCERTAIN, WRONG)]
        share = f"{counts[0]} ({counts[0] / max(sum(counts), 1):.1%})"
        accused = sum(bool(one.accused) for one in section)
        yield f"| {name.replace('_', ' ')} | {len(section)} | {share} | {counts[1]} | {counts[2]} | {accused} |"


def details(outcome: Outcome, everything: bool) -> Iterator[str]:
    """What is wrong, accused or failed in one program; with `everything` also what is unknown."""
    at = f"{outcome.program.section}: {outcome.program.name}"
    if outcome.raised is not None:
        yield f"{at}: CPython raises {outcome.raised}"
    yield from (f"{at}: accused: {line}" for line in outcome.accused)
    yield from (f"{at}: internal error: {line}" for line in outcome.internal)
    for name, (verdict, actual, known) in outcome.values.items():
        if verdict == WRONG or (everything and verdict == UNCERTAIN):
            yield f"{at}: {verdict}: {name} = {actual}, analysis: {known}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[PROGRAMS], metavar="FOLDER")
    parser.add_argument("--list", action="store_true", help="show the values that are unknown")
    options = parser.parse_args()
    recorder = Recorder()
    outcomes = [recorder.compare(program) for folder in options.folders for program in programs(folder)]
    for outcome in outcomes:
        for line in details(outcome, options.list):
            print(line)
    print(*table(outcomes), sep="\n")


if __name__ == "__main__":
    main()

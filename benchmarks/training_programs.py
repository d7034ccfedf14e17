"""Generated training programs, executed by PyTorch and analysed: is a correct one accused, and is a fault found?

    python -m benchmarks.training_programs [--count N] [--seed N] [--show N] [--correct]

A program is assembled from parts drawn by its seed (`training_parts.py`): model, data, loss, optimizer, schedule, loop, evaluation,
checkpoints, and executed. A correct one is accused if the analysis reports an error or a warning. Of each tensor that a statement or
loop binds, what the analysis says of its shape, dtype, device and requires_grad is right, unknown or wrong. Then one fault that the
maker knows is put in, where it can be; it counts if PyTorch refuses the program, or if the fault is silent by construction.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import random
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from benchmarks.training_parts import CRASHES, Draw, program
from torchsleuth.schema import Diagnostic, TensorFact
from torchsleuth.worker.engine import Engine

Bound = tuple[int, str]
"""The line of a statement and a variable that it binds."""
Observed = tuple[tuple[int, ...], str, str, bool]


class _Watched(ast.NodeTransformer):
    """A program that tells which tensors its statements bind; the lines stay."""

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        return [node, *(call for target in node.targets for call in self._calls(target))]

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        node.body = [*self._calls(node.target), *node.body]
        return node

    def _calls(self, target: ast.expr) -> Iterator[ast.stmt]:
        for name in ast.walk(target):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                call = f"_seen_({name.lineno}, {name.id!r}, {name.id})"
                yield ast.copy_location(ast.parse(call).body[0], name)


def execute(text: str) -> tuple[str | None, dict[Bound, list[Observed]]]:
    """What a program raises, and the tensors that it has bound."""
    seen: dict[Bound, list[Observed]] = defaultdict(list)

    def note(line: int, name: str, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            seen[line, name].append((tuple(value.shape), dtype, value.device.type, value.requires_grad))

    tree = ast.fix_missing_locations(_Watched().visit(ast.parse(text)))
    error = None
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, "program.py", "exec"), {"__name__": "__main__", "_seen_": note})
        except Exception as raised:
            error = f"{type(raised).__name__}: {str(raised).strip()[:200]}"
        torch.manual_seed(0)
    return error, seen


@dataclass
class Tally:
    """What was found of all programs."""

    counts: Counter[str] = field(default_factory=Counter)
    by_fault: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    broken: list[str] = field(default_factory=list)
    accused: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def reported(engine: Engine, text: str) -> tuple[list[Diagnostic], tuple[TensorFact, ...]]:
    analysis = engine.analyze("/generated/program.py", text, verify=False)
    return [item for item in analysis.diagnostics if item.severity != "hint"], analysis.facts


def differences(fact: TensorFact | None, observed: list[Observed]) -> Iterator[tuple[str, str]]:
    """("right" | "unknown" | "wrong", what was said and what was there) for each property."""
    shapes, *rest = (set(values) for values in zip(*observed))
    given = fact.shape if fact else None
    if given is None:
        verdict = "unknown" if len(set(map(len, shapes))) == 1 else "right"
    elif any(len(given) != len(shape) for shape in shapes):
        verdict = "wrong"
    else:
        sizes = [{shape[axis] for shape in shapes} for axis in range(len(given))]
        if any(isinstance(size, int) and real != {size} for size, real in zip(given, sizes)):
            verdict = "wrong"
        else:
            open_ = any(not isinstance(size, int) and len(real) == 1 for size, real in zip(given, sizes))
            verdict = "unknown" if open_ else "right"
    yield verdict, f"shape {given}, not {sorted(shapes)}"
    names = ("dtype", "device", "requires_grad")
    for name, real in zip(names, rest):
        said = getattr(fact, name, None)
        said = "cpu" if said == "cuda?" else said
        if said is None:
            yield "unknown" if len(real) == 1 else "right", f"{name} None, not {real}"
        else:
            yield "right" if real == {said} else "wrong", f"{name} {said}, not {real}"


def judge_correct(engine: Engine, seed: int, tally: Tally) -> list[str]:
    """Holds a correct program against its run; the faults that it can have, none where it is accused."""
    draw = Draw(seed)
    text = program(draw)
    error, seen = execute(text)
    if error:
        tally.broken.append(f"seed {seed}: {error}\n{text}")
        return []
    tally.counts["programs"] += 1
    found, facts = reported(engine, text)
    if found:
        tally.counts["accused"] += 1
        tally.accused.append("\n".join([f"seed {seed}", *map(_shown, found), text]))
        return []
    said = {(fact.start.line, fact.binding): fact for fact in facts if fact.binding and not fact.supposed}
    for (line, name), observed in seen.items():
        tally.counts["tensors"] += 1
        for verdict, detail in differences(said.get((line, name)), observed):
            tally.counts[verdict] += 1
            if verdict != "right":
                where = f"seed {seed}: {name}: {detail}    {line}: {text.splitlines()[line - 1].strip()}"
                getattr(tally, verdict).append(where)
    return sorted(set(draw.offered))


def judge_fault(engine: Engine, seed: int, fault: str, tally: Tally) -> None:
    """Whether a fault that is put into a program is found."""
    text = program(Draw(seed, fault))
    if text == program(Draw(seed)):
        return
    error, _ = execute(text)
    if (fault in CRASHES) != (error is not None):
        tally.counts["no harm"] += 1
        return
    found, _ = reported(engine, text)
    kind = "crash" if error else "silent"
    tally.counts[kind] += 1
    tally.counts[f"{kind} found"] += bool(found)
    tally.by_fault[fault]["all"] += 1
    tally.by_fault[fault]["found"] += bool(found)
    if not found:
        tally.missed.append(f"seed {seed} {fault}: {error}\n{text}")


def _shown(item: Diagnostic) -> str:
    return f"{item.code} {item.start.line}: {item.message}"


def measure(count: int, seed: int, faults: int = 1) -> Tally:
    """`count` correct programs, and `faults` faults put into each."""
    engine, tally, chosen = Engine(), Tally(), random.Random(seed)
    torch.set_num_threads(1)
    for number in range(seed * 100_000, seed * 100_000 + count):
        possible = judge_correct(engine, number, tally)
        for fault in chosen.sample(possible, min(faults, len(possible))):
            judge_fault(engine, number, fault, tally)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=1, help="faults put into each program, one at a time")
    parser.add_argument("--show", type=int, default=5, help="cases of each kind that are printed")
    options = parser.parse_args()
    tally = measure(options.count, options.seed, options.faults)
    for kind in ("broken", "accused", "wrong", "unknown", "missed"):
        for text in getattr(tally, kind)[: options.show]:
            print(f"--- {kind}: {text}\n")
    for fault, found in sorted(tally.by_fault.items()):
        print(f"{fault:<28} {found['found']:>4} of {found['all']}")
    counts = tally.counts
    known = counts["right"] + counts["unknown"] + counts["wrong"]
    print(f"{counts['programs']} programs, accused {counts['accused']}, broken {len(tally.broken)}")
    print(
        f"{counts['tensors']} bindings of tensors, four properties of each: {counts['right']} right "
        f"({100 * counts['right'] / known:.1f} %), {counts['unknown']} unknown, {counts['wrong']} wrong"
    )
    print(
        f"faults that crash: {counts['crash found']} of {counts['crash']} found; silent ones: {counts['silent found']} of "
        f"{counts['silent']} found; {counts['no harm']} did no harm"
    )


if __name__ == "__main__":
    main()

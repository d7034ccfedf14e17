"""Generated programs over tensors, executed by PyTorch and interpreted by the analysis: do they agree at the end?

    python -m benchmarks.tensor_programs [--count N] [--seed N] [--length N] [--show N]

A program is made statement by statement: operators of Python, views, writes into parts, changes of dtype, gradients, functions,
branches and loops over the variables that it has so far. PyTorch executes each statement as it is made. What PyTorch accepts is
kept; of what it refuses, some stands at the end of a program, to be found. Of each variable, what the analysis says of its shape,
dtype and requires_grad is right, unknown or wrong; a program is accused if it runs and the analysis reports an error.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from torchsleuth.interp.budget import Budget
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.interpreter import Execution
from torchsleuth.rules.registry import RULES
from torchsleuth.rules.rule import Analysis
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.dims import Dim
from torchsleuth.values import Tensor
from torchsleuth.worker.engine import Engine

HEAD = ["import torch", "import torch.nn.functional as F", "from torch import nn", "torch.manual_seed(0)", ""]
BINARY = "+ - * / // % ** @ & | ^ == != < <= > >=".split()
IN_PLACE = "+= -= *= /= //= %= &= |= ^=".split()
DTYPES = "float32 float64 int64 int32 bool float16".split()
MAX_ELEMENTS = 4096


@dataclass
class Program:
    """Statements, each of one or more lines, and the variables that they leave. `refused`: whether the last one raises."""

    statements: list[str] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)
    refused: str = ""

    @property
    def text(self) -> str:
        return "\n".join([*HEAD, *self.statements, self.refused, ""])


class Maker:
    """Makes one program after the other."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.space: dict[str, Any] = {}
        self.made = 0

    def program(self, length: int) -> Program:
        self.space, self.made = {}, 0
        program = Program()
        _execute("\n".join(HEAD), self.space)
        refusals = []
        for step in range(length * 4):
            statement = self._creation() if step < 3 else self._statement()
            before = {name: _state(value) for name, value in self.space.items() if isinstance(value, torch.Tensor)}
            error = _execute(statement, self.space)
            if error is None and self._is_small():
                program.statements.append(statement)
            elif error is None:
                break
            elif before == {name: _state(self.space.get(name)) for name in before}:
                refusals.append(statement)
            else:
                break  # It has changed something before it raised.
            if len(program.statements) >= length:
                break
        if refusals and self.random.random() < 0.4:
            program.refused = refusals[-1]
        program.variables = {}
        error = _execute("\n".join([*HEAD, *program.statements]), program.variables)
        if error is None and program.refused and _execute(program.refused, dict(program.variables)) is None:
            program.refused = ""
        return program if error is None else Program()

    def _is_small(self) -> bool:
        return all(value.numel() <= MAX_ELEMENTS for value in self.space.values() if isinstance(value, torch.Tensor))

    # -- statements --------------------------------------------------------------------------------

    def _statement(self) -> str:
        forms: list[tuple[int, Callable[[], str]]] = [
            (3, self._creation),
            (14, lambda: f"{self._new()} = {self._expression()}"),
            (3, lambda: f"{self._new()}, {self._new()} = {self._pair()}"),
            (6, self._written),
            (2, self._module),
            (2, lambda: f"with torch.{self._of('no_grad enable_grad inference_mode')}():\n    {self._simple()}"),
            (2, lambda: f"for _ in range({self._number(1, 3)}):\n    {self._simple()}"),
            (2, lambda: f"if {self._condition()}:\n    {self._simple()}\nelse:\n    {self._simple()}"),
            (2, self._function),
            (2, lambda: f"{self._tensor()}.sum().backward()"),
            (1, lambda: f"{self._new()} = {self._tensor()}.grad"),
            (1, lambda: f"{self._new()} = {self._tensor()}.shape[{self._number(-2, 1)}]"),
            (1, lambda: f"{self._new()} = [{self._tensor()}, {self._tensor()}][{self._number(-1, 1)}]"),
            (1, lambda: f"{self._new()} = sum(part.sum() for part in {self._tensor()})"),
            (1, lambda: f"{self._new()} = torch.{self._of('stack cat')}([part * 2 for part in {self._tensor()}])"),
        ]
        return self.random.choices([form for _, form in forms], [weight for weight, _ in forms])[0]()

    def _simple(self) -> str:
        return self._written() if self.random.random() < 0.6 else f"{self._old()} = {self._expression()}"

    def _creation(self) -> str:
        name, shape = self._new(), self._shape()
        dtype = f", dtype=torch.{self._of(DTYPES)}" if self.random.random() < 0.4 else ""
        grad = ", requires_grad=True" if self.random.random() < 0.3 else ""
        return f"{name} = " + self.random.choice(
            [
                f"torch.{self._of('zeros ones')}({shape}{dtype}{grad})",
                f"torch.randn({shape}{grad})",
                f"nn.Parameter(torch.randn({shape}))",
                f"torch.arange({self._number(1, 6)}{dtype})",
                f"torch.randint(0, 3, ({shape},))",
                f"torch.tensor([[1, 2], [3, 4]]{dtype}{grad})",
                f"torch.full(({shape},), {self._of('1 2.5 True')})",
            ]
        )

    def _module(self) -> str:
        width = self._number(1, 5)
        layer = self.random.choice(
            [
                f"nn.Linear({width}, {self._number(1, 5)})",
                f"nn.LayerNorm({width})",
                f"nn.Embedding({self._number(3, 5)}, {width})",
                f"nn.Sequential(nn.Linear({width}, 4), nn.{self._of('ReLU Tanh GELU')}())",
                "nn.Dropout(0.5)",
                "nn.Flatten()",
                f"nn.Softmax(dim={self._number(-1, 1)})",
            ]
        )
        return f"{self._new()} = {layer}({self._tensor()})"

    def _function(self) -> str:
        name = f"f{self.made}"
        body = self._expression(("x", "y"))
        kind = self.random.choice(["def", "write", "lambda"])
        call = f"{self._new()} = {name}({self._tensor()}, {self._tensor()})"
        if kind == "lambda":
            return f"{name} = lambda x, y: {body}\n{call}"
        extra = f"    x {self._of(IN_PLACE)} y\n" if kind == "write" else ""
        return f"def {name}(x, y=None):\n{extra}    return {body}\n{call}"

    def _written(self) -> str:
        one, other = self._old(), self._operand()
        axis = self._number(-2, 1)
        return self.random.choice(
            [
                f"{one} {self._of(IN_PLACE)} {other}",
                f"{one}{self._key()} = {other}",
                f"{one}{self._key()} {self._of(IN_PLACE)} {other}",
                f"{one}.{self._of('add_ mul_ sub_ copy_ clamp_min_ masked_fill_')}({other})",
                f"{one}.{self._of('zero_ sigmoid_ relu_ detach_ requires_grad_ t_ squeeze_ abs_ neg_')}()",
                f"{one}.fill_({self._of('0 1 2.5')})",
                f"{one}.unsqueeze_({axis})",
                f"{one}.transpose_(0, {axis})",
                f"{one}.data = {other}",
                f"{one}.data{self._key()} = {other}",
                f"{one}.masked_fill_({self._old()} > 0, 0)",
                f"{one}.index_add_({axis}, torch.tensor([0, 0]), {other})",
                f"{one}.grad = None",
                f"torch.add({one}, {other}, out={self._old()})",
                f"nn.init.{self._of('zeros_ ones_ normal_ uniform_')}({one})",
                f"{one} = {one}.{self._of('view_as reshape_as expand_as type_as')}({self._old()})",
            ]
        )

    # -- expressions -------------------------------------------------------------------------------

    def _expression(self, names: tuple[str, ...] = ()) -> str:
        one, other, axis, size = self._old(names), self._operand(names), self._number(-2, 2), self._number(1, 5)
        forms = [
            f"{one} {self._of(BINARY)} {other}",
            f"{other} {self._of(BINARY)} {one}",
            f"{one}.{self._of('view reshape')}({self._shape(-1)})",
            f"{one}.{self._of('float double long bool int half byte')}()",
            f"{one}.to(torch.{self._of(DTYPES)})",
            f"{one}.{self._of('clone detach contiguous t sum mean max min abs exp sigmoid relu any all flatten sign floor cumsum')}()",
            f"{one}.{self._of('sum mean prod std argmax any softmax cumsum logsumexp norm')}({axis})",
            f"{one}.{self._of('sum mean amax argmin')}(dim={axis}, keepdim=True)",
            f"{one}.{self._of('unsqueeze squeeze')}({axis})",
            f"{one}.transpose({self._number(-2, 1)}, {axis})",
            f"{one}.permute({', '.join(self.random.sample(['0', '1', '2'], self._number(1, 3)))})",
            f"{one}.expand({self._shape(-1)})",
            f"{one}.repeat({self._shape()})",
            f"{one}.unfold({axis}, {size}, 1)",
            f"{one}.narrow({axis}, 0, {size})",
            f"{one}{self._key()}",
            f"{one}[{self._old(names)} > 0]",
            f"{one}[{self._old(names)}.long()]",
            f"torch.where({one} > 0, {other}, {self._operand(names)})",
            f"torch.{self._of('cat stack')}([{one}, {self._old(names)}], {axis})",
            f"torch.{self._of('maximum minimum fmod atan2 add mul eq gt logical_and dot mv matmul outer')}({one}, {other})",
            f"torch.{self._of('zeros_like ones_like rand_like')}({one})",
            f"{one}.new_{self._of('zeros ones')}({self._shape()})",
            f"F.{self._of('relu gelu softplus normalize')}({one})",
            f"F.{self._of('mse_loss l1_loss cross_entropy binary_cross_entropy_with_logits')}({one}, {other})",
            f"F.pad({one}, ({self._number(0, 2)}, {self._number(0, 2)}))",
            f"F.one_hot({one})",
            f"torch.einsum('{self._of('ij,jk->ik ij,ij->i i,j->ij ij->ji ii->i')}', {one}{', ' + self._old(names)})",
            f"torch.{self._of('triu tril diag flip')}({one})",
            f"-{one}",
            f"~{one}",
            f"{one}.{self._of('T mT real data')}",
            f"{one}.gather({axis}, {self._old(names)})",
            f"{one}.scatter({axis}, {self._old(names)}, {other})",
            f"{one}.masked_fill({self._old(names)} > 0, 0)",
            f"{one} if {one}.dim() > 1 else {other}",
            f"({self._old(names)} + {other}).{self._of('sum mean')}({axis})",
        ]
        return self.random.choice(forms)

    def _pair(self) -> str:
        one, axis = self._old(), self._number(-2, 1)
        return self.random.choice(
            [
                f"{one}.{self._of('chunk split')}({self._number(1, 3)}, {axis})",
                f"{one}.{self._of('max min sort median')}({axis})",
                f"{one}.topk({self._number(1, 3)}, {axis})",
                f"{one}.unbind({axis})",
                f"{one}.{self._of('unique tensor_split')}({self._of('2 True')})",
                f"{one}, {self._expression()}",
                f"{one}",
            ]
        )

    def _condition(self) -> str:
        one = self._old()
        return self.random.choice(
            [f"{one}.dim() > 1", f"{one}.shape[0] == {self._number(1, 5)}", f"{one}.requires_grad", f"{one} is None",
             f"{one}.dtype == torch.{self._of(DTYPES)}", f"{one}.numel() > {self._number(1, 12)}", f"{one}.is_floating_point()"]
        )  # fmt: skip

    def _key(self) -> str:
        parts = ["0", "-1", "1:", ":2", ":", "None", "...", "::2", "[0, 0]", "torch.tensor([0, 1])", "1:1"]
        return f"[{', '.join(self.random.choices(parts, k=self._number(1, 2)))}]"

    def _operand(self, names: tuple[str, ...] = ()) -> str:
        return self._old(names) if self.random.random() < 0.75 else self._of("2 1.5 0 True torch.tensor(3.0) -1")

    def _shape(self, least: int = 1) -> str:
        return ", ".join(str(self.random.choice([1, 2, 3, 4, least])) for _ in range(self._number(1, 3)))

    def _tensor(self) -> str:
        return self._old()

    def _old(self, names: tuple[str, ...] = ()) -> str:
        known = [name for name, value in self.space.items() if isinstance(value, torch.Tensor)]
        if names and self.random.random() < 0.8:
            return self.random.choice(names)
        recent = known[-3:] if self.random.random() < 0.5 else known
        return self.random.choice(recent) if recent else "torch.ones(2, 3)"

    def _new(self) -> str:
        self.made += 1
        return f"v{self.made}"

    def _of(self, options: str | list[str]) -> str:
        return self.random.choice(options.split() if isinstance(options, str) else options)

    def _number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


def _state(value: Any) -> tuple[Any, ...] | None:
    if not isinstance(value, torch.Tensor):
        return None
    version = None
    with contextlib.suppress(RuntimeError):  # Those made in inference mode have none.
        version = value._version
    return tuple(value.shape), value.dtype, value.requires_grad, version


def _execute(text: str, space: dict[str, Any]) -> str | None:
    """The error that a text raises, if it does."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(text, space)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None


# -- comparison ------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What was found of all programs."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    accused: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def differences(actual: torch.Tensor, found: Tensor) -> Iterator[tuple[str, str]]:
    """("right" | "unknown" | "wrong", what differs) for each property."""
    spec = found.spec
    dtype = str(actual.dtype).removeprefix("torch.")
    if spec.shape is None or any(isinstance(size, Dim) for size in spec.shape):
        given = spec.shape
        fits = given is None or (
            len(given) == actual.dim() and all(isinstance(s, Dim) or s == real for s, real in zip(given, actual.shape))
        )
        yield "unknown" if fits else "wrong", f"shape {given}, not {tuple(actual.shape)}"
    else:
        yield (
            "right" if spec.shape == tuple(actual.shape) else "wrong",
            f"shape {spec.shape}, not {tuple(actual.shape)}",
        )
    for known, real, what in (spec.dtype, dtype, "dtype"), (spec.requires_grad, actual.requires_grad, "requires_grad"):
        yield "unknown" if known is None else "right" if known == real else "wrong", f"{what} {known}, not {real}"


def judge(engine: Engine, program: Program, tally: Tally) -> None:
    """Compares what the analysis says of a program with what PyTorch has made of it."""
    source = SourceText("script.py", program.text)
    workspace = Workspace({"script.py": program.text}, ())
    execution = Execution(engine.oracle, workspace, Budget())
    space: list[Any] = []
    execution._protect(lambda: space.append(execution.execute_module(source, "__main__")))
    rules = [rule for rule in RULES.values() if rule.fault.severity == "error" and not rule.code.startswith("TS8")]
    found = engine._diagnose(Analysis(source, execution.trace, workspace), rules)
    tally.counts["programs"] += 1
    last = len(program.text.split("\n")) - 1 - len(program.refused.split("\n"))
    early = [
        f"{one.code} {one.start.line}: {one.message}"
        for one, _ in found
        if not program.refused or one.start.line <= last
    ]
    if early:
        tally.counts["accused"] += 1
        tally.accused.append("\n".join([*early, program.text]))
    if program.refused:
        tally.counts["refused"] += 1
        tally.counts["found"] += len(found) > len(early)
        if len(found) == len(early):
            tally.missed.append(f"{_execute(program.refused, dict(program.variables))}\n    {program.refused}")
        return
    values = space[0].slots if space else {}
    for name, actual in program.variables.items():
        if isinstance(actual, torch.Tensor):
            tally.counts["tensors"] += 1
            value = values.get(name)
            if not isinstance(value, Tensor):
                tally.counts["unknown"] += 3
                continue
            for verdict, detail in differences(actual, value):
                tally.counts[verdict] += 1
                if verdict == "wrong":
                    tally.wrong.append(f"{name}: {detail}\n{program.text}")


def measure(count: int, seed: int, length: int) -> Tally:
    """`count` programs of at most `length` statements."""
    engine, maker, tally = Engine(), Maker(seed), Tally()
    while tally.counts["programs"] < count:
        program = maker.program(length)
        if program.statements:
            judge(engine, program, tally)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=10)
    parser.add_argument("--show", type=int, default=5, help="programs of each kind that are printed")
    options = parser.parse_args()
    tally = measure(options.count, options.seed, options.length)
    for kind in ("wrong", "accused", "missed"):
        for text in getattr(tally, kind)[: options.show]:
            print(f"--- {kind}: {text}\n")
    counts = tally.counts
    known = counts["right"] + counts["unknown"] + counts["wrong"]
    print(
        f"{counts['programs']} programs, {counts['tensors']} tensors, three properties of each: {counts['right']} right",
        end="",
    )
    print(f" ({100 * counts['right'] / known:.1f} %), {counts['unknown']} unknown, {counts['wrong']} wrong")
    print(f"accused {counts['accused']}; of {counts['refused']} that PyTorch refuses, found {counts['found']}")


if __name__ == "__main__":
    main()

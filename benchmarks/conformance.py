"""Conformance with PyTorch itself: its own databases of operator and module calls, replayed as source text.

    python -m benchmarks.conformance [--ops PATTERN] [--limit N] [--modules | --operators] [--json FILE]

Every sample of `op_db` (702 operators) and `module_db` (114 modules), on the CPU in float32, is written as the lines a
user would write: `a = torch.empty(…)` for each tensor, and the call. The analyzer reads that text; PyTorch executes the
same call on the sample's own tensors. Compared are structure, shapes, dtypes and requires_grad of everything returned, and
of the operands after the call.

Not counted, but printed:

- *not public*: operators that have no name a user would write (aten, jiterator, names with an underscore);
- *no source form*: a value that lines like these cannot create (sparse layouts, generators, callables), or a sample that
  only a wrapper of the database makes valid;
- *no tensors returned*: nothing to compare;
- for error inputs, *data*: the error is gone, or another one, when every tensor is replaced by one of the same shape,
  strides and dtype but full of zeros, or of ones, in a storage of its own. What is left depends on shapes, ranks, dims,
  dtypes and plain arguments;
- for error inputs, *argument kinds*: TypeErrors, such as a number where a tensor belongs;
- for error inputs, *not reproduced*: PyTorch accepts the call as it is written here.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import io
import itertools
import json
import logging
import math
import operator
import re
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

import torch

from torchsleuth.interp.budget import Budget
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.interpreter import Execution
from torchsleuth.rules.registry import RULES
from torchsleuth.rules.rule import Analysis
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.dims import Dim
from torchsleuth.values import DictValue, ListValue, Tensor
from torchsleuth.worker.engine import Engine

SAMPLES_PER_TEXT = 24


class NoSourceForm(Exception):
    """The value cannot be written as source text."""


# -- from samples to source text -------------------------------------------------------------------


@dataclass
class Case:
    """One sample as source text. `tensors`: the sample's own, by the name they have in the text."""

    label: str
    setup: list[str] = field(default_factory=list)
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    call: str = ""
    module: str = ""
    """The constructor call and what follows it, for modules."""
    prefix: str = ""

    def name(self, kind: str) -> str:
        return f"{self.prefix}_{kind}"

    def literal(self, value: Any) -> str:
        if isinstance(value, torch.nn.Module):
            raise NoSourceForm("a module")
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if value is None or isinstance(value, bool | str) or value is ...:
            return "..." if value is ... else repr(value)
        if isinstance(value, torch.Size) or type(value) is tuple:
            items = [self.literal(item) for item in value]
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if isinstance(value, list):
            return f"[{', '.join(self.literal(item) for item in value)}]"
        if isinstance(value, dict):
            return f"{{{', '.join(f'{self.literal(key)}: {self.literal(item)}' for key, item in value.items())}}}"
        if isinstance(value, slice):
            parts = (value.start, value.stop, value.step)
            return f"slice({', '.join(self.literal(part) for part in parts)})"
        if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
            return str(value)
        if isinstance(value, torch.device):
            if value.type != "cpu":
                raise NoSourceForm("another device")
            return 'torch.device("cpu")'
        if hasattr(value, "item") and hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if isinstance(value, int | float | complex) and type(value) in (int, float, complex):
            return repr(value)
        raise NoSourceForm(type(value).__name__)

    def _tensor(self, tensor: torch.Tensor) -> str:
        for name, known in self.tensors.items():
            if known is tensor:
                return name
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested:
            raise NoSourceForm(f"a tensor of layout {tensor.layout}")
        if tensor.device.type != "cpu":
            raise NoSourceForm("another device")
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise NoSourceForm(f"a tensor of type {type(tensor).__name__}")
        name = self.name(f"x{len(self.tensors)}")
        self.tensors[name] = tensor
        grad = ", requires_grad=True" if tensor.requires_grad else ""
        made = f"empty({tuple(tensor.shape)}"
        if not tensor.is_contiguous():
            made = f"empty_strided({tuple(tensor.shape)}, {tuple(tensor.stride())}"
        self.setup.append(f"{name} = torch.{made}, dtype={tensor.dtype}{grad})")
        return name

    def arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        written = [self.literal(value) for value in args]
        written += [f"{name}={self.literal(value)}" for name, value in kwargs.items()]
        return ", ".join(written)

    def subscript(self, args: Iterable[Any]) -> str:
        keys = [key for argument in args for key in (argument if type(argument) is tuple else (argument,))]
        written = []
        for key in keys:
            if isinstance(key, slice):
                parts = [key.start, key.stop] + ([key.step] if key.step is not None else [])
                written.append(":".join("" if part is None else self.literal(part) for part in parts))
            else:
                written.append(self.literal(key))
        return ", ".join(written) or "()"

    @property
    def text(self) -> str:
        lines = list(self.setup)
        if self.module:
            lines.append(f"{self.name('module')} = {self.module}")
        lines.append(f"{self.name('out')} = {self.call}")
        return "\n".join(lines)

    def execute(self, refill: Callable[[torch.Tensor], torch.Tensor] | None = None) -> tuple[Any, list[torch.Tensor]]:
        """What PyTorch returns for the call on the sample's tensors, and these afterwards. Raises what it raises."""
        space: dict[str, Any] = {"torch": torch}
        for name, tensor in self.tensors.items():
            space[name] = refill(tensor) if refill else copied(tensor)
        with torch.random.fork_rng(devices=[]), quiet():
            if self.module:
                space[self.name("module")] = eval(self.module, space)
            result = eval(self.call, space)
        return result, [space[name] for name in self.tensors]


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """A leaf with the same content and strides, since operators may write into their arguments."""
    source = tensor.detach()
    if source.is_conj() or source.is_neg():
        source = source.resolve_conj().resolve_neg()
    made = torch.empty_strided(source.shape, source.stride(), dtype=source.dtype) if _plain(source) else None
    if made is None:
        return source.clone().as_strided(source.shape, source.stride()) if source.is_contiguous() else source
    with torch.no_grad():
        made.copy_(source)
    return made.requires_grad_(tensor.requires_grad)


def _plain(tensor: torch.Tensor) -> bool:
    """No two elements share memory."""
    return not any(stride == 0 and size > 1 for size, stride in zip(tensor.shape, tensor.stride()))


def filled(value: int) -> Callable[[torch.Tensor], torch.Tensor]:
    def refill(tensor: torch.Tensor) -> torch.Tensor:
        made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
        with torch.no_grad():
            extent = made.untyped_storage().nbytes() // made.element_size()
            flat = torch.full((extent,), value, dtype=made.dtype) if extent else None
            if flat is not None and extent:
                made = torch.as_strided(flat, tensor.shape, tensor.stride())
        return made.detach().requires_grad_(tensor.requires_grad)

    return refill


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


_BINARY = {
    "__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rdiv__": "/", "__rmatmul__": "@", "__rmod__": "%",
    "__rpow__": "**", "__rand__": "&", "__ror__": "|", "__rxor__": "^",
}  # fmt: skip
_PROPERTIES = frozenset({"T", "H", "mT", "mH"})


def resolve(name: str) -> Any:
    try:
        return operator.attrgetter(name)(torch)
    except AttributeError:
        return None


def is_public(name: str) -> bool:
    if name == "__getitem__" or name in _BINARY:
        return True
    if name.rpartition(".")[2].startswith("_") or name.startswith(("jiterator", "ops.")):
        return False
    last = name.rpartition(".")[2]
    return any((resolve(name), hasattr(torch.Tensor, last), hasattr(torch.Tensor, f"{last}_")))


def spellings(name: str, method_first: bool) -> list[str]:
    """Ways to write a call of the operator; `{0}`: the first argument, `{rest}`: the others, `{all}`: all."""
    if name == "__getitem__":
        return ["{0}[{rest}]"]
    if name in _BINARY:
        return [f"{{rest}} {_BINARY[name]} {{0}}"]
    if name in _PROPERTIES:
        return [f"{{0}}.{name}"]
    ways = []
    if callable(resolve(name)):
        ways.append(f"torch.{name}({{all}})")
    if "." not in name and hasattr(torch.Tensor, name):
        ways.append(f"{{0}}.{name}({{rest}})")
        if method_first:
            ways.reverse()
    if not ways and hasattr(torch.Tensor, f"{name}_"):
        ways.append(f"{{0}}.{name}_({{rest}})")
    return ways


def operator_case(label: str, prefix: str, way: str, sample: Any) -> Case:
    case = Case(label, prefix=prefix)
    first = case.literal(sample.input)
    rest = case.subscript(sample.args) if way == "{0}[{rest}]" else case.arguments(sample.args, sample.kwargs)
    if way.startswith("{rest} "):
        first, rest = f"({first})", f"({rest})"
    case.call = way.replace("{0}", first).replace("{rest}", rest)
    case.call = case.call.replace("{all}", f"{first}, {rest}" if rest else first)
    if way.startswith("{0}") and not isinstance(sample.input, torch.Tensor):
        raise NoSourceForm("a method of something that is no tensor")
    return case


def module_case(label: str, prefix: str, path: str, given: Any, training: bool) -> Case:
    case = Case(label, prefix=prefix)
    made = f"{path}({case.arguments(given.constructor_input.args, given.constructor_input.kwargs)})"
    case.module = made if training else f"{made}.eval()"
    forward = given.forward_input
    case.call = f"{case.name('module')}({case.arguments(forward.args, forward.kwargs)})" if forward else "None"
    return case


# -- comparison ------------------------------------------------------------------------------------


def flatten_eager(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, torch.nn.utils.rnn.PackedSequence):
        raise NoSourceForm("PackedSequence")
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in flatten_eager(item)]
    return [value]


def flatten_abstract(value: Any) -> list[Any]:
    if isinstance(value, DictValue) and value.items is not None:
        value = tuple(value.items.values())
    if isinstance(value, ListValue) and value.items is not None:
        value = value.items
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in flatten_abstract(item)]
    return [value]


def compare(expected: Any, found: Any) -> tuple[str, str]:
    """("equal" | "open" | "undecided" | "wrong" | "no tensors", what differs). Open: some sizes are unknown."""
    wanted = flatten_eager(expected)
    if not any(isinstance(item, torch.Tensor) for item in wanted):
        return "no tensors", ""
    given = flatten_abstract(found)
    if len(given) != len(wanted):
        if any(item.__class__.__name__ == "Unknown" or not isinstance(item, Tensor) for item in given):
            return "undecided", "the result is unknown"
        return "wrong", f"{len(given)} results instead of {len(wanted)}"
    verdict = "equal"
    for index, (actual, abstract) in enumerate(zip(wanted, given)):
        if not isinstance(actual, torch.Tensor):
            continue
        if not isinstance(abstract, Tensor):
            return "undecided", "the result is unknown"
        spec = abstract.spec
        if spec.dtype is not None and spec.dtype != str(actual.dtype).removeprefix("torch."):
            return "wrong", f"[{index}] dtype {spec.dtype} instead of {actual.dtype}"
        if spec.requires_grad is not None and spec.requires_grad != actual.requires_grad:
            return "wrong", f"[{index}] requires_grad {spec.requires_grad} instead of {actual.requires_grad}"
        if spec.shape is not None:
            if len(spec.shape) != actual.dim() or any(
                isinstance(size, int) and size != real for size, real in zip(spec.shape, actual.shape)
            ):
                shape = ", ".join(str(size) for size in spec.shape)
                return "wrong", f"[{index}] shape ({shape}) instead of {tuple(actual.shape)}"
        if spec.shape is None or spec.dtype is None:
            verdict = "undecided"
        elif verdict == "equal" and any(isinstance(size, Dim) for size in spec.shape):
            verdict = "open"
    return verdict, "a shape or dtype is unknown" if verdict == "undecided" else ""


# -- the replay ------------------------------------------------------------------------------------


@dataclass
class Findings:
    """What the analyzer says about a batch of cases."""

    values: dict[str, Any]
    flags: dict[str, list[str]]
    reasons: dict[str, str]


class Replay:
    """Runs cases through one engine and keeps the tallies."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.reasons: list[str] = []
        self.seconds = 0.0
        self.counts: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.flagged: list[str] = []
        self.undecided: dict[str, list[str]] = defaultdict(list)
        self.missed: dict[str, list[str]] = defaultdict(list)
        self.per_label: dict[str, Counter[str]] = defaultdict(Counter)
        self._watch_oracle()

    def _watch_oracle(self) -> None:
        """Remember why the oracle was undecided, to be told in the report."""
        call = self.engine.oracle.call

        def watched(target: Any, *rest: Any, **more: Any) -> Any:
            outcome = call(target, *rest, **more)
            reason = getattr(outcome, "reason", None) or getattr(outcome, "message", None) or "accepted"
            self.reasons.append(f"{type(outcome).__name__}: {reason}")
            return outcome

        self.engine.oracle.call = watched  # type: ignore[method-assign]

    def analyze(self, cases: list[Case]) -> Findings:
        """Analyse cases one after the other in one text."""
        lines, owners = ["import torch"], {}
        for case in cases:
            for line in case.text.split("\n"):
                lines.append(line)
                owners[len(lines)] = case.prefix
        text = "\n".join(lines) + "\n"
        source = SourceText("script.py", text)
        workspace = Workspace({"script.py": text}, ())
        interpreter = Execution(self.engine.oracle, workspace, Budget())
        began = time.perf_counter()
        space: list[Any] = []
        self.reasons.clear()
        reasons: dict[str, str] = {}
        statement = interpreter.statement

        def stepped(node: Any, frame: Any) -> int:
            before = len(self.reasons)
            result = statement(node, frame)
            if node.lineno in owners:
                reasons[owners[node.lineno]] = self.reasons[-1] if len(self.reasons) > before else "not asked"
            return result

        interpreter.statement = stepped  # type: ignore[method-assign]
        interpreter._protect(lambda: space.append(interpreter.execute_module(source, "__main__")))
        # What TS8 says of a function is true of the samples too: it is deprecated.
        rules = [rule for rule in RULES.values() if rule.fault.severity != "hint" and not rule.code.startswith("TS8")]
        found = self.engine._diagnose(Analysis(source, interpreter.trace, workspace), rules)
        self.seconds += time.perf_counter() - began
        flags: dict[str, list[str]] = defaultdict(list)
        for diagnostic, _ in found:
            flags[owners.get(diagnostic.start.line, "")].append(f"{diagnostic.code} {diagnostic.message}")
        return Findings(space[0].slots if space else {}, flags, reasons)

    def valid(self, cases: list[Case]) -> None:
        """Samples that PyTorch accepts."""
        for batch in batches(cases):
            findings = self.analyze(batch)
            for case in batch:
                expected, operands = case.execute()
                verdict, detail = compare(expected, findings.values.get(case.name("out")))
                kept, changed = compare(operands, tuple(map(findings.values.get, case.tensors)))
                if kept == "wrong":
                    verdict, detail = kept, f"operands afterwards: {changed}"
                if verdict == "no tensors":
                    self.counts["no tensors returned"] += 1
                    continue
                self.counts["total"] += 1
                self.counts[verdict] += 1
                self.per_label[case.label][verdict] += 1
                self.per_label[case.label]["total"] += 1
                if verdict == "wrong":
                    self.wrong.append(f"{case.label}: {detail}\n{_indented(case)}")
                elif verdict == "undecided":
                    reason = findings.reasons.get(case.prefix, detail)
                    self.undecided[_reason(reason)].append(f"{case.label}\n{_indented(case)}")
                if findings.flags.get(case.prefix):
                    self.counts["flagged"] += 1
                    self.per_label[case.label]["flagged"] += 1
                    self.flagged.append(f"{case.label}: {findings.flags[case.prefix]}\n{_indented(case)}")

    def invalid(self, cases: list[Case]) -> None:
        """Samples that PyTorch rejects."""
        for batch in batches(cases):
            findings = self.analyze(batch)
            for case in batch:
                kind, message = error_kind(case)
                self.errors[kind] += 1
                if kind != "structural":
                    continue
                if findings.flags.get(case.prefix):
                    self.errors["flagged"] += 1
                else:
                    reason = findings.reasons.get(case.prefix, "not asked")
                    self.missed[_reason(reason)].append(f"{case.label}: {message}\n{_indented(case)}")


def _indented(case: Case) -> str:
    text = case.text.replace(f"{case.prefix}_", "")
    return "\n".join(f"      {line[:300]}" for line in text.split("\n"))


def _reason(reason: str) -> str:
    """Reasons that differ in numbers and names alone are one."""
    return re.sub(r"[0-9]+", "N", re.sub(r"'[^']*'", "'…'", reason)).split("\n")[0][:110]


def batches(cases: list[Case]) -> Iterator[list[Case]]:
    for start in range(0, len(cases), SAMPLES_PER_TEXT):
        yield cases[start : start + SAMPLES_PER_TEXT]


def error_kind(case: Case) -> tuple[str, str]:
    """("structural" | "data" | "argument kinds" | "not reproduced", the message)."""
    try:
        case.execute()
    except Exception as error:
        first = error
    else:
        return "not reproduced", ""
    for value in (0, 1):
        try:
            case.execute(filled(value))
        except Exception as error:
            if type(error) is not type(first) or _reason(str(error)) != _reason(str(first)):
                return "data", ""
        else:
            return "data", ""
    if isinstance(first, TypeError):
        return "argument kinds", ""
    return "structural", f"{type(first).__name__}: {str(first).splitlines()[0][:160] if str(first) else ''}"


def runs(case: Case) -> bool:
    try:
        flatten_eager(case.execute()[0])
    except Exception:
        return False
    return True


class Databases:
    """The samples of PyTorch's databases as cases."""

    def __init__(self, pattern: str = "*", limit: int = 0) -> None:
        self.pattern = pattern
        self.limit = limit
        self.counts: Counter[str] = Counter()
        self.error_counts: Counter[str] = Counter()
        self._prefixes = itertools.count()

    def _prefix(self) -> str:
        return f"s{next(self._prefixes)}"

    def _wanted(self, name: str) -> bool:
        return any(fnmatch.fnmatch(name, part) for part in self.pattern.split(","))

    def _limited(self, samples: list[Any]) -> list[Any]:
        """An even choice of at most `limit` samples."""
        if not self.limit or len(samples) <= self.limit:
            return samples
        step = len(samples) / self.limit
        return [samples[int(index * step)] for index in range(self.limit)]

    def operators(self) -> Iterator[tuple[str, list[Case], list[Case]]]:
        """Operator, valid cases, cases that raise."""
        from torch.testing._internal.common_methods_invocations import op_db

        for info in op_db:
            if not self._wanted(info.name):
                continue
            label = info.name + (f"/{info.variant_test_name}" if info.variant_test_name else "")
            torch.manual_seed(0)
            with quiet():
                samples = list(info.sample_inputs("cpu", torch.float32, requires_grad=info.supports_autograd))
                errors = []
                if info.error_inputs_func is not None:
                    # A few are written for accelerators alone.
                    with contextlib.suppress(Exception):
                        errors = [given.sample_input for given in info.error_inputs("cpu")]
            if not is_public(info.name):
                self.counts["not public"] += len(samples)
                self.error_counts["not public"] += len(errors)
                continue
            ways = spellings(info.name, method_first=False)
            cases = [self._operator(label, ways, sample) for sample in self._limited(samples)]
            wrong = [self._erroneous(label, ways, sample) for sample in self._limited(errors)]
            yield label, [case for case in cases if case], [case for case in wrong if case]

    def _operator(self, label: str, ways: list[str], sample: Any) -> Case | None:
        for way in ways:
            try:
                case = operator_case(label, self._prefix(), way, sample)
            except NoSourceForm:
                continue
            if runs(case):
                return case
        self.counts["no source form"] += 1
        return None

    def _erroneous(self, label: str, ways: list[str], sample: Any) -> Case | None:
        for way in ways:
            try:
                return operator_case(label, self._prefix(), way, sample)
            except NoSourceForm:
                continue
        self.error_counts["no source form"] += 1
        return None

    def modules(self) -> Iterator[tuple[str, list[Case], list[Case]]]:
        from torch.testing._internal.common_modules import module_db

        for info in module_db:
            if not self._wanted(info.name):
                continue
            path = f"torch.{info.name}"
            torch.manual_seed(0)
            cases: list[Case] = []
            wrong: list[Case] = []
            for training in (True, False):
                with quiet():
                    given = list(info.module_inputs_func(info, "cpu", torch.float32, True, training))
                    errors = []
                    if info.module_error_inputs_func is not None:
                        errors = list(info.module_error_inputs_func(info, "cpu", torch.float32, True, training))
                for item in self._limited(given):
                    try:
                        case = module_case(info.name, self._prefix(), path, item, training)
                    except NoSourceForm:
                        self.counts["no source form"] += 1
                        continue
                    if item.forward_input is None or not runs(case):
                        self.counts["no source form"] += 1
                    else:
                        cases.append(case)
                for error in self._limited(errors):
                    try:
                        wrong.append(module_case(info.name, self._prefix(), path, error.module_error_input, training))
                    except NoSourceForm:
                        self.error_counts["no source form"] += 1
            yield info.name, cases, wrong


# -- report ----------------------------------------------------------------------------------------


EXPLANATIONS = (
    (
        r"Expected tensor to have size",
        "the sizes that are right depend on lengths which are values of a tensor; tried with plain fillings, it fails",
    ),
    (r"(rank|dtype|kind) .*depends on the data", "of what is returned, a part is empty or not as the data is"),
    (r"not dense", "results of sparse layout have no shape and strides that could be followed"),
    (r"not asked", "layouts other than strided, and results written into an operand, are not followed"),
    (r"single memory location|refers to a sin", "memory that overlaps itself or an operand is not followed"),
    (r"Result: accepted", "the tensors are too large to be tried, and fake tensors do not check this"),
    (r"too large", "the tensors are too large to be tried"),
)
"""Why a group of samples is not decided, by the reason that the oracle gave."""


def explained(reason: str) -> str:
    found = (text for pattern, text in EXPLANATIONS if re.search(pattern, reason))
    return next(found, "PyTorch refuses for the values at hand, or fake tensors cannot evaluate it, as it says")


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.2f} %)" if whole else "0 of 0"


def report(replay: Replay, databases: Databases, elapsed: float, shown: int) -> dict[str, Any]:
    counts = replay.counts + databases.counts
    errors = replay.errors + databases.error_counts
    decided = counts["equal"] + counts["open"] + counts["wrong"]
    oracle = replay.engine.oracle
    for line in replay.wrong:
        print(f"WRONG    {line}")
    for line in replay.flagged:
        print(f"FLAGGED  {line}")
    for title, groups in (("UNDECIDED", replay.undecided), ("NOT FLAGGED", replay.missed)):
        for reason, examples in sorted(groups.items(), key=lambda item: -len(item[1])):
            print(f"{title} {len(examples):5}  {reason}")
            print(f"      why: {explained(reason)}")
            labels = Counter(example.split("\n")[0].split(":")[0] for example in examples)
            print(f"      {', '.join(f'{name} {count}' for name, count in labels.most_common(12))}")
            for example in examples[:shown]:
                print(f"    {example}")
    print()
    print(f"valid samples    {counts['total']}")
    print(
        f"  decided        {share(decided, counts['total'])}, of them {counts['open']} with sizes that depend on data"
    )
    print(f"  equal          {counts['equal'] + counts['open']}")
    print(f"  wrong          {counts['wrong']}")
    print(f"  flagged        {counts['flagged']}")
    for name in ("not public", "no source form", "no tensors returned"):
        print(f"  not counted    {counts[name]} {name}")
    structural = errors["structural"]
    print(f"error inputs     {structural} that depend on shapes, ranks, dims, dtypes or plain arguments")
    print(f"  flagged        {share(errors['flagged'], structural)}")
    for name in ("data", "argument kinds", "not reproduced", "no source form", "not public"):
        print(f"  not counted    {errors[name]} {name}")
    asked = oracle.hits + oracle.misses
    print(f"time             {elapsed:.0f} s, of which {replay.seconds:.0f} s in the analyzer")
    print(f"memo             {share(oracle.hits, asked)} answered from memory")
    return {
        "torch": torch.__version__,
        "valid": dict(counts),
        "decided": decided,
        "errors": dict(errors),
        "undecided": {reason: len(examples) for reason, examples in replay.undecided.items()},
        "missed": {reason: len(examples) for reason, examples in replay.missed.items()},
        "wrong": replay.wrong,
        "flagged": replay.flagged,
        "per_operator": {label: dict(tally) for label, tally in replay.per_label.items()},
        "analyzer_seconds": replay.seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conformance")
    parser.add_argument("--ops", default="*", help="names of operators and modules, as comma-separated patterns")
    parser.add_argument("--limit", type=int, default=0, help="samples per operator")
    parser.add_argument("--modules", action="store_true", help="modules alone")
    parser.add_argument("--operators", action="store_true", help="operators alone")
    parser.add_argument("--errors", action="store_true", help="error inputs alone")
    parser.add_argument("--show", type=int, default=1, help="examples printed per reason")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    databases = Databases(options.ops, options.limit)
    replay = Replay()
    groups: list[Iterator[tuple[str, list[Case], list[Case]]]] = []
    if not options.modules:
        groups.append(databases.operators())
    if not options.operators:
        groups.append(databases.modules())
    for _, cases, wrong in itertools.chain(*groups):
        if not options.errors:
            replay.valid(cases)
        replay.invalid(wrong)
    numbers = report(replay, databases, time.perf_counter() - began, options.show)
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()

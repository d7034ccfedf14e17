"""Every document gets an answer: deadlines, limits on values and nesting, and documents that are nothing to do with PyTorch."""

from __future__ import annotations

import ast
import itertools
import random
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import bombs, fuzz
from tests.check import analyze, engine
from torchsleuth.faults import FAULTS
from torchsleuth.interp import interpreter as execution
from torchsleuth.interp.budget import OutOfTime
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.relevance import irrelevant
from torchsleuth.oracle import limits
from torchsleuth.rules.registry import RULES
from torchsleuth.rules.rule import Analysis, Finding
from torchsleuth.schema import FileAnalysis
from torchsleuth.syntax.parse import MAX_NESTING, parse_with_errors
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.spec import ListSpec, ModuleSpec, TensorSpec, Undecided
from torchsleuth.worker import engine as engine_module
from torchsleuth.worker.bounded import Bounded
from torchsleuth.worker.engine import Engine
from torchsleuth.worker.times import Times

REFUSED_BY_PYTHON = """
import re, struct
from collections import deque
lines = deque([1, 2])
TRY
y = nn.Linear(8, 4)(torch.zeros(2, 9))
"""
"""A function that only computes is called with what it refuses, by an exception that is none of the builtin ones."""
WRONG = "y = nn.Linear(8, 4)(torch.zeros(2, 9))\n"
"""One error, TS101."""
TRAINED = """
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(10):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
"""Gradients that are never cleared, TS501."""
IMPORTS = "import math\nimport torch\nfrom torch import nn\n"
DIVISIONS = "a = math.log(1 + torch.exp(y).sum().item())\nb = torch.log(torch.softmax(y, 1))\n"
"""A formula that loses digits, TS705."""


def codes(found: FileAnalysis) -> list[str]:
    return [item.code for item in found.diagnostics]


@pytest.fixture
def quick() -> Engine:
    """An engine that gives documents less time, so that those which use it up do not hold up the tests."""
    return Engine(engine().oracle, times=Times(execution=0.5, grace=0.5, rules=1.0, document=3.0))


def few(documents: dict[str, str], groups: int) -> list[list[tuple[str, str]]]:
    items = list(documents.items())
    return [items[start::groups] for start in range(groups)]


# -- documents that would take for ever ------------------------------------------------------------


@pytest.mark.parametrize("group", few(bombs.documents((500,), (18, 95)), 12), ids=lambda group: group[0][0][:30])
def test_a_bomb_is_analysed_like_any_document(quick: Engine, group: list[tuple[str, str]]) -> None:
    for name, text in group:
        found = quick.analyze("bomb.py", text)
        assert not fuzz.faults(text, found), name


@pytest.mark.parametrize("name", ["sum", "methods", "elif", "lines", "classes", "brackets", "signs", "names in a text"])
def test_a_huge_document_is_answered(quick: Engine, name: str) -> None:
    text = f"{bombs.PREAMBLE}{bombs.repeated(10_000)[name]}\n"
    assert not fuzz.faults(text, quick.analyze("bomb.py", text, verify=False))


@pytest.mark.parametrize("seed", range(4))
def test_mutated_documents_are_analysed_without_a_fault(quick: Engine, seed: int) -> None:
    draw = random.Random(seed)
    texts = fuzz.sources([fuzz.ROOT / "examples"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(10):
            text, mutation = fuzz.mutated(texts, draw)
            assert not fuzz.faults(text, quick.analyze("mutated.py", text, verify=draw.random() < 0.2)), mutation


def test_a_fault_of_an_answer_is_noticed() -> None:
    found = analyze(IMPORTS + WRONG)
    assert not fuzz.faults(IMPORTS + WRONG, found)
    (item,) = found.diagnostics
    assert fuzz.faults("x = 1\n", found)  # it speaks of lines that this text has not
    assert fuzz.faults(IMPORTS + WRONG, replace(found, stats={**found.stats, "internal_errors": ["a.py:1: KeyError"]}))
    broken = replace(item.fixes[0], edits=(replace(item.fixes[0].edits[0], new_text="("),))
    kinds = [
        kind for kind, _ in fuzz.faults(IMPORTS + WRONG, replace(found, diagnostics=(item.with_fixes((broken,)),)))
    ]
    assert kinds == ["broken fix"]


# -- the deadline ----------------------------------------------------------------------------------


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look of the interpreter at the clock takes ten seconds."""
    seconds = itertools.count(step=10)
    monkeypatch.setattr(execution, "time", SimpleNamespace(process_time=lambda: float(next(seconds))))


LONG = "".join(f"z{i} = {i} + 1\n" for i in range(3000))


@pytest.mark.usefixtures("ticking")
def test_what_is_proved_before_the_deadline_is_reported_and_the_status_says_so() -> None:
    found = analyze(IMPORTS + WRONG + LONG + "y = nn.Linear(8, 4)(torch.zeros(2, 9))\n")
    assert codes(found) == ["TS101"] and found.diagnostics[0].start.line == 4
    assert "time for one document is over" in found.stats["incomplete"]


@pytest.mark.usefixtures("ticking")
def test_fixes_are_not_verified_against_what_was_not_done_in_time() -> None:
    found = analyze(IMPORTS + WRONG + LONG)
    assert codes(found) == ["TS101"] and not found.diagnostics[0].fixes


def test_a_script_that_was_not_executed_to_its_end_lacks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "TS501" in codes(analyze(IMPORTS + TRAINED + LONG))
    seconds = itertools.count(step=10)
    monkeypatch.setattr(execution, "time", SimpleNamespace(process_time=lambda: float(next(seconds))))
    found = analyze(IMPORTS + TRAINED + WRONG + LONG)
    assert codes(found) == ["TS101"]


def test_what_a_body_does_after_it_was_cut_is_not_known() -> None:
    text = (
        IMPORTS + "net = nn.Linear(8, 4)\ndef use():\n    return net(torch.zeros(2, 9))\n"
        "def own():\n    return nn.Linear(8, 4)(torch.zeros(2, 9))\n"
    )
    deep = f"stop = {' + '.join(['1'] * 1500)}\nnet = nn.Linear(9, 4)\n"
    whole, cut = _executed(text).trace, _executed(text + deep).trace
    assert [failure.operation.site.span.start.line for failure in whole.failures] == [6, 8]
    assert [failure.operation.site.span.start.line for failure in cut.failures] == [8]
    assert cut.incomplete is not None and "nests too deeply" in cut.incomplete


def test_tables_of_numbers_are_not_computed_one_by_one() -> None:
    table = "torch.tensor([[p / (10000 ** (2 * (i // 2) / dim)) for i in range(dim)] for p in range(196)])"
    text = IMPORTS + "dim = 768\n" + "".join(f"t{number} = {table}\n" for number in range(9))
    found = engine().analyze("script.py", text + WRONG)
    shapes = {fact.binding: fact.shape for fact in found.facts if fact.binding}
    assert shapes["t0"] == shapes["t8"] == (196, 768) and codes(found) == ["TS101"]
    assert not found.stats["incomplete"]


def test_a_large_heap_counts_in_what_it_costs() -> None:
    source = "".join(f"v{i} = {i}\n" for i in range(50)) + "if u:\n    w = 1\n"
    small, large = (
        _executed(IMPORTS + text) for text in (source, source.replace("if u:", "if u:\n    " + _changes(50)))
    )
    assert large.heap.work - small.heap.work >= 100


def _changes(count: int) -> str:
    return "; ".join(f"v{i} = -1" for i in range(count)) + "\nif u:"


def _executed(text: str) -> execution.Execution:
    made = execution.Execution(engine().oracle, Workspace({"a.py": text}, ()))
    made.run_document(SourceText("a.py", text))
    return made


# -- interrupting ----------------------------------------------------------------------------------


def test_work_without_an_end_is_interrupted() -> None:
    bounded = Bounded()

    def work() -> str:
        try:
            with bounded.limit(0.05):
                while True:
                    pass
        except OutOfTime:
            return "interrupted"

    assert bounded.run(work) == "interrupted"


def test_an_outer_limit_holds_inside_of_another() -> None:
    bounded, seen = Bounded(), []

    def work() -> None:
        try:
            with bounded.limit(0.05):
                try:
                    with bounded.limit(1000):
                        while True:
                            pass
                except OutOfTime:
                    seen.append("inner")
                while True:
                    pass
        except OutOfTime:
            seen.append("outer")

    bounded.run(work)
    assert seen == ["inner", "outer"]


def test_work_that_ends_in_time_is_left_alone_and_its_errors_come_through() -> None:
    bounded = Bounded()

    def work() -> int:
        with bounded.limit(1000):
            return 3

    assert bounded.run(work) == 3
    with pytest.raises(KeyError):
        bounded.run(lambda: {}["x"])
    assert bounded.run(lambda: bounded.run(lambda: 4)) == 4


def test_the_oracle_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is at is half done in PyTorch, too."""
    bounded, ended = Bounded(), []
    code = compile("def question(ask):\n    return ask()\n", str(Path(limits.__file__)), "exec")
    namespace: dict[str, Any] = {}
    exec(code, namespace)

    def work() -> None:
        try:
            with bounded.limit(0.0):
                namespace["question"](lambda: [i for i in range(300_000)])
                ended.append("question")
                while True:
                    pass
        except OutOfTime:
            ended.append("interrupted")

    bounded.run(work)
    assert ended == ["question", "interrupted"]


def test_deep_recursion_has_room() -> None:
    def down(n: int) -> int:
        return 0 if n == 0 else 1 + down(n - 1)

    assert Bounded().run(lambda: down(20_000)) == 20_000


def test_a_rule_that_takes_too_long_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(analysis: Analysis) -> Iterator[Finding]:
        for operation in analysis.trace.operations[:1]:
            yield Finding(operation.site.span, "the first operation")
        while True:
            pass

    monkeypatch.setitem(
        RULES, "TS000", replace(RULES["TS101"], fault=replace(FAULTS["TS101"], code="TS000"), find=find)
    )
    brief = Engine(engine().oracle, times=Times(rule=0.2))
    found = brief.analyze("script.py", IMPORTS + WRONG, verify=False)
    assert sorted(codes(found)) == ["TS000", "TS101"]
    assert found.stats["incomplete"] == "these rules took too long: TS000" and not found.stats["internal_errors"]


def test_candidates_without_an_end_leave_what_was_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = analyze(IMPORTS + WRONG).diagnostics[0]

    def find(analysis: Analysis) -> Iterator[Finding]:
        for finding in RULES["TS101"].find(analysis):
            yield replace(finding, candidates=itertools.chain(finding.candidates, _endless()))

    brief = Engine(engine().oracle, times=Times(document=1.0))
    rules = {"TS101": replace(RULES["TS101"], find=find)}
    monkeypatch.setattr(engine_module, "RULES", rules)
    found = brief.analyze("script.py", IMPORTS + WRONG, codes=["TS101"])
    assert codes(found) == ["TS101"] == [whole.code] and not found.stats["unverified"]


def _endless() -> Iterator[Any]:
    while True:
        pass
    yield


# -- nesting ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "methods", "attributes", "and", "powers", "elif", "conditional expressions"])
def test_long_chains_cost_no_rule(name: str) -> None:
    text = IMPORTS + WRONG + DIVISIONS + bombs.repeated(500)[name].replace("print(x)", "") + "\n"
    found = engine().analyze("script.py", text.replace(" x", " y"), verify=False)
    assert (
        {"TS101", "TS705"} <= set(codes(found)) and not found.stats["internal_errors"] and not found.stats["incomplete"]
    )


@pytest.mark.parametrize("name", ["sum", "signs", "attributes", "elif", "lambdas", "not"])
def test_what_nests_too_deeply_is_left_out_alone(name: str) -> None:
    text = f"before = 1\n{bombs.repeated(30_000)[name]}\nafter = 2\n"
    tree, blanked = Bounded().run(lambda: parse_with_errors(SourceText("a.py", text)))
    names = [
        part.targets[0].id
        for part in tree.body
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)
    ]
    assert names[0] == "before" and names[-1] == "after" and 2 in blanked and 1 not in blanked
    assert text.count("\n") not in blanked


def test_a_block_inside_of_which_something_nests_too_deeply_stays() -> None:
    text = f"def f(x):\n    y = {' + '.join(['x'] * (MAX_NESTING + 10))}\n    return x\n"
    tree, blanked = Bounded().run(lambda: parse_with_errors(SourceText("a.py", text)))
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef) and len(function.body) == 2 and blanked == (2,)


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "10**10**10", "1 << 10**12", "'a' * 10**12", "[0] * 10**10", "(1,) * 2**62", "list(range(10**12))", "'%999999999d' % 1",
        "'%.*f' % (10**9, 1.5)", "'{:>9999999999}'.format(1)", "'{:{}}'.format(1, 10**9)", "f'{3:{10**9}}'", "str(10**100000)",
        "bytes(10**12)", "int('9' * 10**6)", "math.factorial(10**8)", "math.comb(10**7, 10**6)", "range(10**30)[10**29]",
        "'a'.ljust(10**11)", "'a'.zfill(10**10)", "chr(9).expandtabs(10**11)", "pow(3, 10**9)", "pow(3, 10**9, 7)",
        "('a' * 4096).replace('a', 'b' * 4096)", "('a' * 4000).join(['b'] * 4000)", "torch.zeros(10**9).chunk(10**9)",
        "torch.zeros(10**9).split(1)", "torch.zeros(10**9).unbind()", "nn.LSTM(8, 8, num_layers=10**5)", "torch.arange(10**13)",
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 10**5)", "nn.Sequential(*[nn.Linear(8, 8)] * 10**6)",
        "nn.Embedding(10**12, 10**6)", "torch.zeros(1 << 40)", "torch.zeros(3)[(None,) * 4000]",
    ],
)  # fmt: skip
def test_a_value_that_is_too_large_is_not_made(value: str) -> None:
    found = engine().analyze("script.py", f"{IMPORTS}v = {value}\n{WRONG}", verify=False)
    assert "TS101" in codes(found) and not found.stats["internal_errors"] and not found.stats["incomplete"]


@pytest.mark.parametrize(
    "growing",
    [
        "s = s + s",
        "s = s * 2",
        "s = [*s, *s]",
        "s = (*s, *s)",
        "s = (s, s)",
        "s = [s, s]",
        "s.extend(s)",
        "s += s",
        "s = {1: s, 2: s}",
    ],
)
@pytest.mark.parametrize("start", ["'ab'", "[1]", "(1,)", "3"])
def test_a_value_that_doubles_in_a_loop_stays_small(start: str, growing: str) -> None:
    text = f"{IMPORTS}s = {start}\nfor i in range(60): {growing}\nt = torch.tensor(s)\nassert s == s\n{WRONG}"
    found = engine().analyze("script.py", text, verify=False)
    assert "TS101" in codes(found) and not found.stats["internal_errors"]


def test_integers_stay_exact_as_long_as_they_are_small() -> None:
    text = IMPORTS + "n = 2**40 // 2**38\nm = math.factorial(3)\nx = torch.zeros(n, m, int('7'), 1 << 3)\n"
    (fact,) = [fact for fact in analyze(text).facts if fact.binding == "x"]
    assert fact.shape == (4, 6, 7, 8)


def test_a_loop_of_awaited_things_is_a_loop() -> None:
    text = (
        IMPORTS
        + "async def f(loader):\n    async for x in loader():\n        await x\n        nn.Linear(8, 4)(torch.zeros(2, 9))\n"
    )
    found = analyze(text)
    assert codes(found) == ["TS101"] and not found.stats["internal_errors"]


VECTOR = TensorSpec((10**9,), "float32", None, False)


@pytest.mark.parametrize(
    ("target", "args", "large"),
    [
        ("Tensor.chunk", (VECTOR, 10**9), True),
        ("Tensor.chunk", (VECTOR, 4), False),
        ("Tensor.split", (VECTOR, 1), True),
        ("Tensor.split", (VECTOR, 10**8), False),
        ("torch.unbind", (VECTOR,), True),
        ("torch.unbind", (VECTOR.with_(shape=(7,)),), False),
        ("operator.getitem", (VECTOR, (None,) * 70), True),
        ("operator.getitem", (VECTOR, (None,) * 7), False),
        ("math.factorial", (10**8,), True),
        ("math.factorial", (10,), False),
        ("operator.mul", ((1,), 10**9), True),
        ("torch.tensor", (1 << 5000,), True),
        ("torch.stack", (ListSpec((VECTOR,) * 100),), False),
    ],
)
def test_questions_that_take_too_long_are_not_asked(target: str, args: tuple[Any, ...], large: bool) -> None:
    assert limits.too_large(target, args, {}) == large


def test_modules_of_too_many_layers_are_not_made() -> None:
    few_layers, many = (ModuleSpec("torch.nn.LSTM", (8, 8), (("num_layers", count),)) for count in (2, 10**5))
    assert not limits.too_many_layers(few_layers) and limits.too_many_layers(many)
    assert isinstance(engine().oracle.construct(many), Undecided) and engine().oracle.construct(few_layers) is None


# -- documents without PyTorch ---------------------------------------------------------------------


PLAIN = "import os, re\nfrom collections import Counter\n# import torch\na, b = (1, 2, 3)\nlen(5)\n"


def test_a_document_without_torch_is_not_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise AssertionError("it was executed")

    monkeypatch.setattr(execution.Execution, "run_document", refuse)
    found = analyze(PLAIN)
    assert (
        not found.diagnostics
        and not found.facts
        and not found.stats["incomplete"]
        and not found.stats["internal_errors"]
    )


@pytest.mark.parametrize(
    "line",
    [
        "import torch", "import torch.nn as nn", "from torch import nn", "import os, torch", "if a: import torch", "x = 1; import torch",
        "from torch.utils.data import (\n    DataLoader,  # loads\n    Dataset,\n)", "import torchvision", "import timm",
        "from transformers import AutoModel", "import pytorch_lightning as pl", "    from torch import \\\n        nn", "import einops",
    ],
)  # fmt: skip
def test_an_import_says_that_a_document_concerns_torch(line: str) -> None:
    text = f"{PLAIN}{line}\n"
    assert irrelevant(SourceText("a.py", text), Workspace({"a.py": text}, ())) is None


@pytest.mark.parametrize(
    ("importing", "path"),
    [
        ("import helper", "helper.py"), ("from helper import *", "helper.py"), ("from helper import run", "helper.py"),
        ("from . import helper", "helper.py"), ("from .helper import run", "helper.py"), ("import tools.helper", "tools/helper.py"),
        ("from tools import helper", "tools/helper.py"), ("import tools.inner", "tools/__init__.py"),
    ],
)  # fmt: skip
def test_so_does_one_of_what_it_imports(importing: str, path: str, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").touch()
    (tmp_path / "tools" / "inner.py").touch()
    main = str(tmp_path / "main.py")
    files = {
        main: importing,
        str(tmp_path / path): "from last import *\n",
        str(tmp_path / "last.py"): "import main, json\n",
    }
    assert irrelevant(SourceText(main, importing), Workspace(files, (str(tmp_path),))) is not None
    files[str(tmp_path / "last.py")] = "import main\nimport torch\n"
    assert irrelevant(SourceText(main, importing), Workspace(files, (str(tmp_path),))) is None


def test_imports_that_were_not_found_are_told_of_such_a_document_too() -> None:
    found = engine().analyze(
        "script.py", "import os\nimport models.net\nfrom .beside import x\nimport yaml\n", verify=False
    )
    assert found.stats["missing"] == [("models.net", "script.py", 2), ("yaml", "script.py", 4)]


def test_a_very_long_line_with_an_f_string_is_left_out_alone() -> None:
    """Python's parser takes a time by the square of its length for it, and cannot be interrupted."""
    text = "before = 1\nx = f'" + "{before}" * 20_000 + "'\nafter = 2\n"
    tree, blanked = parse_with_errors(SourceText("a.py", text))
    assert blanked == (2,)
    assert [ast.unparse(statement) for statement in tree.body] == ["before = 1", "pass", "after = 2"]


def test_the_tree_of_a_long_text_is_kept() -> None:
    source = SourceText("a.py", "x = 1\n" * 50_000)
    assert parse_with_errors(source)[0] is parse_with_errors(source)[0]


@pytest.mark.parametrize(
    "call",
    [
        "struct.pack('i', 'text')",
        "struct.unpack('i', b'12345')",
        "struct.calcsize('nothing')",
        "re.compile('(')",
        "re.sub('a', '\\\\9', 'a')",
        "sorted(lines, key=lambda item: lines.append(item) or item)",
    ],
)
def test_what_python_refuses_in_its_own_way_is_no_internal_error(call: str) -> None:
    for text in (call, f"try:\n    {call}\nexcept Exception:\n    pass"):
        found = analyze("import torch\nfrom torch import nn\n" + REFUSED_BY_PYTHON.replace("TRY", text))
        assert not found.stats["internal_errors"]
        assert [item.code for item in found.diagnostics] == ["TS101"]

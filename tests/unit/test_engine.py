"""The engine as a whole: memo, provenance, facts, budgets, joins."""

from __future__ import annotations

import gc
import textwrap
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.check import PATIENT, analyze, check, engine
from torchsleuth.interp.interpreter import Execution
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.rules.shapes import matmul_shape_mismatch
from torchsleuth.schema import TensorFact
from torchsleuth.values import LibraryModule
from torchsleuth.worker import collector
from torchsleuth.worker.engine import Engine

EXAMPLES = Path(__file__).parents[2] / "examples"


def fact(text: str, name: str) -> TensorFact:
    found = [item for item in analyze(text).facts if item.binding == name]
    return found[-1]


def test_good_training_is_silent_and_known() -> None:
    text = (EXAMPLES / "good_training.py").read_text()
    analysis = analyze(text)
    assert analysis.diagnostics == ()
    assert any(item.shape == (32, 3, 32, 32) for item in analysis.facts if item.binding == "x")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_have_one_finding_with_a_verified_fix(path: Path) -> None:
    analysis = analyze(path.read_text())
    assert len(analysis.diagnostics) == (0 if path.stem == "good_training" else 1)
    for diagnostic in analysis.diagnostics:
        assert diagnostic.fixes and all(fix.verified for fix in diagnostic.fixes)


def test_a_second_analysis_asks_torch_nothing() -> None:
    text = (EXAMPLES / "linear_after_conv.py").read_text()
    analyze(text)
    assert analyze(text).stats["misses"] == 0


def test_names_of_dimensions_are_the_users() -> None:
    text = "import torch\nfrom torch import nn\nclass M(nn.Module):\n    def forward(self, x):\n        B, T, C = x.shape\n        y = x.view(B, T * C)\n        return y\n"
    assert fact(text, "y").shape == ("B", "T*C")


def test_branches_join() -> None:
    text = "import torch, sys\nif sys.argv:\n    x = torch.randn(2, 3)\nelse:\n    x = torch.randn(2, 4)\ny = x * 2\n"
    assert fact(text, "y").shape == (2, "?")


def test_early_returns_join() -> None:
    text = "import torch, sys\ndef f(a):\n    if sys.argv:\n        return torch.zeros(3)\n    return torch.zeros(4)\ny = f(1)\n"
    assert fact(text, "y").shape == ("?",)


def test_loops_widen_what_changes() -> None:
    text = "import torch\nx = torch.zeros(1, 4)\nfor step in range(10000):\n    x = torch.cat([x, torch.zeros(1, 4)])\ny = x + 0\n"
    assert fact(text, "y").shape == ("?", 4)


def test_endless_and_deep_code_ends() -> None:
    assert analyze("while True:\n    pass\n").diagnostics == ()
    assert analyze("def f(n):\n    return f(n + 1) + f(n + 2)\nf(0)\n").diagnostics == ()
    assert analyze("x = " + "(" * 150 + "1" + ")" * 150 + "\n").diagnostics == ()


def test_cost_is_bounded_by_the_budget() -> None:
    lines = "\n".join(f"    x{i} = x{i - 1} + {i}" for i in range(1, 400))
    text = f"import torch\nx0 = torch.zeros(2)\nfor a in range(10**6):\n{lines}\n"
    assert analyze(text).diagnostics == ()


def test_the_oracle_confirms_with_torch_itself() -> None:
    text = "import torch\na = torch.zeros(2, 3, dtype=torch.float64) @ torch.zeros(3, 4)\n"
    (found,) = analyze(text).diagnostics
    assert found.code == "TS301" and "is float64, but" in found.message
    assert engine().oracle.misses > 0


def test_a_deep_copy_is_an_object_of_its_own() -> None:
    check(
        """
        import copy
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

            def forward(self, x):
                return self.body(x)

        net = Net()
        target = copy.deepcopy(net)
        for p in target.parameters():
            p.requires_grad = False
        target.body[2] = nn.Linear(9, 1)
        net(torch.randn(2, 4)).mean().backward()
        """
    )


def test_a_fault_of_the_analysis_costs_one_value(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import torch\nx = [i for i in range(3)]\nif x:\n    pass\ny = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"
    complete = analyze(text)

    def broken(*_: object) -> None:
        raise KeyError("no such handler")

    monkeypatch.setattr(Execution, "on_ListComp", broken)
    monkeypatch.setattr(Execution, "do_If", broken)
    survived = analyze(text)
    assert complete.stats["internal_errors"] == []
    assert [where.partition(" (")[0] for where in survived.stats["internal_errors"]] == [
        "script.py:2: KeyError: 'no such handler'",
        "script.py:3: KeyError: 'no such handler'",
    ]
    assert survived.diagnostics == complete.diagnostics != ()


def test_a_sequential_that_fills_itself_runs_what_it_was_filled_with() -> None:
    text = """
        import torch
        from torch import nn

        class Transition(nn.Sequential):
            def __init__(self, before, after):
                super().__init__()
                self.add_module("norm", nn.BatchNorm2d(before))
                self.conv = nn.Conv2d(before, after, 1)

        y = Transition(8, 4)(torch.randn(2, 8, 5, 5))
        """
    check(text)
    assert fact(textwrap.dedent(text), "y").shape == (2, 4, 5, 5)


def test_what_a_hook_fills_is_not_known() -> None:
    check(
        """
        import torch
        from torch import nn

        features, names = [], {}
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        net[0].register_forward_hook(lambda module, inputs, output: features.append(output))

        def hook(module, inputs, output):
            names["last"] = output

        net[1].register_forward_hook(hook)
        net(torch.randn(2, 4))
        print(torch.cat(features).shape, names["last"].shape)
        """
    )


def test_names_made_by_formatting_are_known() -> None:
    assert fact('import torch\nx = torch.zeros(len("block%d" % 12), len("%s_%i" % ("a", 7)))\n', "x").shape == (7, 3)


def test_fixes_follow_the_findings_trial_by_trial() -> None:
    text = "import torch\n\nx = torch.zeros(2, 3)\ny = torch.zeros(4, 5)\nx @ y\ntorch.nn.Linear(8, 4)(x)\n"
    whole = engine().analyze("a.py", text)
    found = engine().analyze("a.py", text, verify=False)
    assert found.stats["unverified"] and not any(item.fixes for item in found.diagnostics)
    assert [item.with_fixes(()) for item in whole.diagnostics] == list(found.diagnostics)
    steps = [found]
    while steps[-1].stats["unverified"]:
        steps.append(engine().repair("a.py", text, seconds=0.001))
    assert len(steps) > 2 and steps[-1].diagnostics == whole.diagnostics
    counts = [sum(len(item.fixes) for item in step.diagnostics) for step in steps]
    assert counts == sorted(counts) and counts[-1] >= 2


def test_an_internal_error_of_the_repairs_costs_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """\
import torch
from torch import nn

x = torch.zeros(8, 3)
first = nn.Linear(4, 2)(x)
second = nn.Linear(5, 2)(x)
third = x @ torch.zeros(8, 5)
"""
    complete = analyze(text)
    change = matmul_shape_mismatch.change_argument

    def broken(analysis: Analysis, layer: LibraryModule, position: int, name: str, wanted: int) -> Iterator[Candidate]:
        if layer.args[0] == 5:
            raise KeyError("no such argument")
        return change(analysis, layer, position, name, wanted)

    monkeypatch.setattr(matmul_shape_mismatch, "change_argument", broken)
    before = engine().analyze("script.py", text, verify=False)
    assert before.stats["internal_errors"] == [] and len(before.diagnostics) == len(complete.diagnostics) == 3
    survived = engine().repair("script.py", text)
    assert survived.stats["internal_errors"] == ["TS101: KeyError: 'no such argument'"]
    assert [item.with_fixes(()) for item in survived.diagnostics] == list(before.diagnostics)
    assert [len(item.fixes) > 0 for item in survived.diagnostics] == [True, False, True]
    assert all(item.fixes for item in complete.diagnostics)


def test_fixes_that_were_not_waited_for_can_be_asked_for_later() -> None:
    text = "import torch\n\ntorch.nn.Linear(8, 4)(torch.zeros(2, 3))\n"
    engine().analyze("a.py", text, verify=False)
    engine().analyze("a.py", text + "# and more\n", verify=False)
    (found,) = engine().repair("a.py", text).diagnostics
    assert found.fixes


def test_an_analysis_whose_fixes_nobody_waits_for_is_not_kept() -> None:
    text = "import torch\n\ntorch.nn.Linear(8, 4)(torch.zeros(2, 3))\n"
    kept = Engine(engine().oracle, times=PATIENT)
    traces: list[weakref.ref[object]] = []
    interpret = kept.interpret

    def noting(*given: Any) -> Analysis:
        analysis = interpret(*given)
        traces.append(weakref.ref(analysis))
        return analysis

    kept.interpret = noting  # type: ignore[method-assign]
    try:
        for number in range(3):
            kept.analyze("a.py", f"{text}# {number}\n", verify=False)
            assert kept.unrepaired
            collector.tidy(passing=kept.unrepaired)
        assert [trace() is None for trace in traces] == [True, True, False]
    finally:
        gc.unfreeze()

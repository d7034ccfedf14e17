"""Functions and classes that nothing calls: their parameters are known by their use, and correct ones are left alone."""

from __future__ import annotations

import ast

import pytest

from benchmarks.roles import Script, scripts
from tests.check import analyze
from torchsleuth.interp.roles import Role, annotations_of, roles_by_use
from torchsleuth.syntax.uses import Reader

MISSED = frozenset(
    {
        "adversarial training whose generator is cut off",
        "synchronisation in the inner loop",
    }
)
"""Faults that are not found yet."""


@pytest.mark.parametrize("script", list(scripts("faulty")), ids=lambda script: script.title)
def test_a_fault_is_found(script: Script) -> None:
    found = analyze(script.text)
    assert found.stats["internal_errors"] == []
    if script.title not in MISSED:
        assert script.lines & {item.start.line for item in found.diagnostics}


@pytest.mark.parametrize("script", list(scripts("correct")), ids=lambda script: script.title)
def test_nothing_is_said_of_what_is_correct(script: Script) -> None:
    found = analyze(script.text)
    assert found.stats["internal_errors"] == []
    assert [item for item in found.diagnostics if item.severity != "hint"] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "def f(a, b, c, d):\n for x, y in b:\n  d.zero_grad()\n  c(a(x), y).backward()\n  d.step()",
            {"a": Role.MODULE, "c": Role.LOSS, "d": Role.OPTIMIZER},
        ),
        ("def f(model, optimizer, criterion):\n return model", {}),
        ("def f(env, policy):\n for o in env:\n  env.step(policy(o))", {}),
        ("def f(solver):\n solver.step()", {}),
        ("def f(a: int, b):\n b.zero_grad()\n b.step()\n a.eval()\n a(b)", {"b": Role.OPTIMIZER}),
        ("def f(net: nn.Module, opt: torch.optim.Adam):\n pass", {"net": Role.MODULE, "opt": Role.OPTIMIZER}),
        # What has the methods of several things is none of them.
        ("def f(e, b):\n for x in b:\n  l = e(x)\n  e.backward(l)\n  e.step()", {}),
        ("def h(o):\n o.zero_grad()\n o.step()\ndef f(o):\n h(o)", {"o": Role.OPTIMIZER}),
    ],
)
def test_roles_need_evidence(text: str, expected: dict[str, Role]) -> None:
    functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    function = functions["f"]
    uses = Reader(functions, {}).read(function, bound=False)
    assert roles_by_use(uses, annotations_of(function), frozenset()).of == expected

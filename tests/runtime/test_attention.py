"""Short steps are not all looked at: what is told of a training stays the same."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from torchsleuth.runtime.attention import FREE, SHARE, Attention
from torchsleuth.runtime.limits import Limits
from torchsleuth.runtime.session import Run, RunReport

STEPS = 600
TRAINING = f"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
held_out = DataLoader(TensorDataset(x + 1, y + 4), batch_size=16)
for step in range({STEPS}):
    {{first}}
    loss = (model(x) - y).pow(2).mean(){{more}}
    loss.backward()
    optimizer.step()
{{after}}
"""
SOUND = {"first": "optimizer.zero_grad()", "more": "", "after": ""}
EVALUATION = "for a, b in held_out:\n    error = (model(a) - b).abs().mean()"


def execute(path: Path, limits: Limits | None = None, **parts: str) -> tuple[RunReport, str]:
    script = path / "train.py"
    script.write_text(TRAINING.format(**{**SOUND, **parts}))
    output: list[str] = []
    report = Run(str(script), (), sys.executable, on_output=output.append, limits=limits).execute()
    return report, "".join(output)


def test_looks_cost_no_more_than_their_share() -> None:
    attention, now, looked, cost, second = Attention(), 0.0, [], 1e-4, 1e-3
    for step in range(1, 2000):
        now += second
        if attention.closely:
            attention.spent(cost)
            looked.append((step, attention.weight))
        attention.begin_step(step, now)
    assert [step for step, _ in looked[:FREE]] == list(range(1, FREE + 1))
    late = [(step, weight) for step, weight in looked if step > FREE]
    assert 0.9 * SHARE * cost <= second * (late[-1][0] - FREE) / len(late) <= 1.5 * SHARE * cost
    assert sum(weight for _, weight in looked) == looked[-1][0]


def test_two_steps_in_a_row_where_optimizers_take_turns() -> None:
    attention, looked = Attention(), []
    for step in range(1, 400):
        if attention.whole:
            attention.spent(1e-4)
            looked.append(step)
        attention.begin_step(step, step / 1000, pairs=True)
    late = [step for step in looked if step > FREE + 1]
    assert len(late) > 20 and all(step - 1 in looked or step + 1 in looked for step in late)
    assert attention.gap in range(390, 400)


def test_calls_without_a_gradient_in_each_step_wake_few_of_them() -> None:
    attention, woken, now = Attention(), [], time.perf_counter()
    attention.spent(1000.0)
    for step in range(FREE, 1000):
        attention.begin_step(step, now)
        if attention.admits():
            woken.append(step)
            attention.wake()
            attention.spent(1000.0)
    assert woken == list(range(FREE, 2 * FREE))
    attention.due = 0.0
    assert attention.admits(), "when a step is due to be looked at"


def test_what_wakes_it_is_no_whole_step() -> None:
    attention, changes, woken = Attention(), [], []
    attention.on_whole, attention.on_wake = changes.append, lambda: woken.append(True)
    attention.spent(1.0)
    attention.begin_step(FREE, 0.0)
    assert not attention.closely and not attention.whole and changes == [False]
    attention.wake()
    attention.wake()
    assert attention.closely and not attention.whole and woken == [True]
    attention.begin_step(FREE + 1, 0.0, certainly=True)
    assert attention.closely and attention.whole and changes == [False, True]


def test_a_sound_training_of_short_steps(tmp_path: Path) -> None:
    report, _ = execute(tmp_path)
    training = report.recorded
    assert training is not None and report.diagnostics == ()
    losses = sum(loss.values.count for loss in training.losses)
    assert (training.steps, training.backwards, losses) == (STEPS, STEPS, STEPS)
    assert training.phase_series["forward"].count < STEPS  # some steps were not looked at
    (root,) = (module for module in training.modules if module.root and module.elements)
    assert STEPS // 2 <= root.calls == root.training == root.grad <= STEPS
    spent = sum(training.phases.values())
    # How much of the time is outside of the phases depends on the machine: what the first step imports, above all.
    assert training.phases["forward"] > 0 and training.phases["backward"] > 0 and spent <= training.seconds * 1.01


@pytest.mark.parametrize(
    ("parts", "expected"), [({"first": "pass"}, ("TS501", 15)), ({"after": EVALUATION}, ("TS505", 18))]
)
def test_faults_are_named(tmp_path: Path, parts: dict[str, str], expected: tuple[str, int]) -> None:
    report, _ = execute(tmp_path, **parts)
    assert expected in [(one.code, one.start.line) for one in report.diagnostics]


def test_the_place_of_a_value_that_is_not_finite(tmp_path: Path) -> None:
    report, _ = execute(tmp_path, more=" + (model[0].bias.sum() * 0 + (500 - step)).log()")
    training = report.recorded
    assert training is not None and training.bad is not None and training.bad.place is not None
    assert (training.bad.step, training.bad.place.line) == (501, 14)


def test_the_loop_is_told_of_where_no_shapes_are_recorded(tmp_path: Path) -> None:
    gates = "import builtins\nprint(sorted({on for name, on in vars(builtins).items() if 'gate' in name}))"
    parts = {"first": "{}.get(0, optimizer).zero_grad()", "after": gates}
    report, output = execute(tmp_path, Limits(without=("shapes",)), **parts)
    training = report.recorded
    assert output == "[False]\n" and not report.facts and training is not None and report.diagnostics == ()
    (optimizer,) = training.optimizers
    assert (optimizer.steps, optimizer.uncleared) == (STEPS, 0)
    assert optimizer.clear_place is not None and optimizer.clear_place.line == 13

"""Recording goes on behind a debugger or a tracer: shapes, crashes, losses and what is silently wrong are seen again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.transparent import SCRIPTS, compare
from tests.runtime.test_runs import execute, write

STOP = """
import io, pdb, sys
import torch

def stop(commands):
    pdb.Pdb(stdin=io.StringIO(commands), stdout=io.StringIO(), nosigint=True, readrc=False).set_trace(sys._getframe(1))

def trace(frame, event, argument):
    return trace
"""
ENDS = {
    "pdb": "stop('next\\nc\\n')",
    "pdb_at_once": "stop('c\\n')",
    "settrace": "sys.settrace(trace); len(''); sys.settrace(None)",
}
ends = pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
TRAINING = """
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(40):
    x = torch.randn(8, 4)
    if step == 2:
        STOP
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
"""


@ends
def test_losses_and_faults_are_recorded_again(tmp_path: Path, end: str) -> None:
    report, _ = execute(write(tmp_path / "script.py", STOP + TRAINING.replace("STOP", end)))
    assert report.recorded is not None and report.recorded.interrupted
    assert 38 <= sum(loss.values.count for loss in report.recorded.losses) <= 40
    assert 38 <= report.recorded.steps <= 40
    assert [found.code for found in report.diagnostics] == ["TS501"]


LATER = """
def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(40):
        loss = torch.nn.functional.cross_entropy(torch.softmax(model(torch.randn(8, 4)), 1), torch.arange(8) % 3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

for _ in range(1):
    STOP
train(torch.nn.Linear(4, 3))
"""


@ends
def test_a_training_behind_it_is_judged(tmp_path: Path, end: str) -> None:
    report, _ = execute(write(tmp_path / "script.py", STOP + LATER.replace("STOP", end)))
    assert [found.code for found in report.diagnostics] == ["TS303"]


CRASH = """
def forward(layer, size):
    given = torch.ones(2, size)
    return layer(given)

layer = torch.nn.Linear(5, 3)
for step, size in enumerate((5, 5, 4)):
    if step == 0:
        STOP
    made = forward(layer, size)
"""


@ends
def test_shapes_and_the_place_of_a_crash_are_known(tmp_path: Path, end: str) -> None:
    script = write(tmp_path / "script.py", STOP + CRASH.replace("STOP", end))
    report, _ = execute(script)
    (found,) = report.diagnostics
    assert (found.path, found.code) == (str(script), "TS101")
    seen = {(fact.expression, fact.shape, fact.later) for fact in report.facts}
    assert ("torch.ones(2, size)", (2, 5), (2, 4)) in seen


def test_a_training_before_it_is_judged(tmp_path: Path) -> None:
    text = STOP + LATER.replace("STOP", "pass") + "sys.setprofile(trace)\nlen('')\n"
    report, _ = execute(write(tmp_path / "script.py", text))
    assert [found.code for found in report.diagnostics] == ["TS303"]
    assert report.recorded is not None and report.recorded.interrupted


def test_a_function_that_is_kept_ends_recording_for_good(tmp_path: Path) -> None:
    text = STOP + "from sys import settrace\nsettrace(trace)\nsettrace(None)\n" + LATER.replace("STOP", "pass")
    report, _ = execute(write(tmp_path / "script.py", text))
    assert report.recorded is not None and report.recorded.interrupted and not report.recorded.steps
    assert not report.diagnostics


@pytest.mark.parametrize("name", ["debugger_again", "tracer_kept"])
def test_nobody_sees_that_recording_goes_on(name: str) -> None:
    assert compare(SCRIPTS / f"{name}.py", sys.executable) == []

"""Limits of a run: what the script does less of, and how the report says that it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from torchsleuth.runtime.limits import Limits
from torchsleuth.runtime.session import Run, RunReport

TRAINING = """
import torch
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.ones(100, 3), torch.ones(100, 1))
train, evaluate = DataLoader(data, batch_size=32, shuffle=True), DataLoader(data, 16)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
seen = []
try:
    for epoch in range(1000):
        for x, y in train:
            seen.append(len(x))
            loss = (model(x) - y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            for x, y in evaluate:
                seen.append(-len(x))
                z = model(x)
finally:
    print(seen)
"""


def execute(tmp_path: Path, text: str, limits: Limits | None = None, **options: float) -> tuple[RunReport, str]:
    script = tmp_path / "script.py"
    script.write_text(text)
    output: list[str] = []
    job = Run(str(script), (), sys.executable, on_output=output.append, limits=limits, **options)  # type: ignore[arg-type]
    return job.execute(), "".join(output)


@pytest.mark.parametrize(
    "limits, ended, seen",
    [
        (Limits(max_steps=5), "max-steps", [32, 32, 32, 4, -16, -16, -16, -16, -16, -16, -4, 32]),
        (Limits(smoke=True), "smoke", [2, 2, 2, -2, -2, 2]),
        (Limits(smoke=True, max_steps=1), "smoke", [2, 2]),
    ],
)
def test_a_run_ends_after_so_many_steps(tmp_path: Path, limits: Limits, ended: str, seen: list[int]) -> None:
    report, output = execute(tmp_path, TRAINING, limits)
    assert (report.exit_code, report.ended, output) == (0, ended, f"{seen}\n")
    assert report.training is not None and report.training["change"] > 0
    assert {fact.binding for fact in report.facts} >= {"x", "loss"} and report.to_json()["ended"] == ended


def test_a_run_that_takes_too_long_tells_what_was_seen(tmp_path: Path) -> None:
    """The time is long enough for the import; what follows has no end."""
    text = "import torch\nx = torch.ones(2, 3)\nprint('ready', flush=True)\nwhile True:\n    y = x * 2\n"
    script = tmp_path / "script.py"
    script.write_text(text)
    job = Run(str(script), (), sys.executable, timeout=3600)
    job.on_output = lambda text: job.time_out()  # as if it were over
    report = job.execute()
    assert report.ended == "timeout" and report.cancelled and report.exit_code < 0
    assert "x" in {fact.binding for fact in report.facts}


def test_kinds_that_are_not_recorded(tmp_path: Path) -> None:
    limits = Limits(max_steps=2, without=("shapes", "training"))
    report, _ = execute(tmp_path, TRAINING, limits)
    assert not report.facts and report.training is None and report.ended == "max-steps"


def test_shapes_of_some_steps_only(tmp_path: Path) -> None:
    zeroed = "            optimizer.zero_grad()\n"
    text = TRAINING.replace(zeroed, f"            marked = torch.ones(len(seen))\n{zeroed}")
    report, _ = execute(tmp_path, text, Limits(max_steps=4, every=3))
    (marked,) = (fact for fact in report.facts if fact.binding == "marked")
    assert (marked.shape, marked.later) == ((1,), (4,)), "before the first step, and after the third"


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_device_for_the_script(tmp_path: Path, device: str) -> None:
    text = "import os\nimport torch\nprint(torch.ones(1).device, torch.cuda.is_available(), 'TORCHSLEUTH' in str(os.environ))\n"
    _, output = execute(tmp_path, text, Limits(device=device))
    assert output == f"{device} False False\n"


def test_an_interrupted_run_still_reports(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import torch\nx = torch.ones(2)\nprint('ready', flush=True)\nwhile True:\n    pass\n"
    )
    command = [sys.executable, "-m", "torchsleuth", "run", "--report", "report.json", "script.py"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "server")}
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": tmp_path, "env": environment}
    with subprocess.Popen(command, **given) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        process.communicate()
    text = (tmp_path / "report.json").read_text()
    assert '"ended": "interrupted"' in text and '"binding": "x"' in text

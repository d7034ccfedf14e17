"""Real runs: what the script sees is what plain Python gives it; what we see is where it failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from torchsleuth.repair.rerun import repair
from torchsleuth.runtime.session import Run, RunReport, run

EXAMPLES = Path(__file__).parents[2] / "examples"

MIRROR = '''"""Docstring."""
from __future__ import annotations

import os
import sys

class Private:
    __hidden = len("abc")

    def get(self):
        return self.__hidden

print(__doc__, __name__, os.path.basename(__file__), sys.argv[1:], Private().get(), "TORCHSLEUTH_EVENTS" in os.environ)
print(input().upper(), flush=True)
print("error text", file=sys.stderr)
def deep(n):
    return 1 // n if n == 0 else deep(n - 1)
if sys.argv[1] == "exit":
    sys.exit(7)
deep(2)
'''


def execute(path: Path, *arguments: str) -> tuple[RunReport, str]:
    output: list[str] = []
    report = run(str(path), arguments, interpreter=sys.executable, on_output=output.append)
    return report, "".join(output)


@pytest.mark.parametrize("mode", ["exit", "crash"])
def test_streams_arguments_traceback_and_exit_status_are_those_of_python(tmp_path: Path, mode: str) -> None:
    script = tmp_path / "mirror.py"
    script.write_text(MIRROR)
    plain = subprocess.run([sys.executable, script, mode], input="hello\n", capture_output=True, text=True)
    command = [sys.executable, "-m", "torchsleuth.cli.main", "run", "--report", tmp_path / "r.json", script, mode]
    ours = subprocess.run(command, input="hello\n", capture_output=True, text=True)
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)
    assert ours.stderr.startswith(plain.stderr)


def test_crash_in_a_helper_built_sequential_points_at_the_number(tmp_path: Path) -> None:
    script = tmp_path / "net.py"
    script.write_text(
        "import torch\nfrom torch import nn\n\ndef block(a, b):\n    return nn.Sequential(nn.Linear(a, b), nn.ReLU())\n\n"
        "net = nn.Sequential(block(8, 16), block(10, 4))\nx = torch.randn(3, 8)\ny = net(x)\n"
    )
    report, output = execute(script)
    assert report.exit_code == 1 and "mat1 and mat2" in output
    (found,) = report.diagnostics
    assert (found.code, found.start.line, found.start.column) == ("TS101", 9, 5)
    assert "(3, 16) has 16 features" in found.message
    assert report.crash is not None and report.crash["module"]["path"] == "net.1.0"
    spans = [(fix.edits[0].start.line, fix.edits[0].start.column, fix.edits[0].new_text) for fix in found.fixes]
    assert (7, 41, "16") in spans
    observed = {(fact.binding, fact.shape) for fact in report.facts}
    assert ("x", (3, 8)) in observed


def test_repair_makes_a_copy_train_and_leaves_the_file_alone(tmp_path: Path) -> None:
    script = EXAMPLES / "linear_after_conv.py"
    before = script.read_text()
    said: list[str] = []
    outcome = repair(script, (), tmp_path / "copy", sys.executable, said.append)
    assert outcome.success and len(outcome.repairs) == 1
    assert script.read_text() == before
    assert "nn.Linear(16384, 10)" in (tmp_path / "copy" / script.name).read_text()


def test_cancel_ends_the_whole_group(tmp_path: Path) -> None:
    script = tmp_path / "forever.py"
    script.write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True)\nwhile True:\n    time.sleep(0.05)\n"
    )
    lines: list[str] = []
    session = Run(str(script), (), sys.executable)

    def on_output(text: str) -> None:
        lines.append(text)
        if "".join(lines).endswith("\n"):
            session.cancel()

    session.on_output = on_output
    report = session.execute()
    assert report.cancelled and report.crash is None
    child = int("".join(lines).split()[0])
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().rsplit(") ", 1)[1][0] == "Z"

"""The examples keep their promise: one planted bug each, on a known line; those that crash do so there; fixed, all train."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.check import engine
from torchsleuth.syntax.text import SourceText

EXAMPLES = Path(__file__).parents[2] / "examples"
PLANTED = {
    "conv_channels": ("TS102", "model(images)", "to have 16 channels, but got 32 channels"),
    "device_mismatch": ("TS201", "model(x)", None),
    "good_training": (None, None, None),
    "linear_after_conv": ("TS101", "self.fc(x)", "(64x16384 and 8192x10)"),
    "lstm_without_clipping": ("TS510", "optimizer.step()", None),
    "matmul_shapes": ("TS101", "torch.mm(features, weight)", "(32x512 and 256x10)"),
    "missing_zero_grad": ("TS501", "loss.backward()", None),
    "softmax_cross_entropy": ("TS303", "criterion(model(points), labels)", None),
    "validation_without_no_grad": ("TS506", "model(x)", None),
    "view_size": ("TS104", "x.view(64, 8 * 12 * 12)", "invalid for input of size 36864"),
}
"""Code, marked source, and part of the error with which the script ends on a machine without an accelerator."""


def execute(script: Path) -> subprocess.CompletedProcess[str]:
    environment = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, script], capture_output=True, text=True, env={**os.environ, **environment})


def test_no_example_is_left_out() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(PLANTED)


@pytest.mark.parametrize("name", PLANTED)
def test_example(name: str, tmp_path: Path) -> None:
    code, marked, error = PLANTED[name]
    path = EXAMPLES / f"{name}.py"
    source = SourceText(str(path), path.read_text(encoding="utf-8"))
    found = engine().analyze(str(path), source.text).diagnostics
    assert [(item.code, source.slice(item.start, item.end)) for item in found] == ([(code, marked)] if code else [])

    done = execute(path)
    if error is None:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 1 and error in done.stderr.splitlines()[-1]
        lines = re.findall(rf'File "{re.escape(str(path))}", line (\d+)', done.stderr)
        assert int(lines[-1]) == found[0].start.line

    for number, fix in enumerate(fix for item in found for fix in item.fixes):
        copy = tmp_path / f"fixed_{number}.py"
        copy.write_text(source.apply(fix.edits), encoding="utf-8")
        done = execute(copy)
        assert done.returncode == 0, f"{fix.title}: {done.stderr}"
        assert "nan" not in done.stdout

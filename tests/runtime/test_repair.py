"""The repair loop: a copy is repaired and run until it trains; the user's files stay as they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from torchsleuth.repair.project_copy import ProjectCopy
from torchsleuth.repair.rerun import CopyRefused, repair
from torchsleuth.schema import Position

TWO_FAULTS = """\
from pathlib import Path
import torch
from net import Net

scale = float((Path(__file__).parent / "data" / "scale.txt").read_text())
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = (model(torch.ones(4, 3, 2)) - torch.ones(4)) ** 2 * scale
loss.backward()
optimizer.step()
print("trained")
"""
NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 1)

    def forward(self, x):
        return self.fc(x.flatten(1)).squeeze(1)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "scale.txt").write_text("2.0")
    (folder / "train.py").write_text(TWO_FAULTS)
    (folder / "net.py").write_text(NET)
    return folder


def test_one_error_after_the_other_in_several_files(project: Path, tmp_path: Path) -> None:
    said: list[str] = []
    outcome = repair(project / "train.py", (), tmp_path / "copy", sys.executable, said.append)
    assert outcome.success and outcome.remaining is None and outcome.exit_code == 0
    assert [(item.line, item.path) for item in outcome.repairs] == [
        (10, str(project / "net.py")),
        (9, str(project / "train.py")),
    ]
    fix = outcome.repairs[0].verified
    assert fix.verified and fix.edits[0].path == str(project / "net.py") and fix.edits[0].start == Position(7, 29)
    assert (project / "train.py").read_text() == TWO_FAULTS and (project / "net.py").read_text() == NET
    assert "nn.Linear(6, 1)" in (tmp_path / "copy" / "net.py").read_text()
    assert "loss.mean().backward()" in (tmp_path / "copy" / "train.py").read_text()
    assert outcome.modified == (str(tmp_path / "copy" / "net.py"), str(tmp_path / "copy" / "train.py"))
    assert (tmp_path / "copy" / "data").is_symlink(), "data is not copied"
    assert [line.split("]")[0] for line in said if line.startswith("[")] == [
        "[RUN",
        "[ERROR",
        "[FIXED",
        "[ERROR",
        "[FIXED",
    ]
    assert said[-1] == "trained"


def test_a_script_that_ends_without_moving_a_parameter_is_no_success(tmp_path: Path) -> None:
    script = tmp_path / "still.py"
    script.write_text(
        "import torch\nw = torch.ones(3, requires_grad=True)\noptimizer = torch.optim.SGD([w], lr=0.1)\n"
        "loss = torch.tensor(1.0)\nloss.requires_grad_()\nloss.backward()\noptimizer.step()\n"
    )
    said: list[str] = []
    outcome = repair(script, (), tmp_path / "copy", sys.executable, said.append)
    assert not outcome.success and outcome.exit_code == 0 and outcome.repairs == ()
    assert said[-1].startswith("[UNSOUND]")


def test_an_error_without_a_fix_remains(tmp_path: Path) -> None:
    script = tmp_path / "stuck.py"
    script.write_text("raise SystemError('nothing to be done')\n")
    outcome = repair(script, (), tmp_path / "copy", sys.executable, lambda line: None)
    assert not outcome.success and outcome.exit_code == 1
    assert outcome.remaining is not None and outcome.remaining.path == str(script)


def test_a_folder_with_something_else_in_it_is_not_touched(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious.txt").write_text("1")
    copy = ProjectCopy(project, other)
    with pytest.raises(CopyRefused):
        copy.create([project / "train.py"])
    with pytest.raises(CopyRefused):
        ProjectCopy(project, project).create([project / "train.py"])
    assert (other / "precious.txt").read_text() == "1"


def test_a_copy_inside_the_project_is_made_afresh(project: Path) -> None:
    for _ in range(2):
        copy = ProjectCopy(project, project / "fixed")
        copy.create([project / "train.py"])
        assert (project / "fixed" / "train.py").read_text() == TWO_FAULTS
        assert not (project / "fixed" / "train.py").is_symlink() and (project / "fixed" / "net.py").is_symlink()
        assert not (project / "fixed" / "fixed").exists()
    own = copy.make_own(copy.of(project / "data" / "scale.txt"))
    own.write_text("3.0")
    assert (project / "data" / "scale.txt").read_text() == "2.0"


def test_a_fix_that_only_moves_the_error_is_taken_back(tmp_path: Path) -> None:
    """Whatever is done to the batch of 12 rows, the loss then does not fit, and nothing repairs that."""
    script = tmp_path / "moved.py"
    text = (
        "import sys\nimport torch\nfrom torch import nn\nrows = int(sys.argv[1])\nnet = nn.Linear(8, 3)\n"
        "x, y = torch.ones(rows, 4), torch.zeros(int(sys.argv[2]), dtype=torch.long)\nout = net(x.view(-1, 8))\n"
        "loss = nn.functional.cross_entropy(net(x), y)\nloss.backward()\n"
    )
    script.write_text(text)
    outcome = repair(script, ("12", "5"), tmp_path / "copy", sys.executable, lambda line: None)
    assert not outcome.success and outcome.repairs == () and outcome.modified == ()
    assert (tmp_path / "copy" / "moved.py").read_text() == text


def test_a_traceback_on_the_way_is_no_success(tmp_path: Path) -> None:
    script = tmp_path / "thread.py"
    script.write_text(
        "import threading\nimport torch\nthread = threading.Thread(target=lambda: torch.ones(len('ab')) + torch.ones(len('abc')))\n"
        "thread.start()\nthread.join()\n"
    )
    outcome = repair(script, (), tmp_path / "copy", sys.executable, lambda line: None)
    assert not outcome.success and outcome.exit_code == 0 and outcome.remaining is not None

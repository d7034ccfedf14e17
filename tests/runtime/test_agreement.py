"""A crash and the analysis of its script: one answer, in which what was measured is never contradicted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.check import engine
from tests.runtime.inprocess import execute
from torchsleuth.errors.agreement import explained
from torchsleuth.runtime.report import RunReport
from torchsleuth.schema import Diagnostic, Position
from torchsleuth.training import Training


def both(path: Path, text: str) -> tuple[Diagnostic, Diagnostic]:
    """The crash of a script, alone and explained."""
    crash = execute(path, text).diagnostic
    return crash, explained(crash, engine().analyze(str(path), text).diagnostics)


def test_the_trail_and_the_verified_fixes_of_the_analysis_are_in_front(tmp_path: Path) -> None:
    text = (
        "import torch\nfrom torch import nn\n\ndef loss_of(out):\n    with torch.no_grad():\n        return out.sum()\n\n"
        "net = nn.Linear(3, 2)\nloss = loss_of(net(torch.ones(4, 3)))\nloss.backward()\n"
    )
    crash, found = both(tmp_path / "script.py", text)
    assert (found.code, found.start, found.end, found.layer) == (crash.code, crash.start, crash.end, "run")
    assert 5 in {related.start.line for related in found.related}, "the no_grad that cut the graph"
    assert found.fixes[0].verified and not crash.fixes


def test_a_cause_at_another_place_is_a_note(tmp_path: Path) -> None:
    text = (
        "import torch\nfrom torch import nn\n\nnet = nn.Linear(3, 3)\nh = torch.sigmoid(net(torch.ones(4, 3)))\n"
        "y = h.sum()\nh *= 2\ny.backward()\nh.sum().backward()\n"
    )
    crash, found = both(tmp_path / "script.py", text)
    assert (found.code, found.start.line) == ("TS403", crash.start.line)
    assert 7 in {related.start.line for related in found.related}


def test_nothing_is_taken_from_an_analysis_that_supposes_other_sizes(tmp_path: Path) -> None:
    crash = execute(tmp_path / "script.py", "import torch\nx = torch.zeros(2, 3)\nx.view(7)\n").diagnostic
    other = engine().analyze(crash.path, "import torch\nx = torch.zeros(2, 5)\nx.view(7)\n").diagnostics
    assert [item.code for item in other] == [crash.code]
    assert explained(crash, other) == crash


def test_the_name_of_the_analysis_replaces_a_generic_one(tmp_path: Path) -> None:
    text = (
        "import torch\nnet = torch.nn.Linear(2, 2)\np = net.parameters()\n"
        "n = sum(q.numel() for q in p)\ntorch.optim.SGD(p, lr=0.1)\n"
    )
    crash, found = both(tmp_path / "script.py", text)
    assert found.code == "TS529" and 4 in {related.start.line for related in found.related}


def test_labels_are_not_doubted_where_another_fault_is_known() -> None:
    def said(code: str, line: int, layer: str) -> Diagnostic:
        at = Position(line, 1)
        return Diagnostic("train.py", code, "fault", "warning", "text", at, Position(line, 9), layer=layer)  # type: ignore[arg-type]

    doubts = (said("TS933", 9, "run"), said("TS935", 4, "run"))
    report = RunReport("train.py", 0, False, None, doubts, (), 2.5, ("train.py",), recorded=Training(steps=64))
    for known, expected in (("TS121", ["TS935", "TS121"]), ("TS701", ["TS933", "TS935", "TS701"])):
        assert [one.code for one in report.with_text([said(known, 3, "static")]).diagnostics] == expected


def test_the_file_that_all_began_in_is_analysed_where_the_script_is_a_module(tmp_path: Path) -> None:
    crashed = execute(tmp_path / "layers.py", "import torch\ntorch.ones(4, 5) @ torch.ones(4, 5)\n").report()
    assert crashed.crash is not None
    frames = [*crashed.crash["frames"], {**crashed.crash["frames"][-1], "path": str(tmp_path / "train.py")}]
    report = replace(crashed, script="package.train", crash={**crashed.crash, "frames": frames})
    assert [Path(path).name for path in report.analysed_files] == ["layers.py", "train.py", "package.train"]

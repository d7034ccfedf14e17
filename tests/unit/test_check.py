"""``torchsleuth check`` with configuration, comments, repairs, baselines and formats, as a user starts it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_cli import torchsleuth

OLD = """import torch
from functorch import vmap


def norms(x):
    return torch.norm(x, p=2, dim=1), torch.range(0, 9), vmap(torch.sum)(x)


q, r = torch.qr(torch.eye(3))
"""
MODEL = """import torch
from torch import nn

fc = nn.Linear(8192, 10)
fc(torch.randn(64, 16384))
"""


def codes(done: subprocess.CompletedProcess[str]) -> list[tuple[str, str, int]]:
    """Path, code and line of each finding, of the format `concise`."""
    found = (re.match(r"(.+?):(\d+):\d+: (TS\d+) ", line) for line in done.stdout.splitlines())
    return [(match[1], match[3], int(match[2])) for match in found if match is not None]


def check(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return torchsleuth("check", ".", "--output-format", "concise", *arguments, cwd=folder)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_old.py").write_text(OLD)
    return tmp_path


def test_the_file_the_flags_and_the_comments_decide(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.torchsleuth]\nextend-select = ["TS001"]\nignore = ["TS1"]\nper-file-ignores = {"tests/*" = ["TS8"]}\n'
    )
    (project / "model.py").write_text(MODEL + "y = torch.ones(2)  # torchsleuth: ignore[TS802]\n")
    (project / "old.py").write_text(OLD.replace("torch.eye(3))", "torch.eye(3))  # noqa: TS802"))
    expected = [("model.py", "TS001", 6), ("old.py", "TS802", 2), ("old.py", "TS802", 6), ("old.py", "TS802", 6)]
    done = check(project)
    assert (done.returncode, codes(done)) == (1, [*expected, ("old.py", "TS802", 6)])
    done = check(project, "--extend-select", "TS101", "--ignore", "TS802,TS001", "--exclude", "tests")
    assert codes(done) == [("model.py", "TS101", 5)]
    assert codes(check(project, "--isolated", "--select", "TS101")) == [("model.py", "TS101", 5)]
    done = check(project, "--select", "TS1x")
    assert (done.returncode, done.stdout) == (2, "") and "TS1x" in done.stderr


def test_safe_fixes_are_written_and_unsafe_ones_on_demand(project: Path) -> None:
    diff = torchsleuth("check", "old.py", "model.py", "--diff", cwd=project)
    assert diff.returncode == 1 and "-q, r = torch.qr(torch.eye(3))\n+q, r = torch.linalg.qr(" in diff.stdout
    assert (project / "old.py").read_text() == OLD and (project / "model.py").read_text() == MODEL
    done = torchsleuth("check", "old.py", "model.py", "--fix", "--output-format", "concise", cwd=project)
    assert (done.returncode, codes(done)) == (1, [("old.py", "TS802", 6)])
    assert "old.py:9: TS802 fixed: " in done.stderr and "model.py:5: TS101 fixed: " in done.stderr
    safe = OLD.replace("from functorch", "from torch.func").replace("torch.qr", "torch.linalg.qr")
    safe = safe.replace("torch.norm(x, p=2", "torch.linalg.vector_norm(x, ord=2")
    assert (project / "old.py").read_text() == safe
    assert (project / "model.py").read_text() == MODEL.replace("8192", "16384")
    patched = subprocess.run(["git", "apply", "--check", "-R", "-"], input=diff.stdout, text=True, cwd=project)
    assert patched.returncode == 0
    done = torchsleuth("check", "old.py", "--fix", "--unsafe-fixes", cwd=project)
    assert (done.returncode, (project / "old.py").read_text()) == (0, safe.replace("range(0, 9)", "arange(0, 10)"))


def test_a_baseline_hides_what_was_there(project: Path) -> None:
    done = torchsleuth("check", ".", "--write-baseline", "known.json", cwd=project)
    assert done.returncode == 0 and "known.json" in done.stdout
    (project / "model.py").write_text("# moved\n\n" + MODEL + "torch.mm(torch.ones(2, 3), torch.ones(4, 5))\n")
    done = check(project, "--baseline", "known.json")
    assert (done.returncode, codes(done)) == (1, [("model.py", "TS101", 8)])
    before = (project / "old.py").read_text()
    check(project, "--baseline", "known.json", "--fix")
    assert (project / "old.py").read_text() == before, "what is known is left alone"


def test_a_fix_of_another_file_is_made_once_and_both_are_analysed_again(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = nn.Linear(8, 2)\n\n    def forward(self, x):\n        return self.fc(x)\n"
    )
    (tmp_path / "train.py").write_text("import torch\nfrom net import Net\n\nNet()(torch.randn(4, 16))\n")
    done = check(tmp_path, "--fix")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nn.Linear(16, 2)" in (tmp_path / "net.py").read_text()


def test_line_ends_and_encodings_survive_a_fix(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\r\nimport torch\r\n# é\x0c\r\nq, r = torch.qr(\r\n    torch.eye(3),\r\n)\r\n"
    (tmp_path / "a.py").write_bytes(text.encode("latin-1"))
    assert check(tmp_path, "--fix").returncode == 0
    fixed = text.replace("torch.qr(\r\n    torch.eye(3),\r\n)", "torch.linalg.qr(torch.eye(3))")
    assert (tmp_path / "a.py").read_bytes() == fixed.encode("latin-1")


def test_github_reads_annotations(project: Path) -> None:
    done = torchsleuth("check", "model.py", "--output-format", "github", cwd=project)
    (line,) = done.stdout.splitlines()
    head = "::error file=model.py,line=5,endLine=5,col=1,endColumn=26,title=TS101 matmul-shape-mismatch::"
    assert line.startswith(head) and "%0A" not in line


def test_sarif_is_what_the_schema_asks_for(project: Path) -> None:
    done = torchsleuth("check", ".", "--output-format", "sarif", cwd=project)
    log = json.loads(done.stdout)
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TS101", "TS802"]
    assert all(rule["shortDescription"]["text"] for rule in rules)
    assert len(run["results"]) == 11
    for result in run["results"]:
        _check_result(result, rules)
    fixes = [fix for result in run["results"] for fix in result.get("fixes", ())]
    (replacement, *_) = fixes[0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"] == {"text": "16384"}
    assert replacement["deletedRegion"] == {"startLine": 4, "startColumn": 16, "endLine": 4, "endColumn": 20}


def _check_result(result: dict[str, Any], rules: list[dict[str, Any]]) -> None:
    """The properties that SARIF 2.1.0 requires of a result, and the ranges of their values."""
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
    allowed = {"ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations", "fixes"}
    assert result.keys() <= allowed and len(result["locations"]) == 1
    for location in (*result["locations"], *result.get("relatedLocations", ())):
        place = location["physicalLocation"]
        assert not place["artifactLocation"]["uri"].startswith("/") and "\\" not in place["artifactLocation"]["uri"]
        region = place["region"]
        assert 1 <= region["startLine"] <= region["endLine"] and min(region["startColumn"], region["endColumn"]) >= 1
    related = [location["id"] for location in result.get("relatedLocations", ())]
    assert len(related) == len(set(related))
    for fix in result.get("fixes", ()):
        assert fix["artifactChanges"] and all(change["replacements"] for change in fix["artifactChanges"])
        assert all("deletedRegion" in item for change in fix["artifactChanges"] for item in change["replacements"])

"""The command line as a user starts it: formats, exit statuses, bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
BROKEN = "import torch\ntorch.mm(torch.ones(2, 3), torch.ones(4, 5))\n"


def torchsleuth(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchsleuth", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, encoding="utf-8")


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter without torch."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def test_json_is_the_machine_interface() -> None:
    done = torchsleuth("check", "linear_after_conv.py", "--output-format", "json", cwd=EXAMPLES)
    assert (done.returncode, done.stderr) == (1, "")
    (item,) = json.loads(done.stdout)
    assert item["path"] == "linear_after_conv.py"
    assert (item["code"], item["name"], item["severity"]) == ("TS101", "matmul-shape-mismatch", "error")
    assert (item["start"], item["end"]) == ({"line": 17, "column": 16}, {"line": 17, "column": 26})
    assert {"path", "line", "column", "message"} <= item["related"][0].keys()
    assert item["related"][0]["line"] == 12
    fix = item["fixes"][0]
    assert (fix["safe"], fix["verified"]) == (True, True)
    expected = {"line": 12, "column": 29}, {"line": 12, "column": 33}, "16384", "linear_after_conv.py"
    (edit,) = fix["edits"]
    assert (edit["start"], edit["end"], edit["new_text"], edit["path"]) == expected


def test_text_shows_source_carets_where_sizes_came_from_and_the_fix() -> None:
    done = torchsleuth("check", "linear_after_conv.py", cwd=EXAMPLES)
    assert "error[TS101] matmul-shape-mismatch: " in done.stdout
    assert "  --> linear_after_conv.py:17:16\n" in done.stdout
    assert "return self.fc(x)\n" + " " * 23 + "^^^^^^^^^^\n" in done.stdout
    assert "by flatten of (64, 16, 32, 32)  (linear_after_conv.py:16)\n" in done.stdout
    assert "-         self.fc = nn.Linear(8192, 10)\n" in done.stdout
    assert "+         self.fc = nn.Linear(16384, 10)\n" in done.stdout
    assert "\x1b" not in done.stdout, "colours only on a terminal"


def test_concise_is_a_line_for_each_finding() -> None:
    done = torchsleuth("check", "linear_after_conv.py", "matmul_shapes.py", "--output-format", "concise", cwd=EXAMPLES)
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["linear_after_conv.py:17:16:", "TS101"],
        ["matmul_shapes.py:21:18:", "TS101"],
    ]


def test_nothing_found_is_status_0_and_an_empty_array() -> None:
    assert torchsleuth("check", EXAMPLES / "good_training.py").returncode == 0
    done = torchsleuth("check", EXAMPLES / "good_training.py", "--output-format", "json")
    assert (done.returncode, json.loads(done.stdout)) == (0, [])


def test_folders_are_searched_but_not_hidden_built_and_installed_ones(tmp_path: Path) -> None:
    for folder in ("a/deep", ".hidden", "node_modules", "build", "env/lib"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "broken.py").write_text(BROKEN)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "notes.txt").write_text(BROKEN)
    done = torchsleuth("check", ".", "a/deep/broken.py", "--output-format", "concise", cwd=tmp_path)
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == [str(Path("a/deep/broken.py"))]


def test_a_finding_in_an_imported_file_is_shown_once_with_a_relative_path(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = nn.Linear(8, 2)\n\n    def forward(self, x):\n        return self.fc(x)\n"
    )
    (tmp_path / "train.py").write_text("import torch\nfrom net import Net\n\nNet()(torch.randn(4, 16))\n")
    done = torchsleuth("check", ".", "--output-format", "json", cwd=tmp_path)
    (item,) = json.loads(done.stdout)
    assert (item["path"], item["start"]["line"]) == ("net.py", 10)
    assert {edit["path"] for fix in item["fixes"] for edit in fix["edits"]} == {"net.py"}
    assert {related["path"] for related in item["related"]} == {"net.py", "train.py"}


def test_bad_files_are_named_and_the_others_are_still_checked(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "bytes.py").write_bytes(b"x = '\xff\xfe'\n")
    (tmp_path / "cookie.py").write_bytes(b"# -*- coding: klingon -*-\n")
    (tmp_path / "half.py").write_text("x = 1\ndef half(:\n")
    (tmp_path / "null.py").write_bytes(b"x = 1\0\n")
    files = ["broken.py", "bytes.py", "cookie.py", "half.py", "null.py", "none.py"]
    done = torchsleuth("check", *files, "--output-format", "concise", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout.startswith("broken.py:2:1: TS101")
    lines = done.stderr.splitlines()
    assert [line.split()[1].partition(":")[0] for line in lines] == files[1:]
    assert "cannot be decoded" in lines[0] and "klingon" in lines[1]
    assert lines[2].startswith("torchsleuth: half.py:2: not Python")
    assert lines[3].startswith("torchsleuth: null.py:1: not Python")
    assert lines[4] == "torchsleuth: none.py does not exist"


def test_other_encodings_are_read_as_python_reads_them(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\nimport torch\né = torch.ones(2, 3); 'é', torch.mm(é, é)\n"
    (tmp_path / "latin.py").write_bytes(text.encode("latin-1"))
    (tmp_path / "mark.py").write_bytes(b"\xef\xbb\xbf" + BROKEN.encode())
    done = torchsleuth("check", ".", "--output-format", "json", cwd=tmp_path)
    places = {(item["path"], item["start"]["line"], item["start"]["column"]) for item in json.loads(done.stdout)}
    assert places == {("latin.py", 3, 28), ("mark.py", 2, 1)}


def test_an_interpreter_that_cannot_do_the_work_is_status_2(bare_python: Path, tmp_path: Path) -> None:
    for path in (EXAMPLES / "good_training.py", tmp_path):
        done = torchsleuth("check", path, "--python", bare_python, "--output-format", "json")
        assert (done.returncode, done.stdout) == (2, "")
        assert "PyTorch is not installed" in done.stderr and str(bare_python) in done.stderr
        assert len(done.stderr.splitlines()) == 1
    missing = torchsleuth("check", EXAMPLES, "--python", "/nonexistent/python")
    assert missing.returncode == 2 and "/nonexistent/python" in missing.stderr
    assert torchsleuth("check").returncode == 2
    assert torchsleuth("check", EXAMPLES, "--output-format", "xml").returncode == 2


def test_hints_say_what_is_known() -> None:
    done = torchsleuth("hints", "linear_after_conv.py", "--output-format", "json", cwd=EXAMPLES)
    facts = json.loads(done.stdout)
    assert any(item["binding"] == "x" and item["shape"] == [64, 16384] for item in facts)
    text = torchsleuth("hints", "linear_after_conv.py", cwd=EXAMPLES)
    assert (
        text.returncode == 0
        and "linear_after_conv.py:22:14: torch.randn(256, 3, 32, 32): [256, 3, 32, 32] float32" in (text.stdout)
    )
    assert torchsleuth("hints", EXAMPLES).returncode == 2
    assert torchsleuth("hints", "none.py").stderr == "torchsleuth: none.py does not exist\n"


def test_rule_explains_rules_and_errors_of_runs() -> None:
    assert "matmul-shape-mismatch" in torchsleuth("rule", "ts101").stdout
    assert torchsleuth("rule", "TS405").stdout.startswith("TS405 backward-twice")
    unknown = torchsleuth("rule", "TS000")
    assert unknown.returncode == 2 and "TS101" in unknown.stderr


def test_env_describes_the_interpreter_that_is_asked(bare_python: Path) -> None:
    done = torchsleuth("env", "--output-format", "json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and Path(found["executable"]) == Path(sys.executable)
    assert found["smoke_test"] == ("ok on cuda" if found["cuda_available"] else "ok on cpu")
    assert found["packages"]["torch"] == found["torch"]
    without = torchsleuth("env", "--python", bare_python)
    assert without.returncode == 2 and "PyTorch cannot be imported" in without.stderr
    assert without.stdout.startswith("python: ")
    no_python = torchsleuth("env", "--python", "/bin/false")
    assert no_python.returncode == 2 and "/bin/false did not say" in no_python.stderr


def test_run_leaves_the_streams_to_the_script_and_passes_its_status_on(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint('out', *sys.argv[1:])\nprint('err', file=sys.stderr)\nsys.exit(7)\n")
    done = torchsleuth("run", script, "--report", "mine", "-v")
    assert (done.returncode, done.stdout, done.stderr) == (7, "out --report mine -v\n", "err\n")


def test_run_maps_a_crash_and_writes_the_report(tmp_path: Path) -> None:
    report, page = tmp_path / "report.json", tmp_path / "report.html"
    done = torchsleuth("run", "--report", report, "--report", page, "linear_after_conv.py", cwd=EXAMPLES)
    assert page.read_text().startswith("<!doctype html>")
    assert done.returncode == 1
    assert "  --> linear_after_conv.py:17:16\n" in done.stderr
    assert "+         self.fc = nn.Linear(16384, 10)\n" in done.stderr
    found = json.loads(report.read_text())
    assert found["exit_code"] == 1 and found["diagnostics"][0]["code"] == "TS101"
    done = torchsleuth("run", "--output-format", "json", "linear_after_conv.py", cwd=EXAMPLES)
    (item,) = json.loads(done.stderr[done.stderr.index("\n[\n") :])
    assert (item["path"], item["layer"], item["start"]) == ("linear_after_conv.py", "run", {"line": 17, "column": 16})


TRAINED = """
import torch
from torch import nn

model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    x = torch.randn(6, 4)
    {clear}
    scores = model(x)
    loss = nn.functional.cross_entropy(scores, x[:, :3].argmax(1))
    loss.backward()
    optimizer.step()
    likely = scores.detach().softmax(0).argmax(1){comment}
    if step > 100:
        wrong = scores.detach().softmax(0).argmax(1)
"""


def test_run_tells_of_a_training_what_the_text_shows_too_each_thing_once(tmp_path: Path) -> None:
    def told(**parts: str) -> list[tuple[str, int, str]]:
        (tmp_path / "train.py").write_text(TRAINED.format(**parts))
        torchsleuth("run", "--report", "report.json", "train.py", cwd=tmp_path)
        found = json.loads((tmp_path / "report.json").read_text())["diagnostics"]
        return [(item["code"], item["start"]["line"], item["layer"]) for item in found]

    of_text = ("TS308", 14, "static")
    assert told(clear="optimizer.zero_grad()", comment="") == [of_text]
    assert told(clear="pass", comment="") == [("TS501", 12, "run"), of_text]
    assert told(clear="optimizer.zero_grad()", comment="  # torchsleuth: ignore[TS308]") == []


def test_run_of_nothing_is_status_2(tmp_path: Path) -> None:
    assert torchsleuth("run", "none.py", cwd=tmp_path).stderr == "torchsleuth: none.py does not exist\n"
    assert torchsleuth("run", tmp_path).returncode == 2
    no_python = torchsleuth("run", "--python", "/nonexistent/python", EXAMPLES / "matmul_shapes.py")
    assert no_python.returncode == 2 and "cannot be started" in no_python.stderr
    unwritable = torchsleuth("run", "--report", tmp_path / "no" / "r.json", EXAMPLES / "good_training.py")
    assert unwritable.returncode == 2 and "cannot be written" in unwritable.stderr


def test_fix_repairs_a_copy_and_leaves_the_original_alone(tmp_path: Path) -> None:
    script = tmp_path / "project" / "train.py"
    script.parent.mkdir()
    text = (EXAMPLES / "linear_after_conv.py").read_text()
    script.write_text(text)
    done = torchsleuth("fix", "--copy", "copy", script, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "[FIXED] project/train.py:17" in done.stdout and "epoch 1: loss" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Status: SUCCESS | Errors Fixed: 1 | Files Modified: ")
    assert script.read_text() == text
    assert (tmp_path / "copy" / "train.py").read_text() == text.replace("8192", "16384")


@pytest.mark.parametrize("command", ["contract", "estimate", "hints"])
def test_a_file_that_is_not_python_is_said(tmp_path: Path, command: str) -> None:
    (tmp_path / "broken.py").write_text("import torch\ndef f(:\n    x\n")
    done = torchsleuth(command, str(tmp_path / "broken.py"))
    assert done.returncode == 2 and "broken.py:2: not Python" in done.stderr


def test_nothing_that_has_a_contract(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n")
    done = torchsleuth("contract", str(tmp_path))
    assert done.returncode == 0 and "no module with a forward" in done.stderr

"""The command line: formats, exit statuses, bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def torchsleuth(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchsleuth.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


def test_json_is_the_machine_interface() -> None:
    done = torchsleuth("check", "linear_after_conv.py", "--output-format", "json", cwd=EXAMPLES)
    assert done.returncode == 1
    (item,) = json.loads(done.stdout)
    assert item["path"] == "linear_after_conv.py" and item["code"] == "TS101"
    assert (item["start"], item["end"]) == ({"line": 17, "column": 16}, {"line": 17, "column": 26})
    assert item["related"][0]["line"] == 12
    assert item["fixes"][0]["verified"] is True and item["fixes"][0]["edits"][0]["new_text"] == "16384"


def test_text_shows_source_carets_and_fix() -> None:
    done = torchsleuth("check", "linear_after_conv.py", cwd=EXAMPLES)
    assert "return self.fc(x)\n" + " " * 23 + "^^^^^^^^^^\n" in done.stdout
    assert "+         self.fc = nn.Linear(16384, 10)" in done.stdout


def test_exit_statuses_and_bad_input(tmp_path: Path) -> None:
    assert torchsleuth("check", EXAMPLES / "good_training.py").returncode == 0
    missing = torchsleuth("check", tmp_path / "none.py")
    assert missing.returncode == 2 and "does not exist" in missing.stderr
    (tmp_path / "latin.py").write_bytes("# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"))
    assert torchsleuth("check", tmp_path).returncode == 0
    (tmp_path / "bad.py").write_bytes(b"x = '\xff\xfe'\n")
    bad = torchsleuth("check", tmp_path)
    assert bad.returncode == 2 and "bad.py" in bad.stderr and "decode" in bad.stderr
    broken = torchsleuth("check", EXAMPLES, "--python", "/nonexistent/python")
    assert broken.returncode == 2 and "/nonexistent/python" in broken.stderr


def test_hints_and_rule() -> None:
    done = torchsleuth("hints", "linear_after_conv.py", "--output-format", "json", cwd=EXAMPLES)
    facts = json.loads(done.stdout)
    assert any(item["binding"] == "x" and item["shape"] == [64, 16384] for item in facts)
    assert "matmul-shape-mismatch" in torchsleuth("rule", "ts101").stdout
    assert torchsleuth("rule", "TS000").returncode == 2


def test_a_worker_without_torch_says_so(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    done = torchsleuth("check", EXAMPLES, "--python", tmp_path / "bare" / "bin" / "python")
    assert done.returncode == 2 and "PyTorch is not installed" in done.stderr

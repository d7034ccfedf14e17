"""A report is its owner's alone, and holds nothing of the environment that the script was given."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from torchsleuth.runtime.secrets import Secrets

TOKEN = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-ZyXwVuTs"
ENVIRONMENT = {
    "HF_TOKEN": TOKEN,
    "DB_PASSWORD": "hunter2",
    "PRIVATE_KEY": "-----BEGIN KEY-----\nMIIEow'IBAAKCAQEA\n\"7bq\\dG\n-----END KEY-----",
    "DB_URL": "postgres://ada:pass%20word@db.internal/prod",
    "STRANGE": "schlüssel-名-\udcff",
    "GPU": "q7",
}
SCRIPT = """
import os, sys, torch
from torch import nn

os.environ["DOTENV"] = "loaded-by-the-script"

class Config:
    token = os.environ["HF_TOKEN"]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
        self.name = os.environ["HF_TOKEN"]
        self.path = os.environ["DB_PASSWORD"]
        self.device = os.environ["DB_URL"]
        self.late = os.environ["DOTENV"]

    def forward(self, x, header):
        token, password, gpu = os.environ.pop("HF_TOKEN"), self.path, os.environ["GPU"]
        parts = [token, token[3:40], password, header, os.environ["PRIVATE_KEY"]]
        return check(self.fc(x), parts, password, gpu, Config.token, self.device.split("@")[0])

def check(x, parts, password, gpu, token, address):
    print("output")
    raise ValueError(f"{parts!r} {password} ({address}) {os.environ['STRANGE']!a} {os.environ['DOTENV']} at 0x10" + gpu)

Net()(torch.ones(2, 8), "Bearer " + os.environ["HF_TOKEN"])
"""


def report_of(folder: Path, script: str) -> tuple[str, Any]:
    (folder / "train.py").write_text(script)
    command = [sys.executable, "-m", "torchsleuth", "run", "--report", "report.json", "train.py"]
    done = subprocess.run(command, capture_output=True, cwd=folder, env={**os.environ, **ENVIRONMENT})
    assert done.returncode == 1, done.stderr
    text = (folder / "report.json").read_text()
    return text, json.loads(text)


@pytest.mark.skipif(sys.platform == "win32", reason="bytes in an environment are POSIX's")
def test_no_value_of_the_environment_is_in_the_report(tmp_path: Path) -> None:
    text, report = report_of(tmp_path, SCRIPT)
    pieces = [value[start : start + 8] for value in ENVIRONMENT.values() for start in range(len(value) - 7)]
    strings = list(strings_of(report))
    assert not [piece for piece in pieces for item in strings if piece in item]
    for secret in ("hunter2", "loaded-by", "pass%20word", "MIIEow", TOKEN[3:11]):
        assert secret not in text
    assert "<value of $HF_TOKEN>" in text and "<value of $DB_PASSWORD>" in text
    # The rest of it is there.
    assert report["crash"]["type"] == "ValueError" and "at 0x10" in report["crash"]["message"]
    assert report["script"] == str(tmp_path / "train.py") and report["loaded"] == [report["script"]]
    assert [frame["function"] for frame in report["crash"]["frames"]] == ["check", "forward", "<module>"]
    assert report["diagnostics"][0]["path"] == report["script"] and report["facts"]
    assert "environment" not in report and "environment" not in report["crash"]
    values = [item["value"] for frame in report["crash"]["frames"] for item in frame["operands"]]
    assert {"kind": "value", "type": "str", "value": "<value of $GPU>"} in values
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / "report.json").stat().st_mode) == 0o600


def test_values_of_a_failing_module_are_hidden_too(tmp_path: Path) -> None:
    script = SCRIPT.replace("self.fc(x)", "self.fc(x.T)")
    text, report = report_of(tmp_path, script)
    assert report["diagnostics"][0]["code"] == "TS101"
    assert "hunter2" not in text and TOKEN[:8] not in text and "postgres" not in text


def strings_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings_of(item)]
    if isinstance(value, list):
        return [text for item in value for text in strings_of(item)]
    return [value] if isinstance(value, str) else []


def test_what_is_hidden_and_what_is_not() -> None:
    secrets = Secrets([*ENVIRONMENT.items(), ("HOME", "/home/ada/long"), ("MODE", "train"), ("EMPTY", " ")])
    hidden = secrets.hidden
    assert hidden(f"a {TOKEN} b") == "a <value of $HF_TOKEN> b"
    assert hidden(f"{TOKEN[10:18]}!") == "<value of $HF_TOKEN>!"
    assert hidden("user hunter2: no") == "user <value of $DB_PASSWORD>: no"
    assert hidden("hunter22 and training") == "hunter22 and training"  # other words
    assert hidden("q7") == "<value of $GPU>" and hidden("size q7 at dimension 0") == "size q7 at dimension 0"
    assert hidden("/home/ada/long/x.py") == "/home/ada/long/x.py"
    assert hidden(repr(ENVIRONMENT["PRIVATE_KEY"])).count("KEY") <= 2
    assert hidden("") == "" and hidden("nothing of it, in a longer text") == "nothing of it, in a longer text"
    both = secrets.hidden(TOKEN + ENVIRONMENT["DB_URL"])
    assert both.startswith("<value of $HF_TOKEN>") and "ada" not in both
    kept = {"path": TOKEN, "attributes": {"path": TOKEN, "size": 3}, "value": [TOKEN, None, 1.5, True]}
    assert secrets.without(kept) == {
        "path": TOKEN,
        "attributes": {"path": "<value of $HF_TOKEN>", "size": 3},
        "value": ["<value of $HF_TOKEN>", None, 1.5, True],
    }


def test_the_number_that_an_edit_writes_is_not_taken_for_a_variable() -> None:
    """``BUILD_COUNT=0`` would leave ``x.sum(<value of $BUILD_COUNT>)`` of a repair."""
    secrets = Secrets([*ENVIRONMENT.items(), ("BUILD_COUNT", "0"), ("VERBOSE", "False")])
    edits = [{"new_text": "0"}, {"new_text": "False"}, {"new_text": TOKEN}, {"value": "0"}]
    assert [*map(secrets.without, edits)] == [
        *edits[:2],
        {"new_text": "<value of $HF_TOKEN>"},
        {"value": "<value of $BUILD_COUNT>"},
    ]

"""Configuration files beside a script are read as data, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check import PATIENT
from torchsleuth.syntax import plain_yaml
from torchsleuth.worker.engine import Engine


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(times=PATIENT)


def codes(engine: Engine, folder: Path, text: str) -> list[str]:
    main = folder / "train.py"
    main.write_text(text, encoding="utf-8")
    return [one.code for one in engine.analyze(str(main), text, roots=(str(folder),)).diagnostics]


READERS = {
    "open": ("json", 'import json\nwith open("config.json") as f:\n    config = json.load(f)\n'),
    "path": (
        "json",
        "import json\nfrom pathlib import Path\n"
        'config = json.loads((Path(__file__).resolve().parent / "config.json").read_text())\n',
    ),
    "yaml": (
        "yaml",
        "import os\nimport yaml\nhere = os.path.dirname(os.path.abspath(__file__))\n"
        'with open(os.path.join(here, "config.yaml"), "r") as stream:\n    config = yaml.safe_load(stream)\n',
    ),
    "loader": ("yaml", 'import yaml\nconfig = yaml.load(open("config.yaml"), Loader=yaml.FullLoader)\n'),
    "text": ("json", 'import json\nwith open("config.json") as f:\n    config = json.loads(f.read())\n'),
    "toml": ("toml", 'import tomllib\nwith open("config.toml", "rb") as f:\n    config = tomllib.load(f)\n'),
}
TEXTS = {
    "json": '{"model": {"width": %d}}',
    "yaml": "# sizes\nmodel:\n  width: %d\n  name: 'mlp'\n",
    "toml": "[model]\nwidth = %d\n",
}
USE = 'import torch\nfrom torch import nn\nnn.Linear(4, config["model"]["width"])(torch.zeros(2, 3 + (config["model"]["width"] == 8)))\n'


@pytest.mark.parametrize("reader", READERS)
def test_sizes_are_those_of_the_file(engine: Engine, tmp_path: Path, reader: str) -> None:
    kind, code = READERS[reader]
    if kind == "toml":
        pytest.importorskip("tomllib")
    (tmp_path / f"config.{kind}").write_text(TEXTS[kind] % 5, encoding="utf-8")
    assert codes(engine, tmp_path, code + USE) == ["TS101"]
    (tmp_path / f"config.{kind}").write_text(TEXTS[kind] % 8, encoding="utf-8")
    assert codes(engine, tmp_path, code + USE) == []


WRITTEN = 'import json\nwith open("config.json", "w") as f:\n    json.dump({"model": {"width": 8}}, f)\n'


@pytest.mark.parametrize("before", [WRITTEN, 'from pathlib import Path\nPath("config.json").write_text("{}")\n'])
def test_what_the_script_writes_is_not_read(engine: Engine, tmp_path: Path, before: str) -> None:
    (tmp_path / "config.json").write_text(TEXTS["json"] % 5, encoding="utf-8")
    assert codes(engine, tmp_path, before + READERS["open"][1] + USE) == []


def test_nothing_outside_of_the_workspace_is_read(engine: Engine, tmp_path: Path) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    (tmp_path / "config.json").write_text(TEXTS["json"] % 5, encoding="utf-8")
    (inside / "link.json").symlink_to(tmp_path / "config.json")
    for path in ("../config.json", str(tmp_path / "config.json"), "link.json", "missing.json"):
        code = READERS["open"][1].replace("config.json", path)
        assert codes(engine, inside, code + USE) == []


YAML = {
    "a: 1\nb:\n  - 1\n  - x: 2\n    y: [1, 2.5, 'q']\n  -\n    z: ~\n": {
        "a": 1,
        "b": [1, {"x": 2, "y": [1, 2.5, "q"]}, {"z": None}],
    },
    "f:\n- 1\n- - 2\n  - 3\ng: 1_000\n": {"f": [1, [2, 3]], "g": 1000},
    "lr: 1e-3\nwd: 1.0e-4\nbig: 5.e-4\n": {"lr": "1e-3", "wd": 0.0001, "big": 0.0005},
    "c: {p: yes, q: off, r: {s: [a, b]}}\nd: 'it''s'  # no\ne: \"x # y\"\n": {
        "c": {"p": True, "q": False, "r": {"s": ["a", "b"]}},
        "d": "it's",
        "e": "x # y",
    },
    "u: http://x.y/z\nv: don't\nw:\nx: -0.5\n": {"u": "http://x.y/z", "v": "don't", "w": None, "x": -0.5},
}


@pytest.mark.parametrize("text", YAML)
def test_yaml(text: str) -> None:
    assert plain_yaml.load(text) == YAML[text]


@pytest.mark.parametrize(
    "text",
    [
        "x: &a 1\n",
        "x: *a\n",
        "x: !!python/object 1\n",
        "x: |\n  t\n",
        "x: 010\n",
        "x: 12:30\n",
        "a: 1\n b: 2\n",
        "? a\n",
    ]
    + [
        "a: b: c\n",
        "x: 2020-01-01\n",
        "a: [1,\n  2]\n",
        "<<: {a: 1}\n",
        "k: 1\nk: 2\n",
        "a: 1\n---\nb: 2\n",
        "[" * 200,
    ],
)
def test_what_is_not_plain_is_refused(text: str) -> None:
    with pytest.raises(plain_yaml.NotPlainYaml):
        plain_yaml.load(text)

"""`torchsleuth explain`: what is known of each expression, and the chain of reasons of what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.check import PATIENT
from tests.unit.test_cli import torchsleuth
from torchsleuth.oracle.oracle import Oracle
from torchsleuth.schema import Explanation, FileAnalysis
from torchsleuth.worker.engine import Engine
from torchsleuth.worker.structure import structure

SCRIPT = """import torch
import yaml
from torch import nn

config = yaml.safe_load(open("config.yaml"))


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.fc = nn.Linear(10, hidden)

    def forward(self, x):
        h = self.fc(x)
        return h.view(h.size(0), -1)


net = Net(config["hidden"])
y = net(torch.randn(3, 10))


def evaluate(model, loader):
    for x, target in loader:
        out = model(x)
"""


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(Oracle(), times=PATIENT)


def explained(engine: Engine, line: int, text: str = SCRIPT) -> dict[str, Explanation]:
    answer = engine.explain("script.py", text, first=line, last=line)
    return {one.expression: one for one in answer.explanations}


def told(one: Explanation) -> list[tuple[int, str]]:
    return [(cause.start.line, cause.text) for cause in one.causes]


def test_what_is_known_is_described(engine: Engine) -> None:
    found = explained(engine, 19)
    assert found["torch.randn(3, 10)"].known == ("tensor float32 [3, 10] on cpu",)
    assert found["torch.randn(3, 10)"].causes == ()
    assert found["net"].known == ("Net object",)


def test_an_unknown_leads_back_to_its_first_cause(engine: Engine) -> None:
    one = explained(engine, 18)["config['hidden']"]
    assert one.known == ("unknown",)
    assert told(one) == [
        (18, "`config['hidden']` is computed from something unknown"),
        (5, "the result of `yaml.safe_load` is not modelled, or depends on data"),
    ]


def test_a_size_that_is_not_known_leads_back_through_layers_and_attributes(engine: Engine) -> None:
    one = explained(engine, 19)["net(torch.randn(3, 10))"]
    assert one.known == ("tensor float32 [3, ?] on cpu requires grad",)
    assert told(one)[0] == (15, "`h.view(h.size(0), -1)` is computed from something unknown")
    assert told(one)[-1] == (5, "the result of `yaml.safe_load` is not modelled, or depends on data")


def test_parameters_and_what_a_loop_takes_from_them(engine: Engine) -> None:
    found = explained(engine, 24)
    assert told(found["model"]) == [(22, "parameter `model`: no call in sight says what it is")]
    assert told(found["x"])[-1] == (22, "parameter `loader`: no call in sight says what it is")
    assert found["model(x)"].causes[-1].reason == "argument"


def test_names_are_those_to_look_up_whatever_they_are_imported_as(engine: Engine) -> None:
    found = explained(engine, 2, "from yaml import safe_load as read\nx = read('&a [')\n")
    assert found["read('&a [')"].causes[-1].name == "yaml.safe_load"


def test_an_internal_error_is_the_cause_and_is_told(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchsleuth.interp.expressions import Expressions

    def failing(*arguments: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(Expressions, "on_Set", failing)
    answer = engine.explain("script.py", "x = {1}\ny = x\n", first=2, last=2)
    (one,) = answer.explanations
    assert told(one) == [(1, "the analysis failed at `{1}` (an internal error; please report it)")]
    assert "on purpose" in answer.stats["internal_errors"][0]


def test_a_chain_of_a_thousand_links_keeps_its_first_cause(engine: Engine) -> None:
    lines = ["import yaml", "x = yaml.load()", *(["x = x.next"] * 200), "y = x"]
    one = explained(engine, len(lines), "\n".join(lines) + "\n")["x"]
    assert len(one.causes) < 60
    assert told(one)[-1] == (2, "the result of `yaml.load` is not modelled, or depends on data")


def test_explanations_survive_the_way_through_the_worker(engine: Engine) -> None:
    answer = engine.explain("script.py", SCRIPT)
    assert answer.explanations
    assert structure(json.loads(json.dumps(answer.to_json())), FileAnalysis) == answer


def test_hovers_say_why_a_shape_is_not_known(engine: Engine) -> None:
    answer = engine.analyze("script.py", SCRIPT, verify=False)
    (fact,) = [fact for fact in answer.facts if fact.binding == "y"]
    assert fact.shape == (3, "?")
    assert fact.causes[-1].name == "yaml.safe_load"
    assert all(not fact.causes for fact in answer.facts if fact.shape and "?" not in fact.shape)


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = torchsleuth("explain", "script.py:18:11", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "script.py:18:11: config: unknown",
        "    script.py:5:10: the result of `yaml.safe_load` is not modelled, or depends on data",
    ]
    done = torchsleuth("explain", "script.py:19", "--output-format", "json", cwd=tmp_path)
    assert [one["expression"] for one in json.loads(done.stdout)][:2] == ["net(torch.randn(3, 10))", "net"]
    done = torchsleuth("explain", "script.py:6", cwd=tmp_path)
    assert done.stdout == "script.py:6: no expression on this line was reached by the analysis\n"


def test_the_first_causes_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(SCRIPT)
    (tmp_path / "two.py").write_text("import yaml\nconfig = yaml.safe_load('a')\nprint(config.x, config.y)\n")
    done = torchsleuth("explain", "--causes", ".", cwd=tmp_path)
    assert done.returncode == 0
    head, most, *_ = done.stdout.splitlines()
    assert head.endswith("expressions in 2 files are unknown, first of all because")
    assert "the result of `yaml.safe_load` is not modelled" in most and most.endswith("(one.py:5)")
    rows = json.loads(torchsleuth("explain", "--causes", ".", "--output-format", "json", cwd=tmp_path).stdout)
    assert rows[0]["reason"] == "call" and rows[0]["expressions"] > 5


@pytest.mark.parametrize("place", ["script.py", "script.py:0", "script.py:x"])
def test_what_is_no_place_is_told(tmp_path: Path, place: str) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = torchsleuth("explain", place, cwd=tmp_path)
    assert done.returncode == 2 and "is not a place: write FILE:LINE" in done.stderr

"""Two runs compared: what no longer holds, what has changed, and the exit status of `torchsleuth compare`."""

from __future__ import annotations

import json
import math
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.report.records import SCRIPT, falling, report, series, sound
from torchsleuth.cli.compare import compare
from torchsleuth.report import history
from torchsleuth.report.compare import broken, code, versions
from torchsleuth.report.comparison import Comparison
from torchsleuth.report.history import Kept, earlier, of_report, remember
from torchsleuth.report.page import page
from torchsleuth.runtime.report import RunReport
from torchsleuth.syntax.text import SourceText
from torchsleuth.training import Bad, Optimizer, Place, Training


def sources(path: str) -> SourceText:
    return SourceText(path, "lr = 0.1\ntrain(lr)\n")


def kept(of: RunReport) -> Kept:
    found = of_report(of, sources)
    assert found is not None
    return found


def changed_parameter(training: Training, **changes: Any) -> Training:
    first = training.parameters[0]
    samples = tuple(replace(sample, **changes.pop("samples", {})) for sample in first.samples)
    return replace(training, parameters=(replace(first, samples=samples, **changes), *training.parameters[1:]))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("recorded",), "a record"),
        (("recorded", "losses"), {"a": 1}),
        (("recorded", "losses", 0), 3),
        (("recorded", "losses", 0, "values", "points"), [[1, [2]]]),
        (("recorded", "losses", 0, "values", "points"), [[1]]),
        (("recorded", "steps"), 10**400),
        (("recorded", "step_seconds"), {"points": [[1, "fast"]]}),
        (("recorded", "phases"), [1]),
        (("recorded", "device"), None),
    ],
)
def test_a_record_of_another_form_is_told_in_a_line(
    path: tuple[str | int, ...], value: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found: Any = json.loads(json.dumps(report(sound()).to_json()))
    (tmp_path / "good.json").write_text(json.dumps(found))
    inner = found
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    (tmp_path / "bad.json").write_text(json.dumps(found))
    for pair in (("good.json", "bad.json"), ("bad.json", "good.json")):
        assert compare(*(tmp_path / name for name in pair), "slower,memory,loss", "text") == 2
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1 and "bad.json" in said[0], said


@pytest.mark.parametrize("value", [3, [1], {"libraries": 4, "devices": 5}, {"devices": [None, 1]}])
def test_versions_of_another_form_are_none(value: object) -> None:
    assert isinstance(versions({"versions": value}, {"versions": {"python": "3.11"}}), tuple)


def test_a_run_like_the_last_one_breaks_nothing() -> None:
    assert broken(sound(), sound()) == ()
    assert broken(sound(), sound([value * 1.02 for value in falling()])) == ()
    longer = sound(falling(80))
    assert broken(sound(), longer) == () and broken(longer, sound()) == ()


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (
            sound([*falling(20), *[math.nan] * 20], bad=Bad(21, "operation", "LogBackward0", Place(SCRIPT, 9))),
            "losses were finite, and now 20 are not, from step 21 on",
        ),
        (changed_parameter(sound(), optimizer=None), "1 tensors were in the optimizer, and now are in none: 0.weight"),
        (changed_parameter(sound(), with_gradient=0), "had a gradient in each step, and now have not: 0.weight"),
        (changed_parameter(sound(), samples={"moved": False}), "changed by each step, and now are not: 0.weight"),
        (changed_parameter(sound(), samples={"finite": False}), "were finite, and now are not always: 0.weight"),
        (sound([0.69] * 40), "the loss fell, and now stays where it was"),
        (sound(step_seconds=series([0.03] * 40)), "a step took 10 ms, and now takes 30 ms (+200 %)"),
        (sound(memory=series([3e8, 9e8])), "now 858 MiB are needed"),
        (
            sound(optimizers=(Optimizer("SGD", None, Place(SCRIPT, 4), (), 40, uncleared=39),)),
            "now were not before 39 steps of SGD",
        ),
    ],
)
def test_what_held_and_no_longer_holds(now: Training, said: str) -> None:
    found = broken(sound(), now)
    assert found and said in found[0].text, found


def test_versions_and_code() -> None:
    old = {"versions": {"python": "3.11.7", "libraries": {"torch": "2.12", "numpy": "2.0"}}}
    new = {"versions": {"python": "3.11.7", "libraries": {"torch": "2.13", "timm": "1.0"}}}
    assert versions(old, new) == (("torch", "2.12", "2.13"), ("numpy", "2.0", "–"), ("timm", "–", "1.0"))
    changes = code({"a.py": "lr = 1\nx = 2\n", "b.py": "y\n"}, {"a.py": "lr = 3\nx = 2\n", "b.py": "y\n"})
    assert [(path, lines[1:]) for path, lines in changes] == [("a.py", ("-lr = 1", "+lr = 3", " x = 2"))]


def test_the_page_lays_the_run_before_under_this_one(tmp_path: Path) -> None:
    before = replace(kept(report(sound())), sources={SCRIPT: "lr = 1\ntrain(lr)\n"})
    now = report(sound([0.69] * 40))
    text = page(now, sources, (before,))
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    lines = data["plots"][0]["series"]
    assert [line.get("before", False) for line in lines] == [False, True]
    assert "now stays where it was" in data["compared"]["broken"][0]["text"]
    assert data["compared"]["code"][0]["lines"][1:3] == ["-lr = 1", "+lr = 0.1"]
    loss = next(item for item in data["compared"]["numbers"] if item["name"] == "last loss")
    assert loss["worse"] and loss["change"].startswith("+")


def test_only_a_healthy_run_says_what_has_to_hold() -> None:
    sick = kept(report(sound([0.69] * 40)))
    now = kept(report(sound([0.7] * 40)))
    found = Comparison.of(now, (sick,))
    assert found is not None and found.broken == ()
    healthy = kept(report(sound()))
    found = Comparison.of(now, (sick, healthy))
    assert found is not None and found.healthy is healthy and found.broken


def test_runs_are_kept_for_their_owner_alone_and_only_a_few(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(history, "RUNS", 3)
    script = str(tmp_path / "train.py")
    for steps in range(10, 16):
        remember(report(sound(falling(steps)), script=script), sources)
    found = earlier(script)
    assert [one.training.steps for one in found if one.training is not None] == [15, 14, 13]
    files = [path for path in (tmp_path / "torchsleuth").rglob("*")]
    modes = {stat.S_IMODE(os.stat(path).st_mode) for path in files if path.is_file()}
    assert modes == {0o600} and len([path for path in files if path.is_file()]) == 3
    assert {stat.S_IMODE(os.stat(path).st_mode) for path in files if path.is_dir()} == {0o700}
    assert earlier(str(tmp_path / "other.py")) == ()


def test_scripts_that_were_run_long_ago_are_forgotten(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(history, "SCRIPTS", 2)
    names = [str(tmp_path / f"{number}.py") for number in range(4)]
    for name in names:
        remember(report(sound(), script=name), sources)
    assert sum(bool(earlier(name)) for name in names) == 2


def test_what_does_not_belong_there_is_no_run(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    remember(report(sound()), sources)
    folder = next(path.parent for path in tmp_path.rglob("*.json.gz"))
    (folder / "99999999999999999999.json.gz").write_bytes(b"no gzip")
    assert len(earlier(SCRIPT)) == 1
    remember(report(None), sources)
    assert len(earlier(SCRIPT)) == 1


def written(path: Path, training: Training) -> Path:
    path.write_text(json.dumps(report(training).to_json()))
    return path


@pytest.mark.parametrize(
    ("now", "fail_on", "status"),
    [
        (sound(), "slower=10%,memory=10%,loss", 0),
        (sound(step_seconds=series([0.012] * 40)), "slower=10%", 1),
        (sound(step_seconds=series([0.012] * 40)), "slower=0.3,memory", 0),
        (sound(step_seconds=series([0.012] * 40)), None, 0),
        (sound(memory=series([4e8])), "memory=10%", 1),
        (sound([value + 0.5 for value in falling()]), "loss", 1),
        (sound([math.nan] * 40), "loss", 1),
        (sound(step_seconds=series([0.01])), "slower", 1),
        (sound(), "faster=1", 2),
        (sound(), "slower=much", 2),
    ],
)
def test_the_exit_status_of_a_comparison(
    tmp_path: Path, now: Training, fail_on: str | None, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = written(tmp_path / "a.json", sound()), written(tmp_path / "b.json", now)
    assert compare(before, after, fail_on, "text") == status
    said = capsys.readouterr()
    assert bool(said.err) == (status != 0)


def test_a_comparison_for_another_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = written(tmp_path / "a.json", sound())
    now = written(tmp_path / "b.json", sound([value + 0.5 for value in falling()]))
    assert compare(before, now, "loss=1%", "json") == 1
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"broken", "numbers", "versions", "failures"} and len(found["failures"]) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"recorded": null}', '{"recorded": {"losses": 3}}', "[" * 100_000])
def test_what_is_no_report(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    assert compare(path, path, None, "text") == 2
    assert "is no report of a training run" in capsys.readouterr().err

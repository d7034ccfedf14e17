"""The report in the formats that other tools read: JSON by a published schema, and TensorBoard's event files."""

from __future__ import annotations

import json
import math
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.report.records import falling, finding, report, sound
from torchsleuth.cli.run import _can_write, _written
from torchsleuth.report.dashboards import NAME
from torchsleuth.report.eventfiles import read
from torchsleuth.report.form import schema
from torchsleuth.training import Bad, Kept, Place

PUBLISHED = Path(__file__).parents[2] / "docs" / "report.schema.json"
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_a(kind: str, value: Any) -> bool:
    if kind in ("integer", "number"):
        return isinstance(value, int if kind == "integer" else int | float) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind])


def problems(value: Any, form: dict[str, Any], where: str = "$") -> list[str]:
    """Where a value is not as the schema says, of what ours has in it."""
    if "$ref" in form:
        return problems(value, schema()["$defs"][form["$ref"].rpartition("/")[2]], where)
    if "anyOf" in form:
        tried = [problems(value, one, where) for one in form["anyOf"]]
        return [] if not all(tried) else tried[0]
    if "enum" in form:
        return [] if value in form["enum"] else [f"{where}: {value!r}"]
    kinds = form.get("type", [])
    if kinds and not any(is_a(kind, value) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        return [f"{where}: {value!r} is no {kinds}"]
    found = [f"{where}.{name} is missing" for name in form.get("required", ()) if name not in value]
    if isinstance(value, dict):
        for name, item in value.items():
            of = form.get("properties", {}).get(name, form.get("additionalProperties", {}))
            found += problems(item, of, f"{where}.{name}")
    if isinstance(value, list):
        first = form.get("prefixItems", [])
        for index, item in enumerate(value):
            found += problems(item, first[index] if first else form.get("items", {}), f"{where}[{index}]")
    return found


def test_the_published_schema_is_that_of_today() -> None:
    assert json.loads(PUBLISHED.read_text()) == schema(), (
        "run python -m torchsleuth.report.form docs/report.schema.json"
    )


@pytest.mark.parametrize(
    "made",
    [
        report(None),
        report(sound(), finding()),
        report(sound([*falling(5), math.nan], bad=Bad(6, "unknown"), kept=(Kept(Place("/a.py", 3), 4, 4),))),
    ],
)
def test_a_report_has_the_published_form(made: Any) -> None:
    found = json.loads(json.dumps(made.to_json(), allow_nan=False))
    assert problems(found, schema()) == []
    found["recorded"] = {"steps": "many"}
    assert problems(found, schema())


def test_the_report_for_dashboards(tmp_path: Path) -> None:
    target = tmp_path / "out.tb"
    for _ in range(2):  # a folder that is there is written to again
        assert _can_write(target) and _written(report(sound([1.0, math.nan, 0.5])), target)
    file = target / NAME
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found: dict[str, list[float]] = {}
    for scalar in read(file.read_bytes()):
        found.setdefault(scalar.tag, []).append(scalar.value)
    assert found["loss/cross_entropy"][0] == 1.0 and math.isnan(found["loss/cross_entropy"][1])
    assert {"learning_rate/SGD_0/group_0", "gradient_norm", "update_ratio/0.weight", "activation_dead/0"} <= set(found)


def test_a_page_is_written_for_its_owner(tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    assert _written(report(sound()), target) and target.read_text().startswith("<!doctype html>")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_nothing_trained_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _written(report(None), tmp_path / "out.tb")
    assert "no scalars" in capsys.readouterr().err

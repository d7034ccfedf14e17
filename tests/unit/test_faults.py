"""The catalogue of faults: complete, of one form, and there without the engine."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import torchsleuth.rules
from torchsleuth.faults import FAMILIES, FAULTS, Fault
from torchsleuth.rules.registry import RULES

HEADINGS = ["What it finds", "Why it hurts", "Example", "Use instead", "Fix safety", "References"]


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.code)
def test_every_fault_has_a_name_a_title_and_an_explanation(fault: Fault) -> None:
    assert re.fullmatch(r"TS[0-9]\d\d", fault.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", fault.name)
    assert fault.title.endswith(".") and "\n" not in fault.title
    headings = [line for line in fault.explanation.splitlines() if line and not line[0].isspace()]
    assert headings == HEADINGS


def test_names_are_unique_and_codes_in_order() -> None:
    assert len({fault.name for fault in FAULTS.values()}) == len(FAULTS)
    assert list(FAULTS) == sorted(FAULTS)


def test_every_rule_belongs_to_a_fault_and_every_fault_but_those_of_runs_has_one() -> None:
    folder = Path(torchsleuth.rules.__file__).parent
    written = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for family in FAMILIES.values()
        for path in folder.glob(f"{family.folder}/*.py")
        if path.stem != "__init__"
    }
    assert written == {fault.rule for fault in FAULTS.values()} - {None}
    assert all(rule.code == code for code, rule in RULES.items())
    assert {code for code in FAULTS if code not in RULES} == {code for code in FAULTS if code.startswith("TS9")}


@pytest.mark.parametrize(
    "door", ["torchsleuth.control.configuration", "torchsleuth.control.pages", "torchsleuth.cli.rule"]
)
def test_what_selects_and_documents_faults_loads_no_engine(door: str) -> None:
    code = f"""
        import importlib, sys
        importlib.import_module("{door}")
        from torchsleuth.control.pages import files
        from torchsleuth.control.selection import selected
        assert selected(()) and files()
        engine = ("interp", "oracle", "rules", "repair", "worker", "errors", "tensors")
        print(*sorted(name for name in sys.modules if name.startswith(tuple(f"torchsleuth.{{room}}" for room in engine))))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

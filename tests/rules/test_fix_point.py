"""``check --fix`` over broken samples: it ends, what it writes parses, nothing is found more often, and it is done then."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

import pytest

from tests.check import PATH, analyze
from tests.rules.samples import Sample, load_samples
from torchsleuth.cli.repairs import Repairs
from torchsleuth.schema import Diagnostic

STRIDE = 19
"""One of so many samples; a prime, so that all rules have their turn as samples are added."""
BROKEN = [sample for sample in load_samples() if sample.lines][::STRIDE]


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("sample", BROKEN, ids=str)
def test_repairs_come_to_an_end(sample: Sample, unsafe: bool) -> None:
    def diagnose(texts: Mapping[str, str], _: Mapping[str, str]) -> list[Diagnostic]:
        return list(analyze(texts[PATH], sample.code).diagnostics)

    before = Counter(item.code for item in diagnose({PATH: sample.text}, {}))
    repairs = Repairs({PATH: sample.text}, diagnose, unsafe)
    after = Counter(item.code for item in repairs.run())
    ast.parse(repairs.texts[PATH])
    assert all(count <= before[code] for code, count in after.items()), after - before
    again = Repairs(repairs.texts, diagnose, unsafe)
    again.run()
    assert again.texts == repairs.texts

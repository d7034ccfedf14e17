"""The short form of `benchmarks.soak`: edits and kills, and nothing is lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.soak import Plan, run, slope


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_nothing_is_lost_and_nothing_is_left(tmp_path: Path) -> None:
    report = run(Plan(edits=60, documents=3, kills=4, rounds=1, steady=0, ends=False), tmp_path)
    assert report.fine, report
    assert report.edits >= 60 and report.kills.total() >= 4 and report.compared == 3
    assert report.left == {"a shutdown": 0}


def test_the_slope_is_that_of_the_line() -> None:
    assert slope([(0, 5.0), (500, 6.0), (1000, 7.0)]) == pytest.approx(2.0)
    assert slope([(0, 5.0)]) == 0.0

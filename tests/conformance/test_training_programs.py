"""Generated training programs, against PyTorch: the fast part of benchmarks/training_programs.py."""

from __future__ import annotations

from benchmarks.training_programs import measure


def test_correct_programs_are_not_accused_and_faults_are_found() -> None:
    tally = measure(25, 1)
    assert not tally.broken, tally.broken[0]
    assert not tally.accused, tally.accused[0]
    known = tally.counts["right"] + tally.counts["unknown"] + tally.counts["wrong"]
    assert tally.counts["right"] > 0.97 * known > 500
    assert tally.counts["crash found"] > 0.85 * tally.counts["crash"] > 5

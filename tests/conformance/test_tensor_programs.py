"""Generated programs over tensors, against PyTorch: the fast part of benchmarks/tensor_programs.py."""

from __future__ import annotations

from benchmarks.tensor_programs import measure


def test_what_is_known_at_the_end_of_a_program_is_what_pytorch_has_made() -> None:
    tally = measure(150, 1, 12)
    assert not tally.wrong, tally.wrong[0]
    assert not tally.accused, tally.accused[0]
    assert tally.counts["right"] > 0.97 * (tally.counts["right"] + tally.counts["unknown"])
    assert tally.counts["found"] > 0.75 * tally.counts["refused"] > 20

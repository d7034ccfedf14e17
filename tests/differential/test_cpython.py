"""The analysis against CPython: what it says of the values of small programs is what CPython has, or less."""

from __future__ import annotations

from functools import cache, lru_cache

import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks.differential import PROGRAMS, RIGHT, WRONG, Outcome, Program, Recorder, details, programs
from tests.differential.generated import programs as generated

WRITTEN = list(programs(PROGRAMS))
SHARE = 0.9
"""Of the values that are to be known."""


@lru_cache(maxsize=1)
def recorder() -> Recorder:
    return Recorder()


@cache
def outcome(program: Program) -> Outcome:
    return recorder().compare(program)


def faults(found: Outcome) -> list[str]:
    return list(details(found, False))


def known(outcomes: list[Outcome]) -> float:
    return sum(one.count(RIGHT) for one in outcomes) / sum(len(one.values) for one in outcomes)


@pytest.mark.parametrize("program", WRITTEN, ids=lambda program: f"{program.section}-{program.name}".replace(" ", "_"))
def test_nothing_is_wrong_and_nothing_accused(program: Program) -> None:
    found = outcome(program)
    assert found.raised is None
    assert found.values, "a program has values"
    assert not faults(found)


def test_programs_are_many_and_told_apart() -> None:
    assert len(WRITTEN) >= 400
    assert len({(program.section, program.name) for program in WRITTEN}) == len(WRITTEN)


@pytest.mark.parametrize("section", sorted({program.section for program in WRITTEN}))
def test_most_values_are_known(section: str) -> None:
    share = known([outcome(program) for program in WRITTEN if program.section == section])
    # What arrays hold is not followed, only their shape and dtype.
    assert share >= (0.75 if section in ("numpy_basics", "contexts_and_modules") else SHARE)


def test_nine_of_ten_values_are_known() -> None:
    assert known([outcome(program) for program in WRITTEN]) >= SHARE


def test_generated_programs() -> None:
    outcomes: list[Outcome] = []

    @settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(generated())
    def check(text: str) -> None:
        found = recorder().compare(Program("generated", "generated", text))
        outcomes.append(found)
        wrong = [name for name, (verdict, _, _) in found.values.items() if verdict == WRONG]
        assert not found.internal, f"{text}\n{found.internal}"
        # Behind what nothing catches, the analysis goes on and CPython does not.
        assert found.raised is not None or not (wrong or found.accused), f"{text}\n{found.values}\n{found.accused}"

    check()
    assert known([one for one in outcomes if one.raised is None]) >= SHARE

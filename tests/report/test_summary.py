"""The line at the end of a run says the same numbers and the same worst finding as its page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.records import finding, report, sound
from torchsleuth.report.summary import summary
from torchsleuth.report.view import verdict
from torchsleuth.schema import Diagnostic
from torchsleuth.training import ParameterSample, Training

FALLS, FLAT, RISES = [2.0 / step for step in range(1, 41)], [1.1] * 40, [0.1 * step for step in range(1, 41)]


def told(recorded: Training, *found: Diagnostic) -> tuple[str, str, str]:
    made = report(recorded, *found)
    return (summary(made, recorded, found), *verdict(made))


@pytest.mark.parametrize(
    ("values", "state", "sentence", "line"),
    [
        (
            FALLS,
            "good",
            "the loss fell from 1.5 to 0.055.",
            "loss 1.5 → 0.055, 10 ms each (*): nothing wrong was seen",
        ),
        (
            FLAT,
            "warning",
            "1.1 at the beginning, 1.1 at the end",
            "loss 1.1 → 1.1, 10 ms each (*): no fault was found, but the loss did not fall",
        ),
        (
            RISES,
            "warning",
            "the loss rose from 0.15 to 3.65",
            "loss 0.15 → 3.65, 10 ms each (*): no fault was found, but the loss did not fall",
        ),
    ],
)
def test_a_run_without_findings_has_the_numbers_of_its_page(
    values: list[float], state: str, sentence: str, line: str
) -> None:
    shown, said, page = told(sound(values))
    assert said == state and sentence in page and "40 steps" in page
    shares = "data 14%, forward 29%, backward 43%, optimizer 14%"
    assert shown == "40 training steps, " + line.replace("*", shares)


def test_the_worst_finding_is_that_of_the_page() -> None:
    hint = finding("a hint", line=2, code="TS520", severity="hint")
    first, error = finding("first", line=4), finding("second", line=7, code="TS402", severity="error")
    line, state, sentence = told(sound(FALLS), hint, first, error)
    assert state == "bad" and "train.py:7: second" in sentence and sentence.endswith("There is one more finding.")
    assert line.endswith("the worst: TS402 missing-zero-grad at " + error.path + ":7, and 1 more")


def test_what_the_page_doubts_is_doubted_at_the_terminal() -> None:
    good = sound(FALLS)
    infinite = replace(good.parameters[0], samples=(ParameterSample(3, finite=False),))
    for recorded in (good, replace(good, seeded=False)):
        line, state, sentence = told(recorded)
        assert state == "good" and line.endswith("nothing wrong was seen") and "Look at" not in sentence
    line, state, sentence = told(replace(good, parameters=(infinite, *good.parameters[1:])))
    assert state == "warning" and sentence.endswith("Look at what the check-list says of: NaN and infinity.")
    assert "no fault was found, but look at NaN and infinity" in line


def test_a_run_without_a_step_is_none_that_trained() -> None:
    recorded = replace(sound(FALLS), steps=0, optimizers=())
    line, state, sentence = told(recorded)
    assert (state, sentence) == (
        "unknown",
        "train.py ended. It trained nothing, so there is nothing to say of a training.",
    )
    assert line == "no optimizer made a step, after 40 calls of backward(), loss 1.5 → 0.055"


def test_steps_without_an_optimizer_and_batches_that_take_turns_are_no_reason_to_look() -> None:
    by_hand = replace(sound(FALLS), optimizers=())
    assert told(by_hand)[1] == "good"
    batch = by_hand.batches[0].samples[0]
    for steps, state in (((2, 4, 8, 16), "good"), ((2, 3, 4, 8), "warning")):
        samples = tuple(replace(batch, step=step, same=step > 2) for step in steps)
        inputs = replace(by_hand.batches[0], samples=samples)
        line, said, sentence = told(replace(by_hand, batches=(inputs, *by_hand.batches[1:])))
        assert said == state and ("look at Data" in line) == sentence.endswith("of: Data.") == (state == "warning")


def test_it_says_that_a_part_ran_unseen() -> None:
    whole = sound()
    part = replace(whole, interrupted=True)
    line = summary(report(part), part, ())
    assert line == summary(report(whole), whole, ()) + " (a part of it ran unseen, under a debugger or profiler)"


def test_it_says_that_all_of_it_ran_unseen() -> None:
    line, state, sentence = told(Training(interrupted=True))
    assert state == "unknown" and "No training was seen" in sentence
    assert line.startswith("no training was seen") and "(a part" not in line

"""What a run has seen becomes known to the analysis, where the text does not tell: facts, never findings."""

from __future__ import annotations

from tests.check import engine
from torchsleuth.schema import FileAnalysis, Json, TensorFact
from torchsleuth.syntax.text import SourceText

PATH = "/work/observed.py"
PROGRAM = """import sys
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 10)

    def forward(self, x):
        y = x.flatten(1)
        return self.fc(y)


x, target = torch.load(sys.argv[1], weights_only=True)
z = x.mean(0)
"""


def observed(text: str, expression: str, shape: list[int], later: list[int] | None = None, number: int = 0) -> Json:
    """A fact of a run about the `number`-th place of an expression."""
    source, start = SourceText(PATH, text), -1
    for _ in range(number + 1):
        start = text.index(expression, start + 1)
    ends = source.position(start), source.position(start + len(expression))
    fact = TensorFact(
        PATH, *ends, expression, tuple(shape), "float32", "cpu", False, expression, "run", later and tuple(later)
    )
    return fact.to_json()


def shapes(analysis: FileAnalysis) -> dict[tuple[int, str], str]:
    return {(fact.start.line, fact.expression): fact.sizes() for fact in analysis.facts if fact.shape is not None}


def test_a_tensor_from_a_file_is_known_once_a_run_has_seen_it() -> None:
    assert (17, "z") not in shapes(engine().analyze(PATH, PROGRAM))
    seen = [observed(PROGRAM, "x", [32, 3, 8, 8], number=PROGRAM[: PROGRAM.index("x, target")].count("x"))]
    found = shapes(engine().analyze(PATH, PROGRAM, observed=seen))
    assert found[17, "z"] == "[3, 8, 8]"


def test_the_argument_of_what_nothing_calls_is_the_one_of_the_run() -> None:
    place = PROGRAM[: PROGRAM.index("x):")].count("x")
    seen = [observed(PROGRAM, "x", [64, 3, 8, 8], [32, 3, 8, 8], number=place)]
    found = shapes(engine().analyze(PATH, PROGRAM, observed=seen))
    assert found[12, "y"] == "[?, 192]"
    assert found[13, "self.fc(y)"] == "[?, 10]"


def test_what_was_seen_accuses_nobody() -> None:
    """The next run may be given something else."""
    text = PROGRAM.replace("nn.Linear(width, 10)", "nn.Linear(100, 10)")
    place = text[: text.index("x):")].count("x")
    assert engine().analyze(PATH, text, observed=[observed(text, "x", [64, 3, 8, 8], number=place)]).diagnostics == ()


def test_the_text_wins_over_the_run() -> None:
    text = "import torch\nx = torch.zeros(2, 3)\ny = x + 1\n"
    found = shapes(engine().analyze(PATH, text, observed=[observed(text, "x", [7])]))
    assert found[3, "y"] == "[2, 3]"

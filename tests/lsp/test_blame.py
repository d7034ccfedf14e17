"""Which part of the code is left out when the worker dies, and what is left of the document."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from tests.lsp.editor import Editor
from torchsleuth.interp.parts import Part
from torchsleuth.worker.blame import DEATHS, KILLS, SPREAD, Blame, Death
from torchsleuth.worker.client import WorkerClient

MAIN, TRAIN, STEP, OTHER = (Part("function", "/a.py", name, 1, name) for name in ("main", "train", "step", "other"))


def died(blame: Blame, *running: Part, text: str = "text", killed: bool = False) -> None:
    blame.died("/a.py", text, Death(running, killed))


def test_one_death_blames_nothing_and_two_blame_the_innermost_part_that_ran_both_times() -> None:
    blame = Blame()
    died(blame, MAIN, TRAIN, STEP)
    assert blame.left_out == () and not blame.refuses("/a.py", "text")
    died(blame, MAIN, TRAIN, OTHER)
    assert blame.left_out == (TRAIN,) and not blame.refuses("/a.py", "text")


def test_an_answer_in_between_clears_the_suspicion() -> None:
    blame = Blame()
    for _ in range(2 * DEATHS):
        died(blame, MAIN)
        blame.answered("/a.py")
    assert blame.left_out == ()


def test_whoever_is_killed_from_outside_is_not_to_blame_until_it_looks_like_a_lack_of_memory() -> None:
    blame = Blame()
    for _ in range(KILLS - 1):
        died(blame, MAIN, killed=True)
    assert blame.left_out == ()
    died(blame, MAIN, killed=True)
    assert blame.left_out == (MAIN,)


def test_where_nothing_was_being_followed_the_text_itself_is_to_blame() -> None:
    blame = Blame()
    for _ in range(DEATHS):
        died(blame)
    assert blame.refuses("/a.py", "text") and not blame.refuses("/a.py", "another")
    assert not blame.refuses("/b.py", "text")


def test_deaths_that_have_nothing_in_common_end_with_the_text() -> None:
    blame = Blame()
    for part in (MAIN, TRAIN, STEP, OTHER)[: SPREAD - 1]:
        died(blame, part)
        assert blame.left_out == () and not blame.refuses("/a.py", "text")
    died(blame, OTHER)
    assert blame.refuses("/a.py", "text")


DEADLY = """import torch
from torch import nn

model = nn.Linear(8, 4)


def sample(x):
    return torch.bernoulli(x)


def good():
    return torch.zeros(2, 3) @ torch.zeros(2, 3)


def bad():
    sample(torch.zeros(2))


nn.Linear(8, 4)(torch.zeros(2, 9))
bad()
nn.Linear(8, 5)(torch.zeros(2, 9))
"""


@pytest.fixture
def deadly(tmp_path: Path) -> str:
    path = tmp_path / "deadly-python"
    script = Path(__file__).with_name("deadly.py")
    path.write_text(f"#!/bin/sh\nexec {sys.executable} {script} torchsleuth.worker\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def worker(deadly: str) -> Iterator[WorkerClient]:
    client = WorkerClient(deadly)
    yield client
    client.close()


def lines(worker: WorkerClient, text: str, **more: bool) -> list[int]:
    return [item.start.line for item in worker.analyze("/work/a.py", text, **more).diagnostics]


def test_a_function_that_kills_twice_is_left_out_and_everything_else_is_analysed(worker: WorkerClient) -> None:
    analysis = worker.analyze("/work/a.py", DEADLY, verify=False)
    assert [item.start.line for item in analysis.diagnostics] == [12, 19, 21]
    assert "sample in line 7" in analysis.stats["incomplete"]
    pid = worker.pid
    moved = worker.analyze("/work/a.py", "\n" + DEADLY, verify=False)
    assert "sample in line 8" in moved.stats["incomplete"] and len(moved.diagnostics) == 3
    assert worker.pid == pid  # it did not die again
    mended = worker.analyze("/work/a.py", DEADLY.replace("torch.bernoulli(x)", "x @ torch.zeros(3)"), verify=False)
    assert [item.start.line for item in mended.diagnostics] == [8, 12, 19, 21]
    assert not mended.stats["incomplete"]


def test_a_statement_that_kills_twice_is_left_out(worker: WorkerClient) -> None:
    text = "import torch\nx = torch.zeros(2, 3)\nx = torch.bernoulli(x)\ny = torch.zeros(2, 3) @ torch.zeros(2, 3)\nx @ x\n"
    analysis = worker.analyze("/work/a.py", text, verify=False)
    assert [item.start.line for item in analysis.diagnostics] == [4]  # nothing is known of x any more
    assert "line 3" in analysis.stats["incomplete"]


def test_what_is_left_out_may_have_changed_what_it_mentions(worker: WorkerClient) -> None:
    """It may have moved the model and the tensor, reset the gradients, and replaced the layer."""
    text = """import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(8, 4)
layer = nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def prepare(model):
    global layer
    torch.bernoulli(torch.zeros(2))
    layer = nn.Linear(9, 4)
    model.to(device)


def clear():
    torch.bernoulli(torch.zeros(2))
    optimizer.zero_grad()


prepare(model)
layer(torch.zeros(2, 9))
for _ in range(10):
    clear()
    loss = model(torch.zeros(2, 8).to(device)).sum()
    loss.backward()
    optimizer.step()
"""
    analysis = worker.analyze("/work/a.py", text, verify=False)
    assert analysis.diagnostics == ()
    assert "prepare" in analysis.stats["incomplete"] and "clear" in analysis.stats["incomplete"]


def test_a_deadly_function_of_an_imported_file_is_left_out_wherever_it_is_used(
    worker: WorkerClient, tmp_path: Path
) -> None:
    (tmp_path / "deadly.py").write_text("import torch\ndef sample(x):\n    return torch.bernoulli(x)\n")
    text = "import torch\nfrom deadly import sample\nsample(torch.zeros(2))\ntorch.zeros(2, 3) @ torch.zeros(2, 3)\n"
    first = worker.analyze(str(tmp_path / "a.py"), text, verify=False)
    assert [item.start.line for item in first.diagnostics] == [4]
    pid = worker.pid
    second = worker.analyze(str(tmp_path / "b.py"), text, verify=False)
    assert [item.start.line for item in second.diagnostics] == [4] and worker.pid == pid


Start = Callable[..., Awaitable[Editor]]


async def test_the_user_is_told_what_is_left_out(start: Start, deadly: str) -> None:
    editor = await start(interpreter=deadly)
    uri = editor.open("a.py", DEADLY)
    assert [item.range.start.line for item in await editor.diagnostics(uri)] == [11, 18, 20]
    told = await editor.until(lambda: [detail for state, detail in editor.client.states if "sample" in detail])
    assert told[-1].startswith("a.py is not fully analysed: left out until it changes")
    editor.replace(uri, "torch.bernoulli(x)", "x + 1")
    assert await editor.diagnostics(uri)
    await editor.until(lambda: editor.client.states[-1] == ("ready", editor.client.states[-1][1]))
    assert "not fully" not in editor.client.states[-1][1]

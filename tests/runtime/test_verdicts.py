"""Trainings that do not crash: what a run says of them, and that it says nothing of sound ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from torchsleuth.runtime.session import run

LOOP = """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(8):
    x = torch.randn(16, 4)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    {first}
    loss.backward()
    {second}
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("optimizer.zero_grad()", "pass", []),
        ("model.zero_grad()", "nn.utils.clip_grad_norm_(model.parameters(), 1.0)", []),
        ("pass", "pass", [("TS501", 11)]),
        ("pass", "optimizer.zero_grad()", [("TS504", 12)]),
    ],
)
def test_a_run_names_the_fault_of_a_loop(
    tmp_path: Path, first: str, second: str, expected: list[tuple[str, int]]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(LOOP.format(first=first, second=second))
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    assert [(found.code, found.start.line) for found in report.diagnostics] == expected
    assert report.recorded is not None and report.recorded.steps == 8


def test_a_training_in_a_function_is_told_of_though_nothing_of_it_lives_at_the_end(tmp_path: Path) -> None:
    inside = LOOP.format(first="optimizer.zero_grad()", second="pass").replace("\n", "\n    ")
    script = tmp_path / "train.py"
    script.write_text(f"def main():{inside}\nmain()\n")
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    training = report.recorded
    assert training is not None and report.diagnostics == ()
    assert [(one.type, [group.parameters for group in one.groups]) for one in training.optimizers] == [("SGD", [4])]
    assert [(one.name, one.shape, one.optimizer, one.changed) for one in training.parameters] == [
        ("0.weight", (8, 4), 0, True),
        ("0.bias", (8,), 0, True),
        ("2.weight", (3, 8), 0, True),
        ("2.bias", (3,), 0, True),
    ]
    root = next(one for one in training.modules if one.root and one.elements)
    assert (root.type, root.elements, root.optimized) == ("Sequential", 67, True)
    assert report.versions is not None and report.versions["libraries"]["torch"]


WHOLE = """
import torch
from torch import nn


def fit(model, optimizer, x, y):
    history = []
    for epoch in range(12):
        for rows in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            loss = nn.functional.{loss}
            loss.backward()
            optimizer.step()
            history.append({kept})
        model.eval()
        with torch.no_grad():
            model(x)
        {mode}


torch.manual_seed(0)
x = torch.randn(128, 4)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))
fit(model, torch.optim.Adam(model.parameters(), lr=0.01), x * {scale}, x.sum(1))
"""
GOOD = {
    "loss": "mse_loss(model(x[rows]).squeeze(1), y[rows])",
    "kept": "loss.item()",
    "mode": "model.train()",
    "scale": "1",
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        (
            {"loss": "mse_loss(model(x[rows]), y[rows])", "kept": "loss", "mode": "pass"},
            [("TS114", 11), ("TS507", 11), ("TS701", 14)],
        ),
        ({"scale": "100"}, [("TS930", 11)]),
    ],
)
def test_a_run_names_what_is_wrong_in_a_training(
    tmp_path: Path, changed: dict[str, str], expected: list[tuple[str, int]]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(WHOLE.format(**{**GOOD, **changed}))
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    assert [(found.code, found.start.line) for found in report.diagnostics] == expected


def test_a_network_of_single_numbers_has_a_report(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\nfrom torch import nn\n"
        "class Line(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.slope, self.offset = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))\n"
        "    def forward(self, x):\n"
        "        return self.slope * x + self.offset\n"
        "model = Line()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n"
        "for step in range(30):\n"
        "    optimizer.zero_grad()\n"
        "    loss = sum((model(x) - 2 * x) ** 2 for x in torch.randn(16))\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
    )
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    assert report.exit_code == 0 and report.recorded is not None and report.recorded.steps == 30


BY_HAND = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
weights = list(model.parameters())
for step in range(40):
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    {gradients}
    with torch.no_grad():
        for p, g in zip(model.parameters(), grads):
            {update}
            {after}
"""
COMPUTED = "grads = torch.autograd.grad(loss, weights)"
KEPT = "loss.backward(); grads = [p.grad for p in weights]"


@pytest.mark.parametrize(
    ("gradients", "update", "after", "expected"),
    [
        (COMPUTED, "p -= 0.05 * g", "pass", []),
        (KEPT, "p -= 0.05 * g", "p.grad = None", []),
        (KEPT, "p -= 0.05 * g", "g.zero_()", []),
        (KEPT, "p -= 0.01 * g", "g.mul_(0.9)", []),
        (KEPT, "p -= 0.01 * g", "pass", [("TS501", 11)]),
        (COMPUTED, "p = p - 0.05 * g", "pass", [("TS528", 14)]),
        (COMPUTED, "p -= 40 * g", "pass", [("TS927", 11)]),
    ],
)
def test_a_loop_without_an_optimizer_has_steps_gradients_and_updates(
    tmp_path: Path, gradients: str, update: str, after: str, expected: list[tuple[str, int]]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(BY_HAND.format(gradients=gradients, update=update, after=after))
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    assert [(found.code, found.start.line) for found in report.diagnostics] == expected
    training = report.recorded
    assert training is not None and training.backwards == 40
    moves = "p -= " in update
    assert training.steps == (40 if moves else 0)
    first = training.parameters[0].samples[1]
    assert first.moved is moves and first.gradient is not None and training.parameters[0].with_gradient >= 6
    assert training.gradient_norm.count >= 6 and training.gradient_norm.first == pytest.approx(3.313, abs=0.001)


GIVEN = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr={rate})
{made}
x = torch.randn(64, 4)
y = torch.sin(2 * x.sum(1, keepdim=True))
for step in range(80):
    if step % {cleared} == 0:
        optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    {gradients}
    optimizer.step()
"""
SOUND = {"rate": "0.05", "made": "", "cleared": "1", "gradients": "loss.backward()"}
HANDED = "for p, g in zip(model.parameters(), torch.autograd.grad(loss, list(model.parameters()))): p.grad = g"


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        ({"gradients": HANDED}, []),
        ({"gradients": HANDED, "cleared": "99"}, []),
        ({"cleared": "10"}, [("TS501", 13)]),
        ({"made": "model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))"}, [("TS512", 7)]),
        ({"rate": "1.2"}, [("TS927", 7)]),
    ],
)
def test_a_run_names_what_does_not_belong_to_the_optimizer_or_goes_too_far(
    tmp_path: Path, changed: dict[str, str], expected: list[tuple[str, int]]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(GIVEN.format(**{**SOUND, **changed}))
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    assert [(found.code, found.start.line) for found in report.diagnostics] == expected


@pytest.mark.parametrize(
    ("before", "behind", "kept", "expected"),
    [
        ("pass", "optimizer.zero_grad()", "pass", []),
        ("optimizer.zero_grad()", "pass", "pass", [("TS525", 11)]),
        ("optimizer.zero_grad()", "pass", "taken.append([p.grad for p in model.parameters()])", []),
    ],
)
def test_a_run_tells_gradients_that_are_thrown_away_between_batches(
    tmp_path: Path, before: str, behind: str, kept: str, expected: list[tuple[str, int]]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\nfrom torch import nn\n"
        "torch.manual_seed(0)\n"
        "model, taken = nn.Linear(4, 3), []\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.05)\n"
        "\n"
        "x = torch.randn(512, 4)\n"
        "batches = x.split(16)\n"
        "\n"
        "for i, x in enumerate(batches):\n"
        f"    {before}\n"
        "    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1)) / 4\n"
        "    loss.backward()\n"
        f"    {kept}\n"
        "    if i % 4 == 3:\n"
        "        optimizer.step()\n"
        f"        {behind}\n"
    )
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    assert [(found.code, found.start.line) for found in report.diagnostics] == expected


BATCHES = """
from collections import deque
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Seen:
    x: torch.Tensor
    loss: torch.Tensor


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.kinds, self.out = nn.Embedding(4, 2), nn.Linear(5, 1)

    def forward(self, numbers, kind):
        return self.out(torch.cat([self.kinds(kind), numbers], 1))


def batches(count):
    buffer = torch.empty(32, 3)
    for number in range(count):
        buffer.normal_()
        yield {batch}


torch.manual_seed(0)
model, kind, memory = Table(), torch.randint(0, 4, (32,)), deque()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
kept = list(batches(20))
for epoch in range(4):
    for x in kept:
        loss = nn.functional.mse_loss(model({given}, kind), x[:, :1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        memory.append(Seen(x, {kept}))
"""
FRESH = {"batch": "buffer.clone()", "given": "x", "kept": "loss.item()"}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        ({"given": "200 * x"}, [("TS930", 21)]),
        ({"kept": "loss"}, [("TS701", 41)]),
        ({"batch": "buffer[:, :]"}, [("TS931", 34)]),
    ],
)
def test_a_run_looks_into_records_lists_and_beside_embeddings(
    tmp_path: Path, changed: dict[str, str], expected: list[tuple[str, int]]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(BATCHES.format(**{**FRESH, **changed}))
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    assert [(found.code, found.start.line) for found in report.diagnostics] == expected


@pytest.mark.parametrize("ends", ["profiler.disable()", "pass"])
def test_a_run_says_that_it_saw_nothing_of_a_training_under_a_profiler(tmp_path: Path, ends: str) -> None:
    inside = LOOP.format(first="pass", second="pass").replace("\n", "\n    ")
    begins = "import cProfile\nprofiler = cProfile.Profile()\nprofiler.enable()\n"
    script = tmp_path / "train.py"
    script.write_text(f"def main():{inside}\n{begins}main()\n{ends}\n")
    training = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None).recorded
    assert training is not None and training.interrupted and not training.steps and training.seconds < 60


def test_the_norm_of_all_gradients_is_that_before_they_are_clipped(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    clip = "nn.utils.clip_grad_norm_(model.parameters(), 1e-4)"
    for second in (clip, "pass"):
        script.write_text(LOOP.format(first="optimizer.zero_grad()", second=second))
        training = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None).recorded
        assert training is not None and training.gradient_norm.count >= 4
        assert training.gradient_norm.low is not None and training.gradient_norm.low > 1e-2
        assert len({step for step, _ in training.gradient_norm.points}) == training.gradient_norm.count
        clipped = [one.gradient for one in training.parameters[0].samples if one.gradient is not None]
        assert (max(clipped) < 1e-3) is (second == clip)


TWO = """
import torch
from torch import nn

torch.manual_seed(0)
one, other = nn.Linear(4, 3), nn.Linear(4, 3)
first = torch.optim.SGD(one.parameters(), lr=0.1)
second = torch.optim.SGD(other.parameters(), lr=1e-9)


def step(model, optimizer):
    x = torch.randn(16, 4)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
    optimizer.step()


{order}
"""
ALTERNATING = "for number in range(90):\n    step(one, first)\n    if number % 2:\n        step(other, second)"
IN_TURN = "for number in range(60):\n    step(one, first)\nfor number in range(90):\n    step(other, second)"


@pytest.mark.parametrize("order", [ALTERNATING, IN_TURN])
def test_the_steps_of_every_optimizer_are_looked_at(tmp_path: Path, order: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(TWO.format(order=order))
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    assert [(found.code, found.start.line) for found in report.diagnostics] == [("TS928", 8)]
    assert report.recorded is not None
    looks = [len(one.samples) for one in report.recorded.parameters if one.optimizer == 1]
    assert looks and min(looks) >= 4


BORN = """
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(8, 4)
    width = x.std(0) * (step < 2)
    scaled = x / width
    loss = model(scaled).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_run_tells_which_assignment_made_the_first_number_that_is_none(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(BORN)
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    (found,) = [one for one in report.diagnostics if one.code == "TS920"]
    assert found.start.line == 10 and found.message.startswith("width has zeros") and "step 3" in found.message


REDRAWN = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    images, labels = torch.randn(64, 6), torch.arange(64) % 2

    def __init__(self, noise):
        self.noise = noise

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return {sample}, self.labels[index]


model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
train, test = DataLoader(Images(0.5), 16, shuffle=True), DataLoader(Images({noise}), 16)
for epoch in range(3):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for x, y in test:
            model(x).argmax(1)
"""
NOISY = "self.images[index] + self.noise * torch.randn(6)"


@pytest.mark.parametrize(
    ("sample", "noise", "expected"), [(NOISY, 0.5, ["TS952"]), (NOISY, 0.0, []), ("torch.randn(6)", 0.5, [])]
)
def test_a_run_tells_of_an_evaluation_whose_samples_are_changed_at_random(
    tmp_path: Path, sample: str, noise: float, expected: list[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(REDRAWN.format(sample=sample, noise=noise))
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    assert [found.code for found in report.diagnostics if found.code == "TS952"] == expected


OF_NOTHING = """
import torch
from torch import nn


def plan(step):
    return min(step, 49) // 50


def hardest(codes, y):
    away, same = torch.cdist(codes, codes), y[:, None] == y[None, :]
    near = (away * ~same).min(1).values
    return (away.max(1).values - near + 1).mean()


torch.manual_seed(0)
net = nn.Linear(6, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(120):
    x = torch.randn(12, 6)
    codes = net(x)
    y = torch.arange(12) % 4
    count = torch.randint(0, 9, (12,)).float() + {least}
    loss = nn.functional.mse_loss(codes[:, 0], count.log()) + hardest(codes, y) + plan(step) * codes.pow(2).mean()
    if torch.isfinite(loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("least", "expected"), [("1", {"TS358": 12, "TS586": 7}), ("0", {"TS961": 24})])
def test_what_has_no_part_in_a_training(tmp_path: Path, least: str, expected: dict[str, int]) -> None:
    script = tmp_path / "train.py"
    script.write_text(OF_NOTHING.replace("{least}", least))
    found = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None).diagnostics
    assert {one.code: one.start.line for one in found}.items() >= expected.items()

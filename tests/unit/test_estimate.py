"""`torchsleuth estimate`: the memory of a training step, by hand-counted bytes, and why it is unknown where it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.check import PATIENT
from tests.unit.test_cli import torchsleuth
from torchsleuth.cli.estimate import size_of
from torchsleuth.oracle.oracle import Oracle
from torchsleuth.schema import MemoryEstimate
from torchsleuth.worker.engine import Engine
from torchsleuth.worker.memory import changed_batch

F = 4
"""Bytes of a float32."""


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(Oracle(), times=PATIENT)


def estimate(engine: Engine, text: str, **asked: object) -> MemoryEstimate:
    memory = engine.estimate("train.py", text, **asked).memory  # type: ignore[arg-type]
    assert memory is not None
    return memory


LINEAR = """import torch
from torch import nn

model = nn.Linear(100, 50)
optimizer = torch.optim.{optimizer}
for step in range(3):
    x = torch.randn(8, 100)
    loss = model(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
PARAMETERS = (100 * 50 + 50) * F


@pytest.mark.parametrize(
    ("optimizer", "states"),
    [
        ("SGD(model.parameters(), lr=0.1)", 0),
        ("SGD(model.parameters(), lr=0.1, momentum=0.9)", 1),
        ("RMSprop(model.parameters(), lr=0.1)", 1),
        ("Adagrad(model.parameters(), lr=0.1)", 1),
        ("Adam(model.parameters())", 2),
        ("AdamW(model.parameters(), amsgrad=True)", 3),
    ],
)
def test_the_state_of_an_optimizer_is_counted(engine: Engine, optimizer: str, states: int) -> None:
    found = estimate(engine, LINEAR.replace("{optimizer}", optimizer))
    sums = found.sums()
    assert sums["parameter"] == PARAMETERS
    steps = 0 if optimizer.startswith("SGD") else 2 * F  # one number for each of the two parameters
    assert sums.get("optimizer", 0) == states * PARAMETERS + steps
    assert found.backward == 10 and found.batch == 8 and found.size == sum(sums.values())


def test_what_autograd_saves_is_counted_once(engine: Engine) -> None:
    text = """import torch
from torch import nn

first, second = nn.Linear(256, 256, bias=False), nn.Linear(256, 256, bias=False)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for step in range(3):
    x = torch.randn(1024, 256)
    h = torch.relu(first(x))
    loss = second(h).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    found = estimate(engine, text)
    sums, large = found.sums(), 1024 * 256 * F
    assert sums["parameter"] == 2 * 256 * 256 * F and sums["data"] == large
    # relu saves its result, which is h and what the second layer saves. In the next step, h of the step before is still there
    # while the first layer gives its result, and relu its own.
    assert found.phase == "forward" and sums["activation"] in (3 * large, 3 * large + F)


def test_a_checkpoint_saves_less(engine: Engine) -> None:
    text = """import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

blocks = nn.ModuleList([nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()) for _ in range(6)])
optimizer = torch.optim.SGD(blocks.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(4096, 64)
    for block in blocks:
        x = CALL
    loss = x.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    plain = estimate(engine, text.replace("CALL", "block(x)"))
    again = estimate(engine, text.replace("CALL", "checkpoint(block, x, use_reentrant=False)"))
    assert plain.size is not None and again.size is not None and again.size < 0.7 * plain.size


def test_autocast_halves_what_is_saved(engine: Engine) -> None:
    text = """import torch
from torch import nn

layers = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(8)])
optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
for step in range(3):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=ENABLED):
        loss = layers(torch.randn(4096, 64)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    plain, half = (estimate(engine, text.replace("ENABLED", enabled)) for enabled in ("False", "True"))
    # The saved results of the eight ReLUs; those of the layers are gone.
    one = 4096 * 64 * F
    assert plain.sums()["activation"] >= 8 * one
    assert 8 * one / 2 <= half.sums()["activation"] <= 0.6 * plain.sums()["activation"]


def test_frozen_layers_have_no_gradients(engine: Engine) -> None:
    text = """import torch
from torch import nn

backbone, head = nn.Linear(300, 300), nn.Linear(300, 10)
for p in backbone.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.Adam(head.parameters())
for step in range(3):
    loss = head(backbone(torch.randn(4, 300))).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
    found = estimate(engine, text)
    assert found.sums()["gradient"] == (300 * 10 + 10) * F


def test_gradients_are_accumulated_until_the_step(engine: Engine) -> None:
    text = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(640, 20), torch.randint(0, 3, (640,))), batch_size=32)
model = nn.Linear(20, 3)
optimizer = torch.optim.Adam(model.parameters())
for index, (x, y) in enumerate(loader):
    loss = nn.functional.cross_entropy(model(x), y) / 4
    loss.backward()
    if (index + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
    found = estimate(engine, text)
    assert found.batch == 32 and found.sums()["optimizer"] == 2 * 63 * F + 2 * F


UNKNOWN = [
    ("loss = model(load(path))", "load(path)"),
    ("loss = helper.loss(model(torch.randn(2, 4)))", "line 10"),
]


@pytest.mark.parametrize(("line", "reason"), UNKNOWN)
def test_what_is_not_known_is_said(engine: Engine, line: str, reason: str) -> None:
    text = f"""import torch
import helper
from helper import load, path
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    {line}
    loss.backward()
    optimizer.step()
"""
    found = estimate(engine, text)
    assert found.size is None and found.reason and not found.parts


def test_what_only_cudnn_knows_is_unknown(engine: Engine) -> None:
    text = (
        "import torch\nfrom torch import nn\nlstm = nn.LSTM(4, 8)\noptimizer = torch.optim.SGD(lstm.parameters(), 0.1)\n"
        "loss = lstm(torch.randn(5, 2, 4))[0].sum()\nloss.backward()\noptimizer.step()\n"
    )
    assert estimate(engine, text).size is not None
    found = estimate(engine, text, device="cuda")
    assert found.size is None and "only cuDNN knows what the LSTM on line 5 keeps" in found.reason


def test_parameters_that_are_not_known_make_it_unknown(engine: Engine) -> None:
    text = LINEAR.replace("{optimizer}", "Adam(choose(model))").replace(
        "import torch\n", "import torch\nfrom other import choose\n", 1
    )
    found = estimate(engine, text)
    assert found.size is None and "optimizer on line 6" in found.reason


def test_a_file_that_trains_nothing_is_unknown(engine: Engine) -> None:
    found = estimate(engine, "import torch\nmodel = torch.nn.Linear(2, 2)\n")
    assert found.size is None and "training step" in found.reason


def test_a_batch_of_another_size(engine: Engine) -> None:
    text = LINEAR.replace("{optimizer}", "SGD(model.parameters(), lr=0.1)")
    small, large = estimate(engine, text), estimate(engine, text, batch=800)
    assert large.batch == 800
    # While a batch is made, that of the iteration before is still there, until its name is bound to the new one.
    assert large.sums()["data"] == 100 * small.sums()["data"] == 2 * 800 * 100 * F


def test_the_largest_batch_that_fits(engine: Engine) -> None:
    text = LINEAR.replace("{optimizer}", "SGD(model.parameters(), lr=0.1)")
    limit = 10_000_000
    found = estimate(engine, text, limit=limit)
    assert found.fits is not None
    at, beyond = (estimate(engine, text, batch=found.fits + more).size for more in (0, found.fits // 50))
    assert at is not None and beyond is not None and at <= limit < beyond


def test_the_size_of_a_batch_is_found_in_the_text() -> None:
    named = "BATCH_SIZE = 32\nx = torch.randn(BATCH_SIZE, 32)\n"
    assert next(changed_batch(named, 32, 64)) == "BATCH_SIZE = 64\nx = torch.randn(BATCH_SIZE, 32)\n"
    option = 'parser.add_argument("--batch-size", type=int, default=16)\n'
    assert "default=8" in next(changed_batch(option, 16, 8))
    assert list(changed_batch("hidden = 32\n", 32, 64)) == []


def test_sizes() -> None:
    assert size_of("24GiB") == 24 << 30 and size_of("500 MB") == 500_000_000 and size_of("12") == 12
    assert size_of("much") is None


def test_the_command(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(LINEAR.replace("{optimizer}", "Adam(model.parameters())"))
    done = torchsleuth("estimate", str(script), "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["batch"] == 8 and found["size"] > 4 * PARAMETERS
    too_small = torchsleuth("estimate", str(script), "--device-memory", "10KB")
    assert too_small.returncode == 1 and "train.py:4" in too_small.stdout
    assert torchsleuth("estimate", str(script), "--device-memory", "much").returncode == 2


DEEP = """import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.one, self.two = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        return x + self.two(torch.tanh(self.one(x)))


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(32) for _ in range(5)])
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


model = Deep()
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    x = torch.randn(512, 32)
    loss = model(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def near(one: int | None, other: int) -> bool:
    return one is not None and abs(one - other) <= 0.01 * other


def test_a_remedy_takes_what_the_changed_script_takes(engine: Engine) -> None:
    remedies = {remedy.name: remedy for remedy in estimate(engine, DEEP).remedies}
    checkpoint = DEEP.replace("x = block(x)", "x = checkpoint(block, x, use_reentrant=False)")
    assert remedies["checkpoint"].about == "Block"
    assert near(estimate(engine, checkpoint).size, remedies["checkpoint"].size)
    assert near(estimate(engine, DEEP, batch=256).size, remedies["accumulation"].size)
    frozen = DEEP.replace("optimizer =", "model.blocks.requires_grad_(False)\noptimizer =")
    assert near(estimate(engine, frozen).size, remedies["freeze"].size)
    cast = DEEP.replace(
        "    loss = model(x).sum()", "    with torch.autocast('cpu', torch.bfloat16):\n        loss = model(x).sum()"
    )
    assert near(estimate(engine, cast).size, remedies["autocast"].size)


def test_updating_many_tensors_at_once_takes_temporaries_on_a_device(engine: Engine) -> None:
    deep = "nn.Sequential(*[nn.Linear(100, 100) for _ in range(12)])"
    wide = LINEAR.replace("{optimizer}", "Adam(model.parameters())").replace("nn.Linear(100, 50)", deep)
    found = estimate(engine, wide, device="cuda")
    foreach = next(remedy for remedy in found.remedies if remedy.name == "foreach")
    assert found.phase == "step" and found.size is not None
    assert near(estimate(engine, wide, device="cpu").size, foreach.size)

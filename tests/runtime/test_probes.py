"""Probes: each kind says what is wrong with a script that fails it, and passes its healthy twin."""

from __future__ import annotations

import sys
from pathlib import Path

from torchsleuth.messages import messages_of
from torchsleuth.probing.data import workers
from torchsleuth.probing.learning import overfit, rates
from torchsleuth.probing.result import Result
from torchsleuth.probing.session import KINDS, Request
from torchsleuth.probing.shown import lines
from torchsleuth.runtime.probes.workers import seconds_of
from torchsleuth.runtime.session import Run


def ask(tmp_path: Path, kind: str, text: str, **options: object) -> Result:
    script = tmp_path / "script.py"
    script.write_text(text)
    request = Request(kind, str(script), interpreter=sys.executable, **options)  # type: ignore[arg-type]
    output: list[str] = []

    def listen(job: Run) -> None:
        job.on_output = output.append

    request.start = listen
    return request.answer()


def line_of(result: Result) -> str:
    """The text of the line that a result is about."""
    assert result.place is not None
    return Path(result.place.path).read_text().splitlines()[result.place.start.line - 1].strip()


LOG_OF_ZERO = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
hidden = torch.zeros(16, 3).masked_fill(torch.arange(3) == 2, float("-inf"))
y = y.clamp(max=1)
for step in range(30):
    shown = torch.softmax(model(x) * SCALE + hidden, 1)
    logs = torch.log(shown + FLOOR)
    loss = -logs[range(16), y].mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ROOT_OF_ZERO = """
import torch
x = torch.randn(8, 3)
center = torch.nn.Parameter(x[0].clone())
optimizer = torch.optim.SGD([center], 0.1)
for step in range(4):
    distance = ((x - center) ** 2).sum(1)
    loss = torch.sqrt(distance + FLOOR).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_where_a_loss_became_infinite(tmp_path: Path) -> None:
    bad = ask(tmp_path, "nonfinite", LOG_OF_ZERO.replace("SCALE", "500").replace("FLOOR", "0"))
    assert (bad.outcome, line_of(bad)) == ("found", "logs = torch.log(shown + FLOOR)".replace("FLOOR", "0"))
    assert bad.message.startswith("log gives -inf out of finite operands, and the loss is not finite in step 1")
    assert bad.place is not None and bad.place.start.column == 12
    found = bad.measured["found"]
    assert found["operands"][0]["shape"] == [16, 3] and found["operands"][0]["at"] == 0
    # A mask of -inf is meant.
    good = ask(tmp_path, "nonfinite", LOG_OF_ZERO.replace("SCALE", "1").replace("FLOOR", "1e-6"))
    assert (good.outcome, good.message) == ("passed", "every loss and gradient was finite, in 30 steps")


def test_where_a_gradient_became_nan(tmp_path: Path) -> None:
    bad = ask(tmp_path, "nonfinite", ROOT_OF_ZERO.replace("FLOOR", "0"))
    assert bad.outcome == "found" and line_of(bad).startswith("loss = torch.sqrt(")
    assert "the gradient of Sqrt is inf" in bad.message or "the gradient of Sqrt is nan" in bad.message
    good = ask(tmp_path, "nonfinite", ROOT_OF_ZERO.replace("FLOOR", "1e-6"), steps=2)
    assert (good.outcome, good.measured["steps"]) == ("passed", 2)


def test_a_nan_in_the_data_comes_from_outside(tmp_path: Path) -> None:
    text = """
import numpy, torch
data = numpy.ones((32, 3), dtype="float32")
data[7, 1] = numpy.nan
x = torch.from_numpy(data)
layer = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(layer.parameters(), 0.1)
layer(x).mean().backward()
optimizer.step()
"""
    result = ask(tmp_path, "nonfinite", text)
    assert (result.outcome, line_of(result)) == ("found", "x = torch.from_numpy(data)")
    assert result.measured["found"]["born"] == "outside" and "what comes in here is nan already" in result.message
    assert "1 not finite, nan at [7, 1]" in result.details[0]
    assert [place.start.line for _, place in result.related] == [8]


TRAINING = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(256, 4)
y = (x @ torch.randn(4, 3)).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), RATE)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=16)
for epoch in range(2):
    with torch.no_grad():
        for x, y in loader:
            model(x)
    for x, y in loader:
        loss = nn.functional.cross_entropy(OUTPUT, y, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
"""


def training(rate: str = "0.01", output: str = "model(x)") -> str:
    return TRAINING.replace("RATE", rate).replace("OUTPUT", output)


def test_one_batch_is_learnt(tmp_path: Path) -> None:
    bad = ask(tmp_path, "overfit", training(output="model(x).detach().requires_grad_()"), steps=40)
    assert bad.outcome == "found" and line_of(bad) == "loss.backward()"
    assert bad.message.startswith("one batch is not learnt: its loss is ") and "of Adam with lr=" in bad.message
    good = ask(tmp_path, "overfit", training(), steps=100)
    assert good.outcome == "passed" and len(good.curve) >= 100 and good.curve[-1][1] < 0.1


def test_a_batch_that_is_indexed_is_held(tmp_path: Path) -> None:
    """Labels that have nothing to do with the inputs can be learnt by heart only where the batch stays the same."""
    text = """
import torch
torch.manual_seed(0)
x, y = torch.randn(256, 8), torch.randint(0, 4, (256,))
model = torch.nn.Sequential(torch.nn.Linear(8, 128), torch.nn.ReLU(), torch.nn.Linear(128, 4))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
while True:
    order = torch.randperm(256)
    for start in range(0, 256, 32):
        rows = order[start : start + 32]
        inputs, labels = x[rows], y[torch.randperm(256)[:32]]
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    result = ask(tmp_path, "overfit", text, steps=150)
    assert (result.outcome, result.measured["loader"]) == ("passed", False) and result.measured["pinned"]


def test_learning_rates(tmp_path: Path) -> None:
    good = ask(tmp_path, "lr", training())
    assert good.outcome == "passed" and good.measured["own"] == 0.01 and line_of(good).startswith("optimizer = ")
    assert 1e-4 < good.measured["suggestion"] < 1 and len(good.curve) > 50
    high = ask(tmp_path, "lr", training(rate="9.0"))
    assert high.outcome == "found" and high.message.startswith("lr=9 is too high")


def test_why_there_is_no_answer(tmp_path: Path) -> None:
    crashed = ask(tmp_path, "overfit", "import torch\ntorch.ones(2) @ torch.ones(3)\n")
    assert crashed.outcome == "impossible" and crashed.message.startswith("no result")
    assert crashed.diagnosis is not None and crashed.diagnosis.code == "TS101"
    assert crashed.place is not None and crashed.place.start == crashed.diagnosis.start
    nothing = ask(tmp_path, "overfit", "print(1)\n")
    assert (nothing.outcome, nothing.message.partition(":")[0]) == ("impossible", "no result")


FUNCTIONS = """
import torch

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * x * weight

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        return FACTOR * gradient * x * weight, (gradient * x * x).sum(0)

class Positive(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * (ctx.saved_tensors[0] > 0)

class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sign()

    @staticmethod
    def backward(ctx, gradient):
        return gradient

class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return -gradient

weight = torch.nn.Parameter(torch.ones(10))
optimizer = torch.optim.SGD([weight], 0.01)
x = torch.randn(64, 10)
x[0] = 0
while True:
    hidden = Positive.apply(x * weight) + Sign.apply(x * weight) + Reversed.apply(weight)
    optimizer.zero_grad()
    Square.apply(hidden, weight).mean().backward()
    optimizer.step()
"""


def test_gradients_of_functions(tmp_path: Path) -> None:
    """At the kink of one Function there is no derivative, and two are none on purpose."""
    bad = ask(tmp_path, "gradcheck", FUNCTIONS.replace("FACTOR", "1"))
    assert bad.outcome == "found" and bad.message.startswith("Square.backward() is wrong")
    assert bad.place is not None and bad.place.start.line == 11 and line_of(bad) == "def backward(ctx, gradient):"
    assert "what it gives is 0.5 times what it should be" in bad.details
    good = ask(tmp_path, "gradcheck", FUNCTIONS.replace("FACTOR", "2"))
    assert good.outcome == "passed"
    statuses = {item["name"]: item["status"] for item in good.measured["functions"]}
    assert statuses == {"Square": "right", "Positive": "right", "Sign": "constant", "Reversed": "identity"}


NETWORK = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.2)
        self.last = nn.Linear(256, 10)

    def forward(self, images):
        hidden = self.drop(torch.relu(self.norm(self.conv(images))))
        hidden = HIDDEN
        return self.last(hidden)

data = TensorDataset(torch.randn(64, 1, 8, 8), torch.randint(0, 10, (64,)))
model = Network()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for images, labels in DataLoader(data, batch_size=16):
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_samples_that_mix(tmp_path: Path) -> None:
    good = ask(tmp_path, "independence", NETWORK.replace("HIDDEN", "hidden.flatten(1)"))
    assert good.outcome == "passed" and "Network" in good.message
    assert good.measured["batch_norm"] == 1 and good.measured["modes"]["train"]["itself"]
    for wrong in ("(hidden - hidden.mean(0)).flatten(1)", "hidden.permute(1, 2, 3, 0).reshape(-1, 256)"):
        bad = ask(tmp_path, "independence", NETWORK.replace("HIDDEN", wrong))
        assert (bad.outcome, line_of(bad)) == ("found", f"hidden = {wrong}")
        assert bad.message.startswith("samples mix: output ")


RANDOM = """
import random
import numpy
import torch
torch.manual_seed(0)
SEED
x = torch.from_numpy(numpy.random.normal(size=(32, 4)).astype("float32"))
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
while True:
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_two_runs_compared(tmp_path: Path) -> None:
    good = ask(tmp_path, "determinism", RANDOM.replace("SEED", "numpy.random.seed(0)"), steps=3)
    assert (good.outcome, len(good.measured["losses"])) == ("passed", 2)
    bad = ask(tmp_path, "determinism", RANDOM.replace("SEED", ""), steps=3)
    assert bad.outcome == "found" and "numpy is not seeded; with seeds they agree" in bad.message
    assert line_of(bad).startswith("x = torch.from_numpy(") and len(bad.measured["losses"]) == 4


def test_workers_of_a_loader(tmp_path: Path) -> None:
    """What is measured depends on the machine; that it is measured does not."""
    text = training().replace("batch_size=32", "batch_size=16")
    result = ask(tmp_path, "workers", text, steps=3)
    assert result.outcome in ("passed", "found") and line_of(result).startswith("loader = DataLoader(")
    assert [item["workers"] for item in result.measured["measured"]][:2] == [0, 2]
    assert all(item["seconds"] > 0 for item in result.measured["measured"])


def test_the_time_of_a_batch() -> None:
    now = iter([0.0, 5.0, 6.0, 7.0, 8.0])
    found = seconds_of(iter("abcd"), lambda: next(now))
    assert found == {"start": 5.0, "batches": 3, "seconds": 1.0}


def measured(own: int, times: dict[int, float], computing: float) -> dict[str, object]:
    found = [{"workers": count, "seconds": time} for count, time in times.items()]
    return {"steps": 5, "own": own, "computing": computing, "loader": None, "measured": found}


def test_the_gain_of_workers() -> None:
    slow = workers(measured(0, {0: 0.05, 2: 0.03, 4: 0.015}, 0.02), lambda place: None)
    assert (slow.outcome, slow.message) == (
        "found",
        "num_workers=4 makes a step 71 % shorter: 20 ms instead of 70 ms with 0",
    )
    assert workers(measured(4, {0: 0.05, 4: 0.015}, 0.02), lambda place: None).outcome == "passed"
    assert workers(measured(0, {0: 0.0001, 2: 0.004}, 0.02), lambda place: None).outcome == "passed"


def test_curves_of_learning_rates() -> None:
    """Without a run: a rate that diverges, one that is far too low, and a loss that no rate moves."""
    known = [1e-7 * 10 ** (8 * step / 99) for step in range(100)]
    falls = [2.0 - 1.5 * min(1, rate / 1e-2) + (0 if rate < 0.3 else 5 * rate) for rate in known]
    for own, outcome, said in (
        (1e-2, "passed", "in the range"),
        (3.0, "found", "too high"),
        (1e-7, "found", "too low"),
    ):
        result = rates({"rates": known, "losses": falls, "own": own, "place": None}, lambda place: None)
        assert result.outcome == outcome and said in result.message
    flat = rates({"rates": known, "losses": [2.0] * 100, "own": 0.1, "place": None}, lambda place: None)
    assert flat.outcome == "found" and flat.message.startswith("the loss does not fall at any rate")


def test_a_script_that_is_stopped(tmp_path: Path) -> None:
    """Of one that never trains, and of one that goes on when it is told to end."""
    script = tmp_path / "script.py"
    script.write_text("import time, torch\nprint('ready', flush=True)\nwhile True:\n    time.sleep(60)\n")
    request = Request("overfit", str(script), interpreter=sys.executable, timeout=3600)

    def stop(job: Run) -> None:
        job.on_output = lambda text: job.time_out()  # as if it were over

    request.start = stop
    result = request.answer()
    assert (result.outcome, result.message.partition(":")[0]) == ("impossible", "no result after 3.6e+03 s")
    stubborn = "\n".join(f"    {line}" for line in training().splitlines())
    result = ask(tmp_path, "independence", f"while True:\n  try:\n{stubborn}\n  except BaseException:\n    pass\n")
    assert result.outcome == "passed"


def test_two_optimizers_have_no_common_loss() -> None:
    measured = {"losses": [1.0] * 50, "place": None, "rate": 0.1, "optimizer": "Adam", "optimizers": 2}
    assert overfit(measured, lambda place: None).outcome == "impossible"


def test_each_kind_has_its_question_on_the_page() -> None:
    assert tuple(messages_of("page.probe.")) == KINDS


def test_a_crash_is_told_in_lines_with_its_place_and_first_fix(tmp_path: Path) -> None:
    crashed = ask(tmp_path, "overfit", 'batch = {"label": 1}\nbatch["labels"]\n')
    told = list(lines(crashed))
    assert told[0].startswith("overfit: no answer: no result: the script crashed first")
    assert told[1:] == ["  script.py:2", '  Change "labels" to "label"']


def test_a_request_that_is_stopped_runs_nothing_more(tmp_path: Path) -> None:
    script, runs = tmp_path / "script.py", []
    script.write_text("import torch\nx = torch.ones(3)\n")

    def stop(job: Run) -> None:
        runs.append(job)
        job.on_output = lambda text: None
        job.cancel()

    request = Request("determinism", str(script), interpreter=sys.executable, start=stop)
    assert request.answer().outcome == "impossible" and len(runs) == 1

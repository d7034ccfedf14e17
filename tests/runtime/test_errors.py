"""Every entry of the error table: its example raises it on the installed torch, and its fix takes the error away."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.runtime.inprocess import Observed, execute
from torchsleuth.errors.catalogue import CATALOGUE
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.explanations import family
from torchsleuth.faults import FAULTS
from torchsleuth.schema import Position
from torchsleuth.syntax.text import SourceText

SHOWN = [entry for entry in CATALOGUE if entry.example is not None]
NO_PYTORCH_FIX = {"import numpy as np"}


def script(entry: ErrorEntry) -> str:
    return f"import torch\n{entry.example}\n"


def repaired(observed: Observed, number: int = 0) -> str:
    path = str(observed.path)
    return SourceText(path, observed.path.read_text()).apply(observed.diagnostic.fixes[number].edits)


@pytest.mark.parametrize("entry", SHOWN, ids=lambda entry: f"{entry.code}-{entry.pattern.pattern[:40]}")
def test_the_example_raises_it_and_the_first_fix_repairs_it(entry: ErrorEntry, tmp_path: Path) -> None:
    observed = execute(tmp_path / "script.py", script(entry))
    assert observed.error is not None, "the example does not fail"
    found = observed.diagnostic
    code = entry.code or family(observed.crash["message"])
    assert code is not None and found.code == code and found.name == FAULTS[code].name
    assert entry.pattern.search(observed.crash["message"] or observed.crash["type"])
    assert found.layer == "run" and "\n" not in found.message
    assert not re.match(r"\w+(Error|Exception): ", found.message) or entry.text != "error.generic"
    if found.fixes:
        again = execute(tmp_path / "script.py", repaired(observed))
        assert again.error is None or again.crash["message"] != observed.crash["message"]
        assert not any(fix.verified for fix in found.fixes), "only a run of the repaired script verifies"


def test_codes_have_names_and_patterns_are_distinct() -> None:
    assert all(entry.code is None or entry.code in FAULTS for entry in CATALOGUE)
    # Those without a pattern are told apart by the kind of what ended the process.
    patterns = [entry.pattern.pattern for entry in CATALOGUE if entry.pattern.pattern]
    assert len(set(patterns)) == len(patterns)


def fixes_of(tmp_path: Path, text: str) -> tuple[str, list[str]]:
    observed = execute(tmp_path / "script.py", text)
    assert observed.error is not None
    return observed.diagnostic.code, [repaired(observed, number) for number in range(len(observed.diagnostic.fixes))]


NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(12, 2)

    def forward(self, x):
        {flatten}
        return self.fc(x)

Net()(torch.zeros(4, 3, 2, 2))
"""


@pytest.mark.parametrize("bad", ["x.flatten()", "torch.flatten(x)", "x.view(1, -1)", "x.reshape(-1)"])
def test_one_row_is_a_bad_flatten_not_a_wrong_in_features(tmp_path: Path, bad: str) -> None:
    code, texts = fixes_of(tmp_path, NET.format(flatten=f"x = {bad}"))
    assert code == "TS101"
    assert execute(tmp_path / "script.py", texts[0]).error is None
    assert all("nn.Linear(12, 2)" in text for text in texts)


def test_the_written_size_changes_wherever_it_was_passed_from(tmp_path: Path) -> None:
    text = (
        "import torch\nfrom torch import nn\n\ndef stage(a, b):\n    return nn.Sequential(nn.Conv2d(a, b, 3), nn.ReLU())\n\n"
        "net = nn.Sequential(stage(3, 8), stage(4, 6))\nnet(torch.zeros(2, 3, 9, 9))\n"
    )
    code, texts = fixes_of(tmp_path, text)
    assert code == "TS102" and "stage(3, 8), stage(8, 6)" in texts[0]
    assert execute(tmp_path / "script.py", texts[0]).error is None


def test_a_field_of_the_config_is_preferred_to_a_number(tmp_path: Path) -> None:
    text = (
        "import torch\nfrom dataclasses import dataclass\nfrom torch import nn\n\n@dataclass\nclass Config:\n    emb: int = 6\n"
        "    hidden: int = 8\n\ndef build(cfg):\n    return nn.GRU(cfg.hidden, cfg.hidden)\n\n"
        "rnn = build(Config())\nrnn(torch.zeros(2, 3, 6))\n"
    )
    code, texts = fixes_of(tmp_path, text)
    assert code == "TS110" and "nn.GRU(cfg.emb, cfg.hidden)" in texts[0]


def test_channels_last_pictures_are_permuted_but_square_channels_first_ones_are_not(tmp_path: Path) -> None:
    text = "import torch\nfrom torch import nn\nconv = nn.Conv2d(3, 4, 3)\nx = torch.zeros(2, 8, 9, 3)\nconv(x)\n"
    _, texts = fixes_of(tmp_path, text)
    assert "conv(x.permute(0, 3, 1, 2))" in texts[0]
    _, texts = fixes_of(tmp_path, text.replace("nn.Conv2d(3", "nn.Conv2d(9").replace("8, 9, 3", "3, 9, 9"))
    assert "nn.Conv2d(3, 4, 3)" in texts[0]


def test_every_operand_of_the_failing_line_is_named_with_its_size(tmp_path: Path) -> None:
    text = "import torch\nweights = torch.zeros(3)\ny = torch.zeros(2, 4)[:, :2] * weights\n"
    found = execute(tmp_path / "script.py", text).diagnostic
    assert (found.start, found.end) == (Position(3, 5), Position(3, 39))
    assert "`torch.zeros(2, 4)[:, :2]` (2, 2)" in found.message and "`weights` (3,)" in found.message


def test_an_error_without_pytorch_is_not_dressed_up_as_one(tmp_path: Path) -> None:
    found = execute(tmp_path / "script.py", "a, b, c = 'xy'\n").diagnostic
    assert (found.code, found.start.line, found.fixes) == ("TS918", 1, ())


def test_columns_count_code_points(tmp_path: Path) -> None:
    found = execute(
        tmp_path / "script.py", 'import torch\nprint("中文😋", torch.zeros(2) + torch.zeros(3), file=None)\n'
    ).diagnostic
    assert (found.start, found.end) == (Position(2, 14), Position(2, 45))


def test_an_assertion_of_the_device_tells_where_indices_and_classes_are_used(tmp_path: Path) -> None:
    """It arrives at whatever line waits for the device next."""
    text = (
        "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
        "table, head = nn.Embedding(10, 4), nn.Linear(4, 3)\nids, y = torch.arange(5), torch.arange(5) % 3\n"
        "loss = F.cross_entropy(head(table(ids)), y)\n\ndef report(value):\n"
        '    raise RuntimeError("CUDA error: device-side assert triggered\\nCUDA kernel errors might be reported later")\n'
        "report(loss)\n"
    )
    found = execute(tmp_path / "script.py", text).diagnostic
    assert found.code == "TS310" and "--device cpu" in found.message
    told = {related.start.line for related in found.related if "may be out of its range" in related.message}
    assert told == {4, 6}


DISPATCH = """
class Scaled(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.tanh:
            return torch.cat([args[0].as_subclass(torch.Tensor), torch.ones(1, 9)])
        return super().__torch_function__(function, types, args, kwargs or {})


def apply(x, weight):
    return OPERATION


x = torch.ones(2, 3).as_subclass(Scaled)
apply(x, torch.ones(4, 2))
"""


@pytest.mark.parametrize(("operation", "line"), [("x @ weight", 11), ("x.tanh()", 6)])
def test_an_operator_that_a_subclass_passes_on_fails_where_it_is_written(
    tmp_path: Path, operation: str, line: int
) -> None:
    text = "import torch\n" + DISPATCH.lstrip("\n").replace("OPERATION", operation)
    assert execute(tmp_path / "script.py", text).diagnostic.start.line == line


def test_the_latest_dtype_of_a_place_is_told(tmp_path: Path) -> None:
    text = (
        "import torch\n\ndef made(n):\n    return torch.ones(n, 3, dtype=torch.float64 if n == 2 else torch.float32)\n\n"
        "layer = torch.nn.Linear(3, 1)\nfor n in (1, 2):\n    layer(made(n))\n"
    )
    found = execute(tmp_path / "script.py", text).diagnostic
    assert "`made(n)` (2, 3) float64" in found.message and found.fixes[0].title == "Write made(n).float()"

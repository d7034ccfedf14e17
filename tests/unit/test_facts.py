"""What the analysis says about tensor expressions: each statement holds for every execution."""

from __future__ import annotations

import textwrap

import pytest

from tests.check import analyze
from torchsleuth.schema import TensorFact
from torchsleuth.worker.structure import structure


def facts(text: str, name: str) -> list[TensorFact]:
    return [item for item in analyze(textwrap.dedent(text)).facts if item.binding == name]


def test_executions_that_differ_are_variants() -> None:
    text = "import torch\ndef double(x):\n    return x * 2\ndouble(torch.zeros(3, 4))\ndouble(torch.zeros(5, 4))\n"
    (fact,) = facts(text, "x")
    assert fact.shape == ("?", 4) and fact.variants == ((3, 4), (5, 4)) and fact.dtype == "float32"
    assert structure(fact.to_json(), TensorFact) == fact


def test_executions_of_different_rank_have_variants_only() -> None:
    text = "import torch\ndef f(x):\n    return x\nf(torch.zeros(3))\nf(torch.zeros(5, 4))\n"
    (fact,) = facts(text, "x")
    assert fact.shape is None and fact.variants == ((3,), (5, 4))


def test_executions_of_different_dtype_have_variants_with_theirs() -> None:
    text = "import torch\ndef f(x):\n    return x\nf(torch.zeros(3))\nf(torch.zeros(5, 4).long())\n"
    (fact,) = facts(text, "x")
    assert fact.dtype is None and fact.variants == ((3,), (5, 4)) and fact.dtypes == ("float32", "int64")
    assert structure(fact.to_json(), TensorFact) == fact


def test_nothing_is_said_where_one_execution_is_not_known() -> None:
    text = "import torch, somewhere\ndef f(x):\n    y = x\n    return y\nf(torch.zeros(3))\nf(somewhere.tensor())\n"
    assert facts(text, "x") == facts(text, "y") == []


def test_what_is_found_out_later_is_in_the_fact() -> None:
    text = "import torch\nfrom torch import nn\nclass M(nn.Module):\n    def forward(self, x):\n        B, T, C = x.shape\n        return x\n"
    (fact,) = facts(text, "x")
    assert fact.shape == ("B", "T", "C")


def test_a_base_class_is_known_by_what_derives_from_it() -> None:
    text = (
        "import torch\nfrom torch import nn\nclass Base(nn.Module):\n    def forward(self, x):\n        return self.inner(x)\n"
        "class Own(Base):\n    def inner(self, x):\n        return x * 2\nOwn()(torch.zeros(3))\n"
    )
    assert {fact.shape for fact in facts(text, "x")} == {(3,)}


DEMANDED = """import sys
import torch
from torch import nn

n = int(sys.argv[1])
x = torch.randn(2, n)
y = nn.Linear(8, 4)(x)
z = x * 2
"""


def test_a_size_that_is_only_demanded_later_is_supposed() -> None:
    (x,), (y,), (z,) = (facts(DEMANDED, name) for name in "xyz")
    assert x.shape == (2, 8) and x.supposed and x.demanded == (1,)
    assert x.describe() == "[2, 8?] float32 cpu"
    assert structure(x.to_json(), TensorFact) == x
    # The execution came here: it was 8.
    assert z.shape == (2, 8) and not z.supposed and y.describe() == "[2, 4] float32 cpu" and not y.supposed


def test_what_nothing_but_a_condition_demands_is_not_even_supposed() -> None:
    text = DEMANDED.replace("y = ", "if len(sys.argv) > 2:\n    y = ")
    (x,), (z,) = facts(text, "x"), facts(text, "z")
    assert x.describe() == z.describe() == "[2, n] float32 cpu"


def test_a_size_that_code_demands_which_nothing_calls_is_supposed_everywhere() -> None:
    text = DEMANDED.replace("y = ", "def never():\n    ").replace("z = x * 2", "def other():\n    z = x")
    (x,), (z,) = facts(text, "x"), facts(text, "z")
    assert x.demanded == z.demanded == (1,)


def test_cuda_if_available_is_said_with_a_question_mark() -> None:
    text = (
        "import torch\nd = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\nx = torch.ones(2, device=d)\n"
    )
    (fact,) = facts(text + "y = x.cpu()\n", "x")
    assert fact.device == "cuda?" and fact.describe() == "[2] float32 cuda?"
    assert [item.device for item in facts(text + "y = x.cpu()\n", "y")] == ["cpu"]
    (certain,) = facts("import torch\nx = torch.ones(2, device='cuda:1')\n", "x")
    assert certain.device == "cuda:1"


def test_a_scalar_says_so() -> None:
    (fact,) = facts("import torch\nx = torch.ones(2).sum()\n", "x")
    assert fact.shape == () and fact.describe() == "scalar float32 cpu"
    assert fact.describe(devices=False) == "scalar float32"


BEHIND = """import torch
from torch import nn

x = torch.randn(64, 3, 8, 8)
a = {layer}(x)
b = a.relu()
c = b.mean((2, 3))
d = nn.Linear(5, 2)(c)
e = d @ torch.randn(7, 7)
f = e + 1
"""


def test_hints_go_on_behind_a_layer_that_does_not_fit() -> None:
    found = analyze(BEHIND.format(layer="nn.Conv2d(4, 6, 3)"))
    known = {fact.binding: (fact.shape, fact.supposed) for fact in found.facts if fact.binding}
    assert known["x"] == ((64, 3, 8, 8), False)
    assert known["a"] == known["b"] == ((64, 6, 6, 6), True)
    assert known["c"] == ((64, 6), True) and known["d"] == ((64, 2), True)
    assert "f" not in known
    assert [item.start.line for item in found.diagnostics] == [5]
    (fact,) = [fact for fact in found.facts if fact.binding == "a"]
    assert fact.describe() == "[64, 6, 6, 6] float32 cpu ?"


LAYERS = {
    "nn.Linear(5, 2)": ((4, 7, 6), (4, 7, 2)),
    "nn.Conv1d(5, 2, 3)": ((4, 7, 6), (4, 2, 4)),
    "nn.ConvTranspose2d(5, 2, 3)": ((4, 7, 6, 6), (4, 2, 8, 8)),
    "nn.BatchNorm2d(5)": ((4, 7, 6, 6), (4, 5, 6, 6)),
    "nn.GroupNorm(1, 5)": ((4, 7, 6), (4, 5, 6)),
    "nn.LayerNorm(5)": ((4, 7, 6), (4, 7, 5)),
    "nn.LayerNorm([5, 8])": ((4, 7, 6), (4, 5, 8)),
    "nn.Sequential(nn.ReLU(), nn.Linear(5, 2))": ((4, 6), (4, 2)),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_what_a_layer_gives_that_does_not_fit(layer: str) -> None:
    given, stated = LAYERS[layer]
    text = f"import torch\nfrom torch import nn\nx = torch.randn{given}\ny = {layer}(x)\n"
    assert len(analyze(text).diagnostics) == 1
    assert [(fact.shape, fact.supposed) for fact in facts(text, "y")] == [(stated, True)]


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ("F.interpolate(x, scale_factor=scale)", (2, 4, "?", "?")),
        ("torch.nn.Upsample(scale_factor=scale)(x)", (2, 4, "?", "?")),
        ("F.dropout(x, scale, flag)", (2, 4, 5, 8)),
        ("F.scaled_dot_product_attention(x, x, x, is_causal=flag)", (2, 4, 5, 8)),
        ("torch.arange(0.0, 1.0, scale)", ("?",)),
    ],
)
def test_a_shape_holds_whatever_a_scalar_is_that_is_not_known(expression: str, shape: tuple[object, ...]) -> None:
    (fact,) = facts(SCALARS + f"y = {expression}\n", "y")
    assert fact.shape == shape


def test_a_switch_that_is_not_known_leaves_the_rank_open() -> None:
    assert facts(SCALARS + "y = x.sum(0, keepdim=flag)\n", "y") == []


def test_a_text_that_is_not_known_is_refused_by_nothing() -> None:
    assert analyze(SCALARS + "print(F.mse_loss(x, x, reduction=str(os.environ.get('R'))))\n").diagnostics == ()


SCALARS = """import os
import torch
import torch.nn.functional as F

x = torch.randn(2, 4, 5, 8)
scale, flag = float(os.environ["S"]), bool(os.environ.get("F"))
"""


def test_a_number_that_is_a_default_is_supposed_where_nothing_calls_the_code() -> None:
    text = """
    import torch
    from torch import nn

    class Squeeze(nn.Module):
        def __init__(self, width{default}):
            super().__init__()
            self.fc = nn.Linear(width, 8)

        def forward(self, x):
            B, T, C = x.shape
            y = x.mean(1)
            z = self.fc(y)
            return z
    """
    y, z = (facts(text.replace("{default}", "=32"), name)[0] for name in ("y", "z"))
    assert y.shape == ("B", 32) and y.supposed
    assert z.shape == ("B", 8) and z.supposed
    (z,) = facts(text.replace("{default}", ": int"), "z")
    assert z.shape == ("B", 8) and not z.supposed
    called = text.replace("{default}", "=32") + "\n    Squeeze()(torch.zeros(2, 5, 32))\n"
    (z,) = facts(called, "z")
    assert z.shape == (2, 8) and not z.supposed


def test_what_is_computed_from_something_unknown_is_unknown() -> None:
    (y,) = facts(
        "import torch\ndef f(n):\n    x = torch.zeros(4, int(n))\n    y = x.view(4, 2, -1)\n    return y\n", "y"
    )
    assert y.shape == (4, 2, "?")

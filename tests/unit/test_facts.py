"""What the analysis says about tensor expressions: each statement holds for every execution."""

from __future__ import annotations

from tests.check import analyze
from torchsleuth.schema import TensorFact


def facts(text: str, name: str) -> list[TensorFact]:
    return [item for item in analyze(text).facts if item.binding == name]


def test_executions_that_differ_are_variants() -> None:
    text = "import torch\ndef double(x):\n    return x * 2\ndouble(torch.zeros(3, 4))\ndouble(torch.zeros(5, 4))\n"
    (fact,) = facts(text, "x")
    assert fact.shape == ("?", 4) and fact.variants == ((3, 4), (5, 4)) and fact.dtype == "float32"
    assert TensorFact.from_json(fact.to_json()) == fact


def test_executions_of_different_rank_have_variants_only() -> None:
    text = "import torch\ndef f(x):\n    return x\nf(torch.zeros(3))\nf(torch.zeros(5, 4))\n"
    (fact,) = facts(text, "x")
    assert fact.shape is None and fact.variants == ((3,), (5, 4))


def test_executions_of_different_dtype_have_variants_with_theirs() -> None:
    text = "import torch\ndef f(x):\n    return x\nf(torch.zeros(3))\nf(torch.zeros(5, 4).long())\n"
    (fact,) = facts(text, "x")
    assert fact.dtype is None and fact.variants == ((3,), (5, 4)) and fact.dtypes == ("float32", "int64")
    assert TensorFact.from_json(fact.to_json()) == fact


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

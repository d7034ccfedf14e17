"""Shapes in comments and annotations: what is read as one, where it stands, and what the analysis makes of it."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tests.check import analyze
from torchsleuth.syntax.shapes import Declared, declarations
from torchsleuth.syntax.text import SourceText


def statement(comment: str) -> Declared | None:
    text = f"x = f(y)  # {comment}\n"
    found = declarations(SourceText("a.py", text), ast.parse(text)).statements
    return next(iter(found.values()), None)


@pytest.mark.parametrize(
    ("comment", "sizes", "spread"),
    [
        ("(B, T, C)", ["B", "T", "C"], None),
        ("[N, C, H, W]", ["N", "C", "H", "W"], None),
        ("x: (B, T)", ["B", "T"], None),
        ("(64,)", [64], None),
        ("shape (t)", ["t"], None),
        ("becomes (B, C)", ["B", "C"], None),
        ("(B, nh, T, T) x (B, nh, T, hs) -> (B, nh, T, hs)", ["B", "nh", "T", "hs"], None),
        ("(B, T+1, 2*C)", ["B", None, None], None),
        ("(B, ..., 3)", ["B", 3], 1),
        ("[N x C]", ["N", "C"], None),
        ("shape [55x3]", [55, 3], None),
        ("(B=32, T)", [32, "T"], None),
    ],
)
def test_comment(comment: str, sizes: list[object], spread: int | None) -> None:
    declared = statement(comment)
    assert declared is not None
    assert [part.size for part in declared.dims] == sizes
    assert declared.spread == spread


@pytest.mark.parametrize(
    "comment",
    [
        "(see above)",
        "y: (B, T)",
        "(B, T) or (B, C)",
        "(B, T) @ (T, C)",
        "e.g. (1, 2)",
        "[0]",
        "f(a, b)",
        "shape [NxCx3]",
    ],
)
def test_no_shape(comment: str) -> None:
    assert statement(comment) is None


ANNOTATED = """
import jaxtyping as jt
from jaxtyping import Float
from torchtyping import TensorType
Images = Float[Tensor, "batch 3 h w"]

def f(
    a: Float[Tensor, "b *rest #c 4"] | None,
    b: Images,
    c: jt.Int[Tensor, "b n=7 _ h-1"],
    d: TensorType["b", 3, "c":4, ..., float],
    e,  # (B, 5)
    g: Tensor,
) -> Images:
    pass

def h(x, y):
    # x: (B, T)
    # y: [T, 3]
    return x
"""


def test_annotations_and_parameters() -> None:
    found = declarations(SourceText("a.py", ANNOTATED), ast.parse(ANNOTATED))
    read = [([part.size for part in shape.dims], shape.spread) for _, shape in sorted(found.parameters.items())]
    assert read == [
        (["b", "c", 4], 1),
        (["batch", 3, "h", "w"], None),
        (["b", 7, None, None], None),
        (["b", 3, 4], 3),
        (["B", 5], None),
        (["B", "T"], None),
        (["T", 3], None),
    ]
    assert [part.may_be_one for part in found.parameters[(8, 4)].dims] == [False, True, False]
    assert len(found.results) == 1


def shapes(text: str) -> dict[str, object]:
    """The shapes of what is bound, by name; the last one counts."""
    return {fact.binding: fact.shape for fact in analyze(text).facts if fact.binding}


def test_comments_name_sizes() -> None:
    found = shapes("""
import torch

def batches(path):
    rows = torch.load(path)
    data = torch.zeros(len(rows), 3, len(path))  # (N, C, L)
    return data

batches("x")
""")
    assert found["data"] == ("N", 3, 1)


def test_declared_parameters_are_known_where_nothing_calls() -> None:
    found = shapes("""
import torch

def attention(q, k, v):
    # q: (B, H, T, D)
    # k: (B, H, S, D)
    # v: (B, H, S, D)
    scores = q @ k.transpose(-2, -1)
    out = scores.softmax(-1) @ v
    return out
""")
    assert found["scores"] == ("B", "H", "T", "S")
    assert found["out"] == ("B", "H", "T", "D")


def test_a_comment_that_the_code_contradicts_is_no_knowledge() -> None:
    analysis = analyze("""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):  # x: (B, T, C, 7, 7)
        y = self.conv(x)
        return y
""")
    assert [item.code for item in analysis.diagnostics] in ([], ["TS116"])
    assert not [fact for fact in analysis.facts if fact.binding == "x" and fact.shape and len(fact.shape) == 5]


def test_a_function_under_a_checker_is_what_it_is() -> None:
    found = analyze(
        dedent("""
        from beartype import beartype as typechecker
        from jaxtyping import Float, jaxtyped
        from torch import Tensor

        @jaxtyped(typechecker=typechecker)
        def weights(density: Float[Tensor, "rays samples"]) -> Float[Tensor, "rays samples"]:
            return density.softmax(-1)

        def colour(rgb: Float[Tensor, "rays samples 3"], density: Float[Tensor, "rays samples"]) -> Float[Tensor, "rays 3"]:
            return (weights(density)[..., None] * rgb).sum(dim=-1)
        """)
    )
    assert [(item.code, item.start.line) for item in found.diagnostics] == [("TS116", 10)]


def test_a_description_of_values_says_nothing_of_the_shape_behind_it() -> None:
    found = analyze('''
import torch

def pool(states, mask):
    """Average the states of real tokens.

    Args:
        states (torch.Tensor): encoder output of shape ``(batch, length, hidden)``.
        mask (torch.Tensor): 1 for real tokens, shape ``(batch, length)``.

    Returns:
        torch.Tensor: pooled states of shape ``(batch, hidden)``.
    """
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1, keepdim=True)
''')
    assert [item.code for item in found.diagnostics] == ["TS116"]

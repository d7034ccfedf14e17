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


def found_in(text: str) -> list[tuple[str, int]]:
    return [(item.code, item.start.line) for item in analyze(text).diagnostics]


ENCODER = '''
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self, input_dim, hidden_dim, latent_dim):
        super().__init__()
        self.hidden = nn.Linear(input_dim, hidden_dim)
        self.mean = nn.Linear(hidden_dim, latent_dim)
        self.variance = nn.Linear(hidden_dim, latent_dim)

    def forward(self, x):
        """
        Args:
            x: Tensor of shape (batch, input_dim)

        Returns:
            mean: Tensor of shape (batch, latent_dim)
            variance: Tensor of shape (batch, latent_dim)
        """
        h = torch.relu(self.hidden(x))
        return self.mean(h), self.variance(h)
'''


def test_each_of_several_results_is_described_under_its_name() -> None:
    assert not found_in(ENCODER)
    assert found_in(ENCODER.replace("self.variance(h)", "h")) == [("TS116", 19)]
    assert not found_in(ENCODER.replace("self.mean(h), self.variance(h)", "{'mean': h}"))


DESCRIBED = '''
import torch

def decode(logits):
    """
    Args:
        logits: float tensor of shape (batch, time, classes).

    Returns:
        LongTensor of shape (batch, time).
    """
    return logits.argmax(dim=-1)
'''


def test_a_description_names_a_dtype() -> None:
    assert not found_in(DESCRIBED)
    assert found_in(DESCRIBED.replace("logits.argmax(dim=-1)", "logits.max(dim=-1).values")) == [("TS116", 10)]
    assert not found_in(DESCRIBED.replace("logits.argmax(dim=-1)", "logits.argmax(dim=-1).int()"))


RECORD = """
from dataclasses import dataclass
import torch
from torch import Tensor
from jaxtyping import Float

@dataclass
class Gaussians:
    means: Float[Tensor, "batch gaussian dim"]
    opacities: Float[Tensor, "batch gaussian"]

def make(means: Float[Tensor, "b n d"], scales: Float[Tensor, "b d"]) -> Gaussians:
    return Gaussians(means, opacities=means[..., 0])
"""


def test_a_record_is_made_with_what_its_fields_declare() -> None:
    assert not found_in(RECORD)
    assert found_in(RECORD.replace("=means[..., 0]", "=means")) == [("TS116", 13)]
    assert found_in(RECORD.replace("=means[..., 0]", "=scales")) == [("TS116", 13)]
    broadcast = (
        '    opacities: Float[Tensor, "batch gaussian"]\n\n    def __post_init__(self):\n        self.opacities = 1\n'
    )
    text = RECORD.replace('    opacities: Float[Tensor, "batch gaussian"]\n', broadcast)
    assert not found_in(text.replace("=means[..., 0]", "=means"))


TAGGER = """
from torch import nn

class Tagger(nn.Module):
    def __init__(self, emb_dim, hidden_dim):
        super().__init__()
        self.lstm = nn.LSTM(emb_dim, hidden_dim, batch_first=True, bidirectional=True)

    def forward(self, x):
        # x: [batch, seq, emb_dim]
        h, _ = self.lstm(x)  # [batch, seq, 2 * hidden_dim]
        return h
"""


def test_a_comment_beside_several_variables_is_about_the_one_that_is_kept() -> None:
    assert not found_in(TAGGER)
    assert found_in(TAGGER.replace("2 * hidden_dim]", "hidden_dim]")) == [("TS116", 11)]
    assert not found_in(TAGGER.replace("h, _", "h, state").replace("2 * hidden_dim]", "hidden_dim]"))
    named = TAGGER.replace("h, _", "h, state").replace("[batch, seq, 2 * hidden_dim]", "h: [batch, seq, hidden_dim]")
    assert found_in(named) == [("TS116", 11)]


RAYS = '''
import torch
from torch import Tensor

def sample(origins: Tensor, directions: Tensor, n_samples: int) -> Tensor:
    """
    Args:
        origins: (N_rays, 3) where they begin
        directions: (N_rays, 3) where they go
        n_samples: number of points

    Returns:
        (N_rays, n_samples, 3) points
    """
    t = torch.linspace(0.0, 1.0, n_samples)
    return origins[:, None, :] + directions[:, None, :] * t[None, :, None]
'''


def test_what_describes_an_annotated_tensor_may_begin_with_its_shape() -> None:
    assert not found_in(RAYS)
    assert found_in(RAYS.replace("t[None, :, None]", "t[None, None, :, None]")) == [("TS116", 13)]


SECTION = '''
from torch import nn

class Block(nn.Module):
    """
    Shape:
        - Input: (N, C_in, H, W)
        - Output: (N, C_out, H, W)
    """

    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, 3, padding=1)

    def forward(self, x):
        return self.conv(x)
'''


def test_letters_in_a_section_of_shapes_are_sizes() -> None:
    assert not found_in(SECTION)
    assert found_in(SECTION.replace("padding=1", "padding=1, stride=2")) == [("TS116", 8)]

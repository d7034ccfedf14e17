"""Calls against the contract of what they call: the condition that a call breaks, named there, and repairs of its argument."""

from __future__ import annotations

import textwrap

import pytest

from tests.check import engine
from torchsleuth.schema import Diagnostic

MODELS = """
import torch
import torch.nn as nn


class Skip(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.MaxPool2d(2))
        self.mid = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.MaxPool2d(2))
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.head = nn.Conv2d(16, classes, 1)

    def forward(self, x):
        s = self.down(x)
        return self.head(torch.cat([self.up(self.mid(s)), s], dim=1))


class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        return self.q(x).view(b, t, self.heads, c // self.heads).transpose(1, 2)


class Positions(nn.Module):
    def __init__(self, vocab, width, longest):
        super().__init__()
        self.words = nn.Embedding(vocab, width)
        self.places = nn.Parameter(torch.zeros(1, longest, width))

    def forward(self, ids):
        b, t = ids.shape
        return self.words(ids) + self.places[:, :t]


class Stages(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1), nn.MaxPool2d(4), nn.Conv2d(4, 8, 3, padding=1), nn.MaxPool2d(4)
        )

    def forward(self, x):
        return self.body(x)


def windows(x, size):
    B, H, W, C = x.shape
    x = x.view(B, H // size, size, W // size, size, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size, size, C)
"""


def finding(text: str) -> Diagnostic:
    result = engine().analyze("main.py", textwrap.dedent(text), overlay={"models.py": MODELS}, roots=(".",))
    assert not result.stats["internal_errors"], result.stats["internal_errors"]
    (found,) = (one for one in result.diagnostics if one.severity == "error")
    return found


CALLS = {
    "multiple": (
        """
        import torch
        from models import Skip
        images = torch.rand(2, 3, 30, 32)
        out = Skip(classes=4)(images)
        """,
        "H//2 = 15 is not a multiple of 2, which cat at models.py:16 needs",
        "32",
    ),
    "keyword": (
        """
        import torch
        from models import Skip
        def run(net, batch):
            return net(x=batch)
        out = run(Skip(4), torch.rand(2, 3, 64, 50))
        """,
        "W//2 = 25 is not a multiple of 2, which cat at models.py:16 needs",
        "52",
    ),
    "constructor": (
        """
        import torch
        from models import Heads
        width = 50
        layer = Heads(width, heads=8)
        y = layer(torch.rand(2, 7, width))
        """,
        "width = 50 is not a multiple of heads = 8, which view at models.py:27 needs",
        None,
    ),
    "longest": (
        """
        import torch
        from models import Positions
        ids = torch.randint(0, 100, (4, 80))
        y = Positions(100, 16, longest=64)(ids)
        """,
        "t = 80 is more than longest = 64, the most that + at models.py:38 takes",
        "64",
    ),
    "least": (
        """
        import torch
        from models import Stages
        y = Stages()(torch.rand(1, 3, 12, 12))
        """,
        "H = W = 12 is less than 16, the least that MaxPool2d at models.py:49 takes",
        "16",
    ),
    "function": (
        """
        import torch
        from models import windows
        y = windows(torch.rand(2, 16, 18, 5), size=8)
        """,
        "W = 18 is not a multiple of 8, which view at models.py:54 needs",
        "24",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_call_names_the_condition(name: str) -> None:
    text, condition, repair = CALLS[name]
    found = finding(text)
    assert found.path.endswith("models.py")
    notes = [place.message for place in found.related if place.call and place.path == "main.py"]
    assert any(condition in note for note in notes), notes
    texts = [edit.new_text for fix in found.fixes for edit in fix.edits if edit.path == "main.py"]
    assert repair is None or any(repair in text for text in texts), [fix.title for fix in found.fixes]


def test_a_body_that_no_size_fits_is_not_the_callers_fault() -> None:
    text = """
    import torch
    import torch.nn as nn
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 16)
            self.b = nn.Linear(32, 4)
        def forward(self, x):
            return self.b(self.a(x))
    out = Net()(torch.rand(2, 8))
    """
    found = finding(text)
    assert [place.message for place in found.related if place.call] == ["reached by this call"]


def test_sizes_that_hold_the_conditions_are_not_accused() -> None:
    text = """
    import torch
    from models import Heads, Positions, Skip, windows
    a = Skip(4)(torch.rand(1, 3, 32, 44))
    b = Heads(48, 8)(torch.rand(2, 7, 48))
    c = Positions(100, 16, 64)(torch.randint(0, 100, (4, 64)))
    d = windows(torch.rand(2, 16, 24, 5), 8)
    """
    result = engine().analyze("main.py", textwrap.dedent(text), overlay={"models.py": MODELS}, roots=(".",))
    assert not result.diagnostics

"""Repairs that take more than one number: what the first fix, or the one that is named, makes of a script."""

from __future__ import annotations

from textwrap import dedent

from tests.check import engine
from torchsleuth.syntax.text import SourceText


def repaired(text: str, title: str = "") -> str:
    """A script after the first fix whose title has these words."""
    text = dedent(text).lstrip("\n")
    found = engine().analyze("script.py", text).diagnostics
    fix = next(fix for diagnostic in found for fix in diagnostic.fixes if title in fix.title)
    return SourceText("script.py", text).apply(fix.edits)


def test_a_width_that_is_summed_up_gets_what_it_lacks() -> None:
    text = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self, sizes, numbers):
                super().__init__()
                width = sum(sizes)
                layers = []
                for hidden in (32, 16):
                    layers += [nn.Linear(width, hidden), nn.ReLU()]
                    width = hidden
                self.mlp = nn.Sequential(*layers)

            def forward(self, parts, x):
                return self.mlp(torch.cat([*parts, x], dim=1))

        net = Net([4, 6], 5)
        out = net([torch.randn(8, 4), torch.randn(8, 6)], torch.randn(8, 5))
    """
    assert "width = sum(sizes) + numbers\n" in repaired(text)


def test_two_findings_of_one_kind_are_repaired_together() -> None:
    text = """
        import torch
        from torch import nn

        rows = torch.randn(50, 3)
        users, items = nn.Embedding(40, 8), nn.Embedding(60, 8)
        u, i = rows[:, 0], rows[:, 1]
        scores = (users(u) * items(i)).sum(1)
    """
    assert "(users(u.long()) * items(i.long()))" in repaired(text, "with 1 more of this kind")


def test_height_and_width_of_a_view_change_together() -> None:
    text = """
        import torch
        from torch import nn

        h = nn.Linear(12, 32 * 7 * 7)(torch.randn(30, 12))
        image = nn.ConvTranspose2d(32, 1, 4)(h.view(-1, 32, 8, 8))
    """
    assert "h.view(-1, 32, 7, 7)" in repaired(text)


def test_a_row_of_features_joins_a_map() -> None:
    text = """
        import torch

        z, c = torch.randn(12, 20, 4, 4), torch.randn(12, 6)
        x = torch.cat((z, c), dim=1)
    """
    assert "(z, c[:, :, None, None].expand(-1, -1, *z.shape[2:]))" in repaired(text)


def test_a_model_gets_its_image_as_a_batch() -> None:
    text = """
        import torch
        from torch import nn

        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
        image = torch.rand(3, 24, 24)
        out = model(image)
    """
    assert "model(image.unsqueeze(0))" in repaired(text)


def test_a_pool_in_a_loop_rounds_up() -> None:
    text = """
        import torch
        from torch import nn

        layers = []
        for _ in range(5):
            layers += [nn.Conv2d(1, 1, 3, padding=1), nn.MaxPool2d(2)]
        net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(1, 10))
        out = net(torch.rand(8, 1, 28, 28))
    """
    assert "nn.MaxPool2d(2, ceil_mode=True)" in repaired(text)

"""One finding for one cause: what is wrong at several places is said once, with all the places, and repaired at all of them."""

from __future__ import annotations

from tests.check import PATH, analyze, check
from torchsleuth.schema import FileAnalysis
from torchsleuth.syntax.text import SourceText

DEVICE = 'import torch\nfrom torch import nn\n\ndevice = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'


def places(found: FileAnalysis) -> list[tuple[int, list[int]]]:
    """The line of each finding, and those of the others of its cause."""
    same = "of the same cause"
    return [
        (item.start.line, [place.start.line for place in item.related if place.message.startswith(same)])
        for item in found.diagnostics
    ]


def repaired(text: str) -> FileAnalysis:
    """The analysis after the first fix of the only finding."""
    (found,) = analyze(text).diagnostics
    return analyze(SourceText(PATH, text).apply(found.fixes[0].edits))


def test_a_tensor_that_fits_nowhere() -> None:
    text = """\
import torch

def rotate(x, angles):
    a, b = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

out = rotate(torch.randn(10, 20, 6, 16), torch.randn(20, 8))
"""
    assert places(analyze(text)) == [(6, [6, 6, 6])]
    assert repaired(text).diagnostics == ()


def test_a_layer_that_is_called_at_several_places() -> None:
    check(
        """
import torch
from torch import nn

encoder, head = nn.Linear(10, 16), nn.Linear(16, 2)
left, right = torch.randn(8, 12), torch.randn(8, 12)
a = head(encoder(left))
#        ^^^^^^^^^^^^^ TS101: which was built with in_features=10
b = head(encoder(right))
""",
        """
import torch
from torch import nn

encoder, head = nn.Linear(12, 16), nn.Linear(16, 2)
left, right = torch.randn(8, 12), torch.randn(8, 12)
a = head(encoder(left))
b = head(encoder(right))
""",
    )


def test_layers_that_are_wrong_each_in_its_own_way_are_apart() -> None:
    text = """\
import torch
from torch import nn

x = torch.randn(8, 12)
a = nn.Linear(10, 16)(x)
b = nn.Linear(11, 16)(x)
"""
    assert places(analyze(text)) == [(5, []), (6, [])]


def test_targets_of_their_own_are_apart() -> None:
    text = """\
import torch
from torch import nn

scores, first, second = torch.randn(8), torch.randint(0, 2, (8,)), torch.randint(0, 2, (8,))
criterion = nn.BCEWithLogitsLoss()
a = criterion(scores, first)
b = criterion(scores.neg(), second)
"""
    assert places(analyze(text)) == [(6, []), (7, [])]


def test_a_target_that_two_losses_refuse() -> None:
    text = """\
import torch
from torch.nn.functional import cross_entropy

scores, target = torch.randn(8, 3), torch.zeros(8)
loss = cross_entropy(scores, target.clone())
more = cross_entropy(scores * 2, target)
"""
    assert places(analyze(text)) == [(5, [6])]
    assert repaired(text).diagnostics == ()


def test_a_model_that_was_not_moved() -> None:
    text = (
        DEVICE
        + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.second(self.first(x))

out = Net()(torch.randn(4, 8, device=device))
"""
    )
    assert places(analyze(text)) == [(12, [12])]
    assert repaired(text).diagnostics == ()


def test_two_models_that_were_not_moved_are_apart() -> None:
    text = DEVICE + "x = torch.randn(4, 8, device=device)\na = nn.Linear(8, 2)(x)\nb = nn.Linear(8, 2)(x)\n"
    assert places(analyze(text)) == [(6, []), (7, [])]


def test_a_batch_that_was_not_moved() -> None:
    text = (
        DEVICE
        + """from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(8, 3).to(device)
for x, y in DataLoader(TensorDataset(torch.randn(32, 8), torch.randint(0, 3, (32,))), batch_size=8):
    loss = nn.functional.cross_entropy(model(x), y)
"""
    )
    found = analyze(text)
    assert [(item.code, lines) for item, (_, lines) in zip(found.diagnostics, places(found))] == [("TS201", [9])]
    assert repaired(text).diagnostics == ()


def test_moves_that_were_thrown_away_explain_what_was_left_behind() -> None:
    text = (
        DEVICE
        + """from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(8, 3).to(device)
for x, y in DataLoader(TensorDataset(torch.randn(32, 8), torch.randint(0, 3, (32,))), batch_size=8):
    x.to(device)
    y.to(device)
    loss = nn.functional.cross_entropy(model(x), y)
"""
    )
    found = analyze(text)
    assert [(item.code, lines) for item, (_, lines) in zip(found.diagnostics, places(found))] == [
        ("TS202", [10, 11, 11])
    ]
    assert repaired(text).diagnostics == ()


def test_a_float_that_several_calls_take_for_an_integer() -> None:
    text = """\
import torch
from torch import nn

width = 48 * 0.5
first = nn.Linear(8, width)
second = nn.Linear(width, 2)
"""
    (found,) = analyze(text).diagnostics
    assert [(found.code, found.start.line)] == [("TS312", 5)] and found.related[-1].start.line == 6
    assert repaired(text).diagnostics == ()


def test_the_raw_output_of_one_network_in_several_losses() -> None:
    text = """\
import torch
from torch import nn

critic, criterion = nn.Linear(8, 1), nn.BCELoss()
real, fake = torch.randn(4, 8), torch.randn(4, 8)
loss = criterion(critic(real), torch.ones(4, 1)) + criterion(critic(fake), torch.zeros(4, 1))
"""
    found = analyze(text)
    assert places(found) == [(6, [6])] and found.diagnostics[0].code == "TS306"
    assert repaired(text).diagnostics == ()

"""Arguments that nobody passes: what the first layer says of them, and errors that come whatever they are."""

from __future__ import annotations

from tests.check import analyze, check


def shapes(text: str) -> dict[str, object]:
    return {fact.binding: fact.shape for fact in analyze(text).facts if fact.binding}


def module(layers: str, forward: str, parameters: str = "self") -> str:
    body = "\n".join(f"        {line}" for line in layers.splitlines())
    run = "\n".join(f"        {line}" for line in forward.splitlines())
    return f"""
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__({parameters}):
        super().__init__()
{body}

    def forward(self, x):
{run}
"""


def test_convolution_gives_rank_and_channels() -> None:
    found = shapes(
        module("self.conv = nn.Conv2d(3, 16, 3, padding=1)", "y = F.relu(self.conv(x.float() * 2))\nreturn y")
    )
    assert found["x"] == ("N", 3, "H", "W")
    assert found["y"] == ("N", 16, "H", "W")


def test_one_channel() -> None:
    found = shapes(
        module("self.conv = nn.Conv2d(1, 8, 3, padding=1)", "B, C, H, W = x.shape\ny = self.conv(x)\nreturn y")
    )
    assert found["x"] == ("B", 1, "H", "W")
    assert found["y"] == ("B", 8, "H", "W")


def test_the_rank_of_a_linear_layer_stays_open() -> None:
    found = shapes(module("self.fc = nn.Linear(784, 10)", "y = self.fc(x)\nreturn y"))
    assert "x" not in found
    assert found.get("y") is None


def test_operators_that_leave_no_choice() -> None:
    found = shapes(module("pass", "y = x.permute(0, 2, 3, 1)\nz = torch.einsum('bhwc,cd->bhwd', y, self.w)\nreturn y"))
    assert len(found["y"]) == 4  # type: ignore[arg-type]


def test_sizes_by_the_names_of_constructor_parameters() -> None:
    text = module(
        "self.up = nn.Linear(dim, 4 * dim)\nself.norm = nn.LayerNorm(dim)",
        "B, T, C = x.shape\ny = self.up(self.norm(x))\nreturn y",
        "self, dim, depth",
    )
    assert shapes(text)["y"] in (("B", "T", "4*dim"), ("B", "T", "4*C"))


def test_layers_that_no_input_gets_through() -> None:
    check(
        """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)

    def forward(self, x):
        return self.conv2(torch.relu(self.conv1(x)))
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS102: 16 channels
""",
        """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3)
        self.conv2 = nn.Conv2d(16, 64, 3)

    def forward(self, x):
        return self.conv2(torch.relu(self.conv1(x)))
""",
    )
    check(
        """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(784, 128)
        self.b = nn.Linear(64, 10)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS101: 128
"""
    )


def test_what_only_one_rank_makes_impossible() -> None:
    """An unbatched image gets through."""
    check(module("self.conv = nn.Conv2d(3, 16, 3)", "c, h, w = self.conv(x).shape\nreturn x.sum()"))
    check(module("self.fc = nn.Linear(8, 4)", "y = self.fc(x)\nreturn y.permute(0, 2, 1)"))
    check(module("self.fc = nn.Linear(8, 4)", "y = self.fc(x)\nreturn y.permute(1, 0)"))


def test_a_size_that_has_to_be_one() -> None:
    check(module("self.fc = nn.Linear(1, 4)", "B, C = x.shape\nreturn self.fc(x)"))


def test_what_is_supposed_is_marked() -> None:
    text = module("self.conv = nn.Conv2d(3, 16, 3)", "y = self.conv(x)\nz = torch.zeros(2, 3)\nreturn y")
    supposed = {fact.binding: fact.supposed for fact in analyze(text).facts if fact.binding}
    assert supposed == {"x": True, "y": True, "z": False}


USES = """
import torch
from torch import nn
import torch.nn.functional as F

def attention(q, k, v):
    b, h, t, d = q.shape
    b, h, s, d = k.shape
    scores = torch.matmul(q, k.transpose(-2, -1)) / d**0.5
    weights = F.softmax(scores, dim=-1)
    return weights

def crop(image, size):
    h, w, c = image.shape
    top = image[:size]
    return top

def wrong(x):
    n, c = x.shape
    y = nn.Linear(8, 4)(F.relu(x).view(n, c, 1))
    z = torch.zeros(2, 3) @ x.reshape(n, 7, 7)
    return z
"""


def test_arguments_that_are_used_as_tensors() -> None:
    """What becomes known of them is shown, and proves nothing: `wrong` may be called with something else."""
    found = analyze(USES)
    known = {fact.binding: fact.shape for fact in found.facts if fact.binding}
    assert known["scores"] == known["weights"] == ("b", "h", "t", "s")
    assert all(fact.supposed for fact in found.facts if fact.expression == "q") and not found.diagnostics
    assert {fact.shape for fact in found.facts if fact.expression == "q"} == {("b", "h", "t", "d")}
    assert "image" not in {fact.expression for fact in found.facts}


def test_what_depends_on_an_unknown_dtype_is_not_known() -> None:
    text = """
import torch
from torch import Tensor

def sizes(x: Tensor):
    n, c = x.shape
    kinds = torch.zeros(3, 1) if torch.is_complex(x) else torch.zeros(7, 1)
    more = torch.zeros(3, 1) if x.is_complex() else torch.zeros(7, 1)
    bytes_each = torch.zeros(x.element_size(), 2)
    return kinds, more, bytes_each
"""
    known = {fact.binding: fact.shape for fact in analyze(text).facts if fact.binding}
    assert all((known.get(name) or ("?",))[0] not in (3, 4, 7) for name in ("kinds", "more", "bytes_each"))


def test_dtypes_are_known_where_shapes_are_not() -> None:
    text = """
import numpy as np
import torch

table = np.genfromtxt("edges.csv", delimiter=",")
ends = torch.from_numpy(table[:, 0].astype(np.int32))
column = ends[:, None].expand_as(torch.zeros(5, 4))
joined = torch.cat([ends, ends])
weights = torch.from_numpy(table[:, 1]).float()
scaled = weights * 2 + 1
bits = weights.view(torch.int32)
whole = weights.long()
"""
    known = {fact.binding: fact.dtype for fact in analyze(text).facts if fact.binding}
    assert {known[name] for name in ("ends", "column", "joined")} == {"int32"}
    assert known["scaled"] == "float32" and known["whole"] == "int64" and known.get("bits") in (None, "int32")


def test_numpy_knows_how_many_a_mask_selects() -> None:
    text = """
import numpy as np
import torch

rng = np.random.default_rng(0)
users, items = rng.integers(0, 5, 40), rng.integers(0, 7, 40)
likes = rng.random(40) < 0.5
pairs = torch.from_numpy(np.stack([users[likes], items[likes]], axis=1))
windows = torch.from_numpy(np.lib.stride_tricks.sliding_window_view(rng.random(100), 10).copy())
"""
    known = {fact.binding: fact.shape for fact in analyze(text).facts if fact.binding}
    assert known["pairs"] == ("?", 2) and known["windows"] == (91, 10)


TRANSFORMER = """
import torch
from torch import nn
from einops import rearrange, repeat
from einops.layers.torch import Rearrange

def pair(t):
    return t if isinstance(t, tuple) else (t, t)

class Attention(nn.Module):
    def __init__(self, dim, heads, dim_head=64):
        super().__init__()
        inner = dim_head * heads
        self.heads = heads
        self.qkv = nn.Linear(dim, inner * 3, bias=False)
        self.out = nn.Sequential(nn.Linear(inner, dim), nn.Dropout(0.1)) if inner != dim else nn.Identity()

    def forward(self, x):
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.heads), parts)
        scores = q @ k.transpose(-1, -2)
        return self.out(rearrange(scores.softmax(-1) @ v, "b h n d -> b n (h d)"))

class Encoder(nn.Module):
    def __init__(self, dim, depth, heads):
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([Attention(dim, heads), nn.LayerNorm(dim)]))

    def forward(self, x):
        for attention, norm in self.layers:
            x = attention(norm(x)) + x
        return x

class Vision(nn.Module):
    def __init__(self, image_size, patch_size, num_classes, dim, depth, heads):
        super().__init__()
        height, width = pair(image_size)
        rows, columns = pair(patch_size)
        assert height % rows == 0 and width % columns == 0
        self.patches = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=rows, p2=columns), nn.Linear(3 * rows * columns, dim)
        )
        self.token = nn.Parameter(torch.randn(1, dim))
        self.encoder = Encoder(dim, depth, heads)
        self.head = nn.Linear(dim, num_classes)

    def forward(self, image):
        tokens = self.patches(image)
        tokens = torch.cat((repeat(self.token, "... d -> b ... d", b=image.shape[0]), tokens), dim=1)
        tokens = self.encoder(tokens)
        logits = self.head(tokens.mean(dim=1))
        return logits
"""


def test_a_model_that_nothing_calls_is_known_through() -> None:
    """Patterns say the ranks, parameters named like sizes are sizes, and loops go around more than once."""
    found = analyze(TRANSFORMER)
    known = {(fact.start.line, fact.expression): fact.shape for fact in found.facts}
    line = {text: number for number, text in enumerate(TRANSFORMER.splitlines(), 1)}
    assert known[line["        tokens = self.encoder(tokens)"], "tokens"] == ("b", "h*w + 1", "dim")
    assert known[line["        logits = self.head(tokens.mean(dim=1))"], "logits"] == ("b", "num_classes")
    assert known[line["            x = attention(norm(x)) + x"], "x"] == ("b", "n", "dim")
    assert len(known[line["        scores = q @ k.transpose(-1, -2)"], "scores"] or ()) == 4
    assert not found.diagnostics


def test_what_depends_on_how_often_a_loop_goes_around_is_not_said() -> None:
    text = module(
        "self.up = nn.ModuleList([nn.Conv2d(3 * 2**i, 3 * 2 ** (i + 1), 1) for i in range(depth)])",
        "for layer in self.up:\n    x = layer(x)\ny = x\nz = y.mean(1)\nreturn z",
        "self, depth",
    )
    known = shapes(text)
    assert known.get("y") is None and known["z"] == ("N", "H", "W")


def test_sizes_of_different_names_are_taken_to_differ() -> None:
    """As in a shortcut, which is only needed where the channels change; but what is asked of them is taken to hold."""
    text = module(
        "assert in_channels == out_channels // 2\nself.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)\n"
        "self.short = nn.Conv2d(in_channels, out_channels, 1) if in_channels != out_channels else nn.Identity()",
        "y = self.conv(x) + self.short(x)\nreturn y",
        "self, in_channels, out_channels",
    )
    assert shapes(text)["y"] == ("N", "out_channels", "H", "W")


def test_parts_of_what_is_not_known_are_as_many_as_are_asked_for() -> None:
    text = module(
        "self.kv = nn.Linear(dim, dim * 2)\nself.q = nn.Linear(dim, dim)",
        "parts = (self.q(x), *self.kv(x).chunk(2, dim=-1))\n"
        "q, k, v = (rearrange(part, 'b n (h d) -> b h n d', h=8) for part in parts)\ny = q @ k.transpose(-1, -2)\nreturn y @ v",
        "self, dim",
    ).replace("import torch\n", "import torch\nfrom einops import rearrange\n", 1)
    found = analyze(text)
    known = {fact.binding: fact.shape for fact in found.facts if fact.binding}
    assert len(known["y"] or ()) == 4 and known["q"] is not None and not found.diagnostics

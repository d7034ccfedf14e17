"""The first fix of shapes, devices, dtypes and losses is the one that an expert would write."""

from __future__ import annotations

import pytest

from tests.rules.test_repairs import repaired

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
CASES = {
    "a width of several times another": (
        """\
class Up(nn.Module):
    def __init__(self, features=(16, 32)):
        super().__init__()
        self.ups = nn.ModuleList()
        for feature in reversed(features):
            self.ups.append(nn.ConvTranspose2d(feature * 2, feature, 2, 2))
            self.ups.append(nn.Conv2d(feature, feature, 3, padding=1))

    def forward(self, x, skips):
        for i, skip in enumerate(skips):
            x = self.ups[2 * i + 1](torch.cat([self.ups[2 * i](x), skip], dim=1))
        return x

Up()(torch.randn(2, 64, 8, 8), [torch.randn(2, 32, 16, 16), torch.randn(2, 16, 32, 32)])
""",
        "nn.Conv2d(2 * feature, feature, 3",
    ),
    "a width that lacks what another parameter holds": (
        """\
class Message(nn.Module):
    def __init__(self, dim, edge_dim):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU())

    def forward(self, one, other, edge):
        return self.mlp(torch.cat([one, other, edge], dim=-1))

Message(32, 5)(torch.randn(9, 32), torch.randn(9, 32), torch.randn(9, 5))
""",
        "nn.Linear(2 * dim + edge_dim, dim)",
    ),
    "heads in a dict of options": (
        """\
OPTIONS = dict(dim=100, heads=8)

class Split(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads

    def forward(self, x):
        b, t, d = x.shape
        return x.view(b, t, self.heads, d // self.heads)

Split(**OPTIONS)(torch.randn(4, 6, 100))
""",
        "dict(dim=100, heads=10)",
    ),
    "the linear layer in front of a view": (
        """\
class Generator(nn.Module):
    def __init__(self, start=8):
        super().__init__()
        self.start = start
        self.fc = nn.Linear(32, 16 * 7 * 7)

    def forward(self, z):
        return self.fc(z).view(-1, 16, self.start, self.start)

Generator()(torch.randn(4, 32))
""",
        "nn.Linear(32, 1024)",
    ),
    "the pool of a branch": (
        """\
x = torch.randn(2, 8, 20, 20)
branch = nn.Sequential(nn.MaxPool2d(3, stride=1), nn.Conv2d(8, 4, 1))
y = torch.cat([x, branch(x)], 1)
""",
        "nn.MaxPool2d(3, stride=1, padding=1)",
    ),
    "dilated convolutions of a value and its gate": (
        """\
class Gated(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.value = nn.Conv1d(8, 8, 3, dilation=dilation)
        self.gate = nn.Conv1d(8, 8, 3, dilation=dilation)

    def forward(self, x):
        return x + torch.tanh(self.value(x)) * torch.sigmoid(self.gate(x))

Gated(4)(torch.randn(2, 8, 100))
""",
        "self.gate = nn.Conv1d(8, 8, 3, dilation=dilation, padding=dilation)",
    ),
    "a normalized shape after a stride": (
        """\
class Block(nn.Module):
    def __init__(self, width, side, stride):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, stride=stride, padding=1)
        self.norm = nn.LayerNorm([width, side, side])

    def forward(self, x):
        return self.norm(self.conv(x))

Block(24, 32, 2)(torch.randn(2, 3, 32, 32))
""",
        "nn.LayerNorm([width, side // stride, side // stride])",
    ),
    "a norm of the channels in front": (
        "norm, x = nn.LayerNorm(48), torch.randn(2, 48, 8, 8)\ny = norm(x)\n",
        "norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)",
    ),
    "frames before channels": (
        "conv, clip = nn.Conv3d(3, 16, 3), torch.randn(2, 8, 3, 32, 32)\ny = conv(clip)\n",
        "conv(clip.transpose(1, 2))",
    ),
    "a dimension that a default holds": (
        """\
def unit(x, dim=2):
    return x / x.norm(p=2, dim=dim, keepdim=True)

y = unit(torch.randn(12, 32))
""",
        "def unit(x, dim=-1)",
    ),
    "the state of a layer in a cell": (
        """\
rnn, cell = nn.GRU(8, 16, batch_first=True), nn.GRUCell(4, 16)
_, state = rnn(torch.randn(6, 9, 8))
for t in range(3):
    state = cell(torch.randn(6, 4), state)
""",
        "cell(torch.randn(6, 4), state.squeeze(0))",
    ),
    "both directions for a layer of one": (
        """\
encoder, decoder = nn.GRU(8, 16, bidirectional=True), nn.GRU(4, 16)
_, h = encoder(torch.randn(9, 6, 8))
y, _ = decoder(torch.randn(5, 6, 4), h)
""",
        "decoder(torch.randn(5, 6, 4), h[-1:])",
    ),
    "a mask for the longest text": (
        """\
attention = nn.MultiheadAttention(16, 2, batch_first=True)
mask = torch.triu(torch.ones(64, 64, dtype=torch.bool), 1)
x = torch.randn(8, 24, 16)
y, _ = attention(x, x, x, attn_mask=mask)
""",
        "attn_mask=mask[:x.size(1), :x.size(1)]",
    ),
    "each next token": (
        """\
logits, tokens = torch.randn(8, 30, 88), torch.randint(0, 88, (8, 30))
prediction = logits[:, :-1].reshape(-1, 88)
loss = F.cross_entropy(prediction, tokens.reshape(-1))
""",
        "tokens[:, 1:].reshape(-1)",
    ),
    "scores for a larger mask": (
        """\
net, x, y = nn.Conv2d(3, 4, 3, stride=2, padding=1), torch.randn(2, 3, 64, 64), torch.randint(0, 4, (2, 64, 64))
out = net(x)
loss = F.cross_entropy(out, y)
""",
        'F.interpolate(net(x), size=y.shape[-2:], mode="bilinear", align_corners=False)',
    ),
    "means and variances side by side": (
        "mean, variance = nn.Linear(8, 12)(torch.randn(50, 8))\n",
        "nn.Linear(8, 12)(torch.randn(50, 8)).chunk(2, dim=-1)",
    ),
    "columns of an image": (
        """\
def columns(f):
    b, c, h, w = f.shape
    return f.reshape(b, w, c * h)

y = columns(torch.randn(8, 32, 8, 40))
""",
        "f.permute(0, 3, 1, 2).reshape(b, w, c * h)",
    ),
    "a model that an object keeps": (
        """\
class Distiller:
    def __init__(self, teacher, student, device):
        self.teacher = teacher.eval()
        self.student = student.to(device)
        self.device = device

    def loss(self, x):
        x = x.to(self.device)
        return F.mse_loss(self.student(x), self.teacher(x))

device = "cuda" if torch.cuda.is_available() else "cpu"
Distiller(nn.Linear(4, 2), nn.Linear(4, 2), device).loss(torch.randn(8, 4))
""",
        "self.teacher = teacher.eval().to(device)",
    ),
    "a part of a table": (
        """\
import numpy as np
rows = torch.from_numpy(np.random.rand(60, 8).astype(np.float32))
vectors = nn.Embedding(10, 4)(rows[:, 0])
mean = rows[:, 1:].mean()
""",
        "nn.Embedding(10, 4)(rows[:, 0].long())",
    ),
    "a width rounded down where it is set": (
        """\
def block(channels, ratio):
    inner = channels * ratio
    return nn.Sequential(nn.Conv2d(channels, inner, 1), nn.Conv2d(inner, inner, 3), nn.Conv2d(inner, channels, 1))

net = block(32, 0.5)
""",
        "inner = int(channels * ratio)",
    ),
    "a loss out of a table of losses": (
        """\
losses = {"ce": nn.MSELoss, "mse": nn.MSELoss}
criterion = losses["ce"]()
model, x, y = nn.Linear(8, 5), torch.randn(50, 8), torch.randint(0, 5, (50,))
loss = criterion(model(x), y)
""",
        "loss = F.cross_entropy(model(x), y)",
    ),
    "a softmax that is an option": (
        """\
def mlp(sizes, last=None):
    layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
    return nn.Sequential(*layers, *([] if last is None else [last]))

model = mlp([8, 16, 3], last=nn.Softmax(dim=-1))
loss = F.cross_entropy(model(torch.randn(32, 8)), torch.randint(0, 3, (32,)))
""",
        "mlp([8, 16, 3])",
    ),
    "a matrix for half of the samples": (
        """\
def pairs(one, other):
    n = one.size(0)
    z = torch.cat([one, other])
    scores = z @ z.T
    return scores.masked_fill(torch.eye(n, dtype=torch.bool), 0.0)

y = pairs(torch.randn(32, 8), torch.randn(32, 8))
""",
        "torch.eye(z.size(0), dtype=torch.bool)",
    ),
    "a part that there is once more": (
        """\
class Compare(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.fc = nn.Linear(3 * hidden, 2)

    def forward(self, u, v):
        return self.fc(torch.cat([u, v, u - v, u * v], dim=-1))

Compare(48)(torch.randn(8, 48), torch.randn(8, 48))
""",
        "nn.Linear(4 * hidden, 2)",
    ),
    "two arguments the other way round": (
        """\
HISTORY, HORIZON = 12, 4

class Forecast(nn.Module):
    def __init__(self, history, horizon, dim=5):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(history + dim, 64), nn.Linear(64, horizon))

    def forward(self, past, store):
        return self.net(torch.cat([past, store], dim=1))

model = Forecast(HORIZON, HISTORY)
loss = F.mse_loss(model(torch.randn(16, HISTORY), torch.randn(16, 5)), torch.randn(16, HORIZON))
""",
        "Forecast(HISTORY, HORIZON)",
    ),
    "a setting of the same name": (
        """\
import argparse

class Forecast(nn.Module):
    def __init__(self, horizon):
        super().__init__()
        self.head = nn.Linear(8, horizon)

    def forward(self, x):
        return self.head(x)

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--horizon", type=int, default=12)
    args = parser.parse_args()
    model = Forecast(horizon=6)
    return F.l1_loss(model(torch.randn(4, 8)), torch.randn(4, args.horizon))

main()
""",
        "Forecast(horizon=args.horizon)",
    ),
    "a table of distances for each head": (
        """\
scores, distance = torch.randn(8, 6, 14, 14), torch.randint(0, 40, (14, 14))
scores = scores + nn.Embedding(41, 6)(distance)
""",
        "nn.Embedding(41, 6)(distance).permute(2, 0, 1)",
    ),
    "pooled maps in a list": (
        """\
class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(nn.AdaptiveAvgPool2d(bins) for bins in (1, 2))

    def forward(self, x):
        return torch.cat([x] + [stage(x) for stage in self.stages], dim=1)

Pyramid()(torch.randn(2, 8, 16, 16))
""",
        "F.interpolate(stage(x), size=x.shape[2:])",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_first_fix_is_the_right_one(name: str) -> None:
    text, wanted = CASES[name]
    assert wanted in repaired(HEAD + text)


def test_dimensions_that_are_left_out_are_kept() -> None:
    text = """
        import torch

        token = torch.zeros(1, 1, 96)
        tokens = torch.cat([token.expand(8, -1), torch.randn(8, 64, 96)], dim=1)
    """
    assert "token.expand(8, -1, -1)" in repaired(text)
    text = """
        import torch

        memory = torch.randn(1, 49, 48).repeat(3, 1)
        scores = torch.bmm(torch.randn(3, 5, 48), memory.transpose(1, 2))
    """
    assert ".repeat(3, 1, 1)" in repaired(text)


def test_rows_are_added_and_picked_whole() -> None:
    text = """
        import torch

        messages, target = torch.randn(240, 32), torch.randint(0, 60, (240,))
        total = torch.zeros(60, 32).scatter_add_(0, target, messages)
    """
    assert "target.unsqueeze(-1).expand_as(messages)" in repaired(text)
    text = """
        import torch

        regions = torch.randn(10, 36, 128)
        best = regions.sum(-1).topk(6, dim=1).indices
        picked = regions.index_select(1, best) * torch.randn(10, 6, 1)
    """
    assert "regions.gather(1, best.unsqueeze(-1).expand(-1, -1, regions.size(2)))" in repaired(text)
    text = """
        import torch

        steps, last = torch.randn(10, 36, 128), torch.randint(0, 36, (10, 4))
        states = steps.gather(1, last) + torch.randn(10, 4, 128)
    """
    assert "last.unsqueeze(-1).expand(-1, -1, steps.size(-1))" in repaired(text)


def test_a_mask_for_each_sample_is_one_for_each_head() -> None:
    text = """
        import torch
        from torch import nn

        attention = nn.MultiheadAttention(64, 4, batch_first=True)
        x, far = torch.randn(6, 9, 64), torch.rand(6, 9, 9) > 0.9
        out, _ = attention(x, x, x, attn_mask=far)
    """
    assert "attn_mask=far.repeat_interleave(attention.num_heads, dim=0)" in repaired(text)


def test_an_equation_gets_a_letter_for_the_heads() -> None:
    text = """
        import torch

        q, k, v = torch.randn(3, 5, 40, 4, 16)
        scores = torch.einsum("bid,bjd->bij", q, k).softmax(-1)
        out = torch.einsum("bhij,bjhd->bihd", scores, v)
    """
    assert '"bihd,bjhd->bhij"' in repaired(text)


def test_the_last_states_of_both_directions() -> None:
    text = """
        import torch
        from torch import nn

        rnn, head = nn.GRU(8, 16, bidirectional=True, batch_first=True), nn.Linear(32, 2)
        out, h = rnn(torch.randn(4, 9, 8))
        scores = head(h[-1])
    """
    assert "torch.cat([h[-2], h[-1]], dim=-1)" in repaired(text)
    assert "torch.cat([h[-2], h[-1]], dim=-1)" in repaired(text.replace("head(h[-1])", "out @ h[-1].unsqueeze(2)"))


def test_blocks_are_put_together_as_they_were_taken() -> None:
    text = """
        import torch
        import torch.nn.functional as F

        image, kernel, step = torch.rand(4, 1, 32, 32), 8, 4
        blocks = F.unfold(image, kernel, stride=step)
        whole = F.fold(blocks * 2, (32, 32), kernel, stride=kernel)
    """
    assert "kernel, stride=step)" in repaired(text)
    assert "kernel, stride=step)" in repaired(text.replace("kernel, stride=kernel", "kernel"))


def test_masks_get_a_channel_to_be_resized() -> None:
    text = """
        import torch
        import torch.nn.functional as F

        mask, logits = torch.randint(0, 4, (3, 64, 80)), torch.randn(3, 4, 32, 40)
        small = F.interpolate(mask.float(), size=(32, 40)).long()
        loss = F.cross_entropy(logits, small)
    """
    assert "interpolate(mask.float().unsqueeze(1), size=(32, 40))" in repaired(text)


def test_lengths_go_back_to_the_cpu() -> None:
    text = """
        import torch
        from torch.nn.utils.rnn import pack_padded_sequence

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x, lengths = torch.randn(4, 9, 6, device=device), torch.tensor([9, 7, 5, 2], device=device)
        packed = pack_padded_sequence(x, lengths, batch_first=True)
    """
    assert "pack_padded_sequence(x, lengths.cpu(), batch_first=True)" in repaired(text)

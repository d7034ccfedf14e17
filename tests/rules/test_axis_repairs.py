"""The first fix of mistaken axes, masks, views and batches is the one that an expert would write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check import engine
from tests.rules.test_repairs import repaired

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
CASES = {
    "statistics of channels over all but one dimension of an image": (
        """\
from concurrent.futures import ThreadPoolExecutor

def statistics(images):
    return images.mean(dim=(0, 2)), images.std(dim=(0, 2))

def normalised(image, mean, std):
    return (image - mean.view(len(image), 1, 1)) / std.view(len(image), 1, 1)

images = torch.rand(32, 3, 12, 20)
with ThreadPoolExecutor(2) as pool:
    waiting = [pool.submit(normalised, image, *statistics(images)) for image in images]
    rows = torch.stack([one.result() for one in waiting])
""",
        "images.mean(dim=(0, 2, 3)), images.std(dim=(0, 2, 3))",
    ),
    "columns divided over the ranks, where rows were meant": (
        """\
def shard(rank, world, table):
    columns, target = table[:, :-1], table[:, -1]
    return columns.chunk(world, dim=1)[rank], target.chunk(world)[rank]

net = nn.Linear(8, 1)
for rank in range(2):
    x, y = shard(rank, 2, torch.randn(64, 9))
    F.mse_loss(net(x).squeeze(-1), y).backward()
""",
        "columns.chunk(world, dim=0)[rank]",
    ),
    "the dimensions of images in a hook of all layers": (
        """\
means = {}

def hook(module, given, output):
    means[module] = output.detach().mean(dim=(0, 2, 3))

net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 10))
for layer in (net[0], net[2]):
    layer.register_forward_hook(hook)
net(torch.rand(16, 1, 8, 8))
""",
        "mean(dim=[dim for dim in (0, 2, 3) if dim < output.detach().dim()])",
    ),
    "positions for as many steps as there are samples": (
        """\
class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("pe", torch.zeros(500, width))

    def forward(self, x):
        x = x + self.pe[: x.size(0)]
        return x

Positions(32)(torch.randn(6, 24, 32))
""",
        "self.pe[: x.size(1)]",
    ),
    "positions for as many steps as there are samples, counted before": (
        """\
def forward(x, table):
    batch, steps, width = x.shape
    return x + table[:, :batch]

forward(torch.randn(6, 24, 32), torch.zeros(1, 500, 32))
""",
        "table[:, :steps]",
    ),
    "padding under the name of a mask from step to step": (
        """\
layer = nn.TransformerDecoderLayer(64, 4, batch_first=True)
tokens = torch.randint(0, 90, (6, 14))
out = nn.TransformerDecoder(layer, 2)(nn.Embedding(90, 64)(tokens), torch.randn(6, 36, 64), tgt_mask=tokens == 0)
""",
        "tgt_key_padding_mask=tokens == 0)",
    ),
    "padding in the place of a mask from step to step": (
        """\
layer = nn.TransformerEncoderLayer(64, 4, batch_first=True)
tokens = torch.randint(0, 90, (6, 14))
attention_mask = (tokens != 0).long()
out = nn.TransformerEncoder(layer, 2)(nn.Embedding(90, 64)(tokens), attention_mask)
""",
        ", src_key_padding_mask=attention_mask == 0)",
    ),
    "padding in numbers": (
        """\
tokens = torch.randint(0, 90, (6, 14))
padding = (tokens == 0).long()
x = nn.Embedding(90, 64)(tokens)
out = nn.MultiheadAttention(64, 4, batch_first=True)(x, x, x, key_padding_mask=padding)[0]
""",
        "key_padding_mask=padding.bool())",
    ),
    "a view that makes more rows than there are samples": (
        """\
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(12, 64 * 4 * 4)
        self.up = nn.Sequential(nn.ConvTranspose2d(64, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1))

    def forward(self, z):
        return self.up(self.fc(z).view(-1, 64, 2, 2))

loss = F.mse_loss(Decoder()(torch.randn(16, 12)), torch.rand(16, 1, 16, 16))
""",
        "view(-1, 64, 4, 4)",
    ),
    "channels that were to be put last": (
        """\
class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv, self.norm, self.mlp = nn.Conv2d(dim, dim, 3, padding=1), nn.LayerNorm(dim), nn.Linear(dim, dim)

    def forward(self, x):
        shortcut = x
        x = self.conv(x)
        x = self.norm(x)
        x = self.mlp(x)
        x = x.permute(0, 3, 1, 2)
        return shortcut + x

Block(24)(torch.randn(4, 24, 16, 16))
""",
        "        x = x.permute(0, 2, 3, 1)\n        x = self.norm(x)",
    ),
    "channels that were to be put last for a layer": (
        """\
def mixed(x, mix):
    x = mix(x)
    x = x.permute(0, 3, 1, 2)
    return x

mixed(torch.randn(4, 24, 16, 16), nn.Linear(24, 8))
""",
        "    x = x.permute(0, 2, 3, 1)\n    x = mix(x)",
    ),
    "a causal convolution that is padded by its dilation": (
        """\
class Causal(nn.Module):
    def __init__(self, width, kernel, dilation):
        super().__init__()
        self.pad = dilation
        self.conv = nn.Conv1d(width, width, kernel, dilation=dilation)

    def forward(self, x):
        return x + F.relu(self.conv(F.pad(x, (self.pad, 0))))

Causal(8, 3, 2)(torch.randn(4, 8, 40))
""",
        "self.pad = (kernel - 1) * dilation",
    ),
    "a causal convolution that is padded by a number": (
        """\
class Causal(nn.Module):
    def __init__(self, width, kernel, dilation):
        super().__init__()
        self.conv = nn.Conv1d(width, width, kernel, dilation=dilation)

    def forward(self, x):
        return x + self.conv(F.pad(x, (2, 0)))

Causal(8, 3, 2)(torch.randn(4, 8, 40))
""",
        "F.pad(x, ((self.conv.kernel_size[0] - 1) * self.conv.dilation[0], 0))",
    ),
    "noise of a generator": (
        """\
generator = nn.Sequential(nn.ConvTranspose2d(100, 32, 4, 1, 0), nn.ReLU(), nn.ConvTranspose2d(32, 3, 4, 2, 1))
noise = torch.randn(8, 100)
image = generator(noise)
""",
        "torch.randn(8, 100, 1, 1)",
    ),
    "both states of an LSTM made for full batches": (
        """\
class Net(nn.Module):
    def __init__(self, batch_size):
        super().__init__()
        self.batch_size = batch_size
        self.lstm = nn.LSTM(4, 32, 2, batch_first=True)

    def forward(self, x):
        h = torch.zeros(2, self.batch_size, 32)
        c = torch.zeros(2, self.batch_size, 32)
        return self.lstm(x, (h, c))[0]

BATCH = 16
net = Net(BATCH)
for x in torch.utils.data.DataLoader(torch.randn(50, 30, 4), batch_size=BATCH):
    net(x)
""",
        "        h = torch.zeros(2, x.size(0), 32)\n        c = torch.zeros(2, x.size(0), 32)",
    ),
    "the loss of a function that knows no device": (
        """\
def build_loss(frequencies):
    return nn.BCEWithLogitsLoss(pos_weight=1 / torch.tensor(frequencies))

def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    criterion = build_loss([0.1, 0.2, 0.5])
    return criterion(torch.randn(4, 3, device=device), torch.ones(4, 3, device=device))

main()
""",
        "criterion = build_loss([0.1, 0.2, 0.5]).to(device)",
    ),
    "the dtype of a model that was converted as a whole": (
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.time, self.out = nn.Linear(1, 8), nn.Linear(8, 8)

    def forward(self, x, t):
        return self.out(x + self.time(t.float().unsqueeze(1)))

Net().to(torch.bfloat16)(torch.randn(4, 8, dtype=torch.bfloat16), torch.arange(4))
""",
        "t.float().unsqueeze(1).to(x.dtype)",
    ),
    "a property that is divided": (
        """\
from dataclasses import dataclass

@dataclass
class Config:
    dim: int = 48
    heads: int = 6

    @property
    def head_dim(self):
        return self.dim / self.heads

class Split(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg

    def forward(self, x):
        return x.view(x.size(0), self.cfg.heads, self.cfg.head_dim)

Split(Config())(torch.randn(4, 48))
""",
        "return self.dim // self.heads",
    ),
    "a weight of each sample for images": (
        """\
real, fake = torch.randn(10, 3, 16, 16), torch.randn(10, 3, 16, 16)
alpha = torch.rand(real.size(0), 1)
mixed = alpha * real + (1 - alpha) * fake
""",
        "alpha = torch.rand(real.size(0), 1, 1, 1)",
    ),
    "a number in the size of a head": (
        """\
class Head(nn.Module):
    def __init__(self, classes, anchors=3):
        super().__init__()
        self.classes, self.anchors = classes, anchors
        self.head = nn.Conv2d(64, anchors * (4 + classes), 1)

    def forward(self, x):
        b, _, h, w = x.shape
        return self.head(x).view(b, self.anchors, 5 + self.classes, h, w)

Head(4)(torch.randn(4, 64, 8, 8))
""",
        "anchors * (5 + classes)",
    ),
    "a decoder of the widths in the order of the encoder": (
        """\
def decoder(widths):
    layers = []
    for inside, outside in zip(widths, widths[1:] + [1]):
        layers += [nn.ConvTranspose2d(inside, outside, 2, stride=2), nn.ReLU()]
    return nn.Sequential(*layers)

widths = [16, 32, 64]
image = decoder(widths)(torch.randn(6, 64, 8, 8))
""",
        "decoder(widths[::-1])",
    ),
    "sums for each graph": (
        """\
def pooled(x, h, graph, count):
    sums = torch.zeros(count, x.size(1))
    return sums.index_add(0, graph, h)

pooled(torch.randn(35, 9), torch.randn(35, 32), torch.randint(0, 5, (35,)), 5)
""",
        "torch.zeros(count, h.size(1))",
    ),
    "an inverted mask": (
        """\
error, mask = torch.rand(8, 50), torch.rand(8, 50) < 0.4
visible = 1 - mask
shown = (error * visible).sum() / visible.sum()
""",
        "visible = ~mask",
    ),
    "a number of columns from the command line": (
        """\
import argparse

class Scale(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(columns))

    def forward(self, x):
        return x * self.weight

parser = argparse.ArgumentParser()
parser.add_argument("--n-columns", type=int, default=7)
args = parser.parse_args()
Scale(args.n_columns)(torch.randn(4, 21))
""",
        "default=21",
    ),
    "a recurrent layer in a Sequential": (
        """\
model = nn.Sequential(nn.LSTM(6, 32, batch_first=True), nn.Linear(32, 3))
loss = F.cross_entropy(model(torch.randn(16, 40, 6)), torch.randint(0, 3, (16,)))
""",
        "        return output[:, -1]\n\n\nmodel = nn.Sequential(nn.LSTM(6, 32, batch_first=True), LastStep(), nn.Linear(32, 3))",
    ),
    "a recurrent layer in a Sequential, for each step": (
        """\
model = nn.Sequential(nn.GRU(6, 32, batch_first=True), nn.Linear(32, 3))
loss = F.cross_entropy(model(torch.randn(16, 40, 6)).transpose(1, 2), torch.randint(0, 3, (16, 40)))
""",
        "        return output\n\n\nmodel = nn.Sequential(nn.GRU(6, 32, batch_first=True), AllSteps(), nn.Linear(32, 3))",
    ),
    "weights of as many classes as there are": (
        """\
import numpy as np

labels = np.loadtxt("labels.txt", dtype=int)
counts = np.bincount(labels)
loss = nn.CrossEntropyLoss(torch.tensor(len(labels) / counts))(nn.Linear(4, 3)(torch.randn(8, 4)), torch.randint(0, 3, (8,)))
""",
        "torch.tensor(len(labels) / counts).float()",
    ),
    "a tensor of a module of an object that the script makes": (
        """\
class Graph(nn.Module):
    def __init__(self, adj):
        super().__init__()
        self.adj = adj
        self.mix = nn.Linear(8, 8)

    def forward(self, x):
        h = self.mix(x)
        return self.adj @ h

class Experiment:
    def __init__(self, adj):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = Graph(adj).to(self.device)

    def run(self, x):
        return self.model(x.to(self.device))

experiment = Experiment(torch.rand(20, 20))
experiment.run(torch.randn(20, 8))
""",
        'self.register_buffer("adj", adj)',
    ),
    "features of a map that is pooled once more": (
        """\
class Reader(nn.Module):
    def __init__(self, height=32, channels=32):
        super().__init__()
        pools = [nn.MaxPool2d((2, 1)) for _ in range(3)]
        self.cnn = nn.Sequential(nn.Conv2d(1, channels, 3, padding=1), *pools)
        self.rnn = nn.LSTM(channels * (height // 4), 48, batch_first=True)

    def forward(self, x):
        f = self.cnn(x)
        b, c, h, w = f.shape
        return self.rnn(f.permute(0, 3, 1, 2).reshape(b, w, c * h))[0]

Reader()(torch.rand(4, 1, 32, 64))
""",
        "channels * (height // 8)",
    ),
    "queries for a batch": (
        """\
queries, memory = nn.Embedding(10, 32), torch.randn(6, 64, 32)
decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(32, 4, batch_first=True), 2)
found = decoder(queries.weight.unsqueeze(0), memory)
""",
        "decoder(queries.weight.unsqueeze(0).expand(memory.size(0), -1, -1), memory)",
    ),
    "queries for a batch that comes second": (
        """\
query, memory = torch.randn(10, 1, 32), torch.randn(64, 6, 32)
found, _ = nn.MultiheadAttention(32, 4)(query, memory, memory)
""",
        "(query.expand(-1, memory.size(1), -1), memory, memory)",
    ),
    "as many classes as the teacher has": (
        """\
class Student(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        return self.fc(x)

x = torch.randn(8, 16)
with torch.no_grad():
    guide = F.softmax(nn.Linear(16, 20)(x), dim=1)
loss = F.kl_div(F.log_softmax(Student()(x), dim=1), guide, reduction="batchmean")
""",
        "classes=20",
    ),
    "padding of the steps": (
        """\
clips = [torch.randn(20, 13), torch.randn(31, 13), torch.randn(25, 13)]
longest = max(len(clip) for clip in clips)
batch = torch.stack([F.pad(clip, (0, longest - len(clip))) for clip in clips])
""",
        "F.pad(clip, (0, 0, 0, longest - len(clip)))",
    ),
    "keys of a batch turned around": (
        """\
q, k = torch.randn(7, 18, 32), torch.randn(7, 50, 32)
scores = q @ k.T
""",
        "q @ k.transpose(-2, -1)",
    ),
    "a batch of one tensor in a model": (
        """\
from torch.utils.data import DataLoader, TensorDataset

class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(24, 24)

    def forward(self, x):
        return self.net(x)

model = Coder()
for batch in DataLoader(TensorDataset(torch.randn(96, 24)), batch_size=32):
    loss = F.mse_loss(model(batch), batch)
""",
        "for (batch,) in DataLoader",
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_the_first_fix(text: str, expected: str) -> None:
    assert expected in repaired(HEAD + text)


def test_a_batch_is_not_made_as_large_as_the_last_one() -> None:
    text = HEAD + CASES["both states of an LSTM made for full batches"][0]
    with pytest.raises(StopIteration):
        repaired(text, "16 to 2")


def test_a_class_knows_nothing_of_the_object_that_the_script_makes() -> None:
    text = HEAD + CASES["a tensor of a module of an object that the script makes"][0]
    found = engine().analyze("script.py", text).diagnostics
    titles = [fix.title for diagnostic in found for fix in diagnostic.fixes]
    assert any("h.device" in title for title in titles)
    assert not any("experiment.device" in title for title in titles)


def test_what_a_recurrent_layer_hands_on_is_said() -> None:
    text = HEAD + CASES["a recurrent layer in a Sequential"][0]
    found = engine().analyze("script.py", text).diagnostics
    assert [diagnostic.message.partition(":")[0] for diagnostic in found] == [
        "LSTM in a Sequential hands on a pair, (output, state), but Linear takes a tensor"
    ]


@pytest.mark.parametrize("cast", [".float()", ", dtype=torch.float32"])
def test_weights_of_the_dtype_of_the_scores(cast: str) -> None:
    text = HEAD + CASES["weights of as many classes as there are"][0]
    old = "torch.tensor(len(labels) / counts)"
    new = f"{old}{cast}" if cast.startswith(".") else f"{old[:-1]}{cast})"
    assert not engine().analyze("script.py", text.replace(old, new)).diagnostics


def test_queries_of_one_sample_are_said_to_be_so() -> None:
    text = HEAD + CASES["queries for a batch"][0]
    (found,) = engine().analyze("script.py", text).diagnostics
    assert found.code == "TS111"
    assert "(1, 10, 32) is one sample, but `memory` (6, 64, 32) holds 6" in found.message


def test_a_number_is_changed_in_the_file_of_the_configuration(tmp_path: Path) -> None:
    config = "from dataclasses import dataclass\n\n\n@dataclass\nclass Config:\n    dim: int = 48\n    heads: int = 5\n"
    text = (
        "import torch\nfrom torch import nn\nfrom config import Config\n\n\n"
        "class Attention(nn.Module):\n    def __init__(self, cfg):\n        super().__init__()\n"
        "        self.heads = cfg.heads\n        self.size = cfg.dim // cfg.heads\n        self.q = nn.Linear(cfg.dim, cfg.dim)\n\n"
        "    def forward(self, x):\n        b, t, c = x.shape\n        return self.q(x).view(b, t, self.heads, self.size)\n\n\n"
        "cfg = Config()\nAttention(cfg)(torch.randn(4, 16, 48))\n"
    )
    (tmp_path / "config.py").write_text(config)
    found = engine().analyze(str(tmp_path / "main.py"), text, roots=(str(tmp_path),)).diagnostics
    (edit,) = found[0].fixes[0].edits
    assert (edit.path, edit.start.line, edit.new_text) == (str(tmp_path / "config.py"), 7, "4")

"""Repairs of sizes that grow in a loop, of sizes and letters that were left out, of positions behind the end, of layers made
late, of states of one direction, of masks and positions for each sample."""

from __future__ import annotations

import textwrap

import pytest

from tests.check import PATH, analyze
from torchsleuth.syntax.text import SourceText

HEAD = "import torch\nfrom torch import nn\n\n"

CASES = {
    "a variable that grows behind the layer": (
        """
class Layer(nn.Module):
    def __init__(self, width, growth):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(width), nn.Conv2d(width, growth, 3, padding=1)

    def forward(self, x):
        return torch.cat([x, self.conv(self.norm(x))], dim=1)

class Net(nn.Module):
    def __init__(self, growth=12):
        super().__init__()
        channels, blocks = 16, []
        for count in (2, 3):
            for _ in range(count):
                blocks.append(Layer(channels, growth))
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(channels, 5)

    def forward(self, x):
        return self.head(self.blocks(x).mean((2, 3)))

Net()(torch.randn(2, 16, 8, 8))
""",
        "blocks.append(Layer(channels, growth))",
        "blocks.append(Layer(channels, growth))\n                channels += growth",
    ),
    "a product with the loop's variable": (
        """
class Net(nn.Module):
    def __init__(self, inputs, width, depth):
        super().__init__()
        self.layers = nn.ModuleList()
        for step in range(depth):
            self.layers.append(nn.Linear(inputs, width))
        self.head = nn.Linear(inputs + depth * width, 2)

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([x, layer(x)], dim=-1)
        return self.head(x)

Net(10, 16, 3)(torch.randn(4, 10))
""",
        "nn.Linear(inputs, width)",
        "nn.Linear(inputs + step * width, width)",
    ),
    "a variable for the comprehension": (
        """
class Block(nn.Module):
    def __init__(self, inner, growth, count):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(inner, growth, 3, padding=1) for _ in range(count)])

    def forward(self, x):
        parts = [x]
        for layer in self.layers:
            parts.append(layer(torch.cat(parts, dim=1)))
        return torch.cat(parts, dim=1)

Block(24, 12, 4)(torch.randn(2, 24, 8, 8))
""",
        "nn.Conv2d(inner, growth, 3, padding=1) for _ in",
        "nn.Conv2d(inner + i * growth, growth, 3, padding=1) for i in",
    ),
    "expand with too few sizes": (
        "token, x = nn.Parameter(torch.zeros(1, 1, 32)), torch.randn(4, 10, 32)\n"
        "both = torch.cat([token.expand(x.size(0), -1), x], dim=1)\n",
        "expand(x.size(0), -1)",
        "expand(x.size(0), -1, -1)",
    ),
    "expand with a size left out in the middle": (
        "mask = torch.ones(1, 1, 5, 5).expand(2, 5, 5)\n",
        "expand(2, 5, 5)",
        "expand(2, -1, 5, 5)",
    ),
    "a dataset with one window too many": (
        """
from torch.utils.data import DataLoader, Dataset

class Windows(Dataset):
    def __init__(self, series, length):
        self.series, self.length = series, length

    def __len__(self):
        return len(self.series) - self.length + 1

    def __getitem__(self, i):
        return self.series[i : i + self.length], self.series[i + self.length]

for x, y in DataLoader(Windows(torch.randn(200), 24), batch_size=16):
    loss = (nn.Linear(24, 1)(x).squeeze(-1) - y).pow(2).mean()
""",
        "len(self.series) - self.length + 1",
        "len(self.series) - self.length",
    ),
    "a dataset as long as its series": (
        """
from torch.utils.data import DataLoader, Dataset

class Steps(Dataset):
    def __init__(self, series, horizon):
        self.series, self.horizon = series, horizon

    def __len__(self):
        return len(self.series)

    def __getitem__(self, i):
        return self.series[i], self.series[i + self.horizon]

for x, y in DataLoader(Steps(torch.randn(200), 5), batch_size=16):
    print(x.shape)
""",
        "return len(self.series)",
        "return len(self.series) - self.horizon",
    ),
    "the value behind the last step of a rollout": (
        """
def advantages(rewards, values, gamma=0.99):
    found = torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        found[t] = rewards[t] + gamma * values[t + 1] - values[t]
    return found

advantages(torch.randn(16), torch.randn(16))
""",
        "values[t + 1]",
        "(values[t + 1] if t + 1 < len(values) else 0)",
    ),
    "the next one of the last one": (
        "series = torch.randn(30)\npairs = [(series[i], series[i + 1]) for i in range(len(series))]\n",
        "range(len(series))",
        "range(len(series) - 1)",
    ),
    "a layer that forward makes": (
        """
class Net(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.conv, self.classes = nn.Conv2d(1, 8, 3), classes
        self.head = None

    def forward(self, x):
        x = self.conv(x).flatten(1)
        if self.head is None:
            self.head = nn.Linear(x.shape[1], self.classes)
        return self.head(x)

model = Net()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(torch.randn(16, 1, 12, 12)), torch.randint(0, 4, (16,))).backward()
    optimizer.step()
""",
        "self.head = None",
        "self.head = nn.Linear(800, self.classes)",
    ),
    "an equation without the letter of the heads": (
        """
q, k = torch.randn(5, 40, 4, 16), torch.randn(5, 40, 4, 16)
weights = torch.einsum("bid,bjd->bij", q, k).softmax(dim=-1)
""",
        '"bid,bjd->bij"',
        '"bihd,bjhd->bhij"',
    ),
    "the last state of both directions": (
        """
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 20, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * 20, 3)

    def forward(self, x):
        _, (hidden, _) = self.lstm(x)
        return self.head(hidden[-1])

Tagger()(torch.randn(4, 10, 8))
""",
        "self.head(hidden[-1])",
        "self.head(torch.cat([hidden[-2], hidden[-1]], dim=-1))",
    ),
    "a mask for each sample": (
        """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)

    def forward(self, x):
        mask = torch.cdist(x, x) > 3
        return self.attention(x, x, x, attn_mask=mask)[0]

Layer()(torch.randn(6, 9, 64))
""",
        "attn_mask=mask)",
        "attn_mask=mask.repeat_interleave(self.attention.num_heads, dim=0))",
    ),
    "positions for each sample": (
        """
regions, scores = torch.randn(10, 36, 128), torch.randn(10, 36)
best = scores.topk(6, dim=1).indices
picked = regions.index_select(1, best)
""",
        "regions.index_select(1, best)",
        "regions.gather(1, best.unsqueeze(-1).expand(-1, -1, regions.size(2)))",
    ),
    "a decoder with an odd size after each layer": (
        """
net = nn.Sequential(nn.ConvTranspose2d(32, 16, 3, stride=2, padding=1), nn.ConvTranspose2d(16, 1, 3, stride=2, padding=1))
loss = nn.functional.mse_loss(net(torch.randn(4, 32, 7, 7)), torch.rand(4, 1, 28, 28))
""",
        "stride=2, padding=1",
        "stride=2, padding=1, output_padding=1",
    ),
    "channels for each anchor": (
        """
class Head(nn.Module):
    def __init__(self, classes, anchors):
        super().__init__()
        self.classes, self.anchors = classes, anchors
        self.conv = nn.Conv2d(64, 5 + classes, 1)

    def forward(self, x):
        f = self.conv(x)
        b, _, h, w = f.shape
        return f.view(b, self.anchors, 5 + self.classes, h, w)

Head(4, 3)(torch.randn(2, 64, 6, 6))
""",
        "Conv2d(64, 5 + classes, 1)",
        "Conv2d(64, (5 + classes) * anchors, 1)",
    ),
    "a product with one vector for each sample": (
        """
queries, keys = torch.randn(16, 40), torch.randn(16, 10, 40)
weights = torch.bmm(queries, keys.transpose(1, 2)).softmax(dim=-1)
""",
        "bmm(queries,",
        "bmm(queries.unsqueeze(1),",
    ),
    "one similarity for each pair": (
        """
a, b = torch.randn(32, 16), torch.randn(32, 16)
scores = nn.functional.cosine_similarity(a, b) / 0.1
loss = nn.functional.cross_entropy(scores, torch.arange(32))
""",
        "cosine_similarity(a, b)",
        "cosine_similarity(a[:, None], b[None], dim=-1)",
    ),
    "classes that are mixed": (
        """
import torch.nn.functional as F

def mixed(y, lam):
    return lam * y + (1 - lam) * y.flip(0)

def mixed_up(x, y, lam=0.3):
    order = torch.randperm(16)
    target = lam * y + (1 - lam) * y[order]
    return F.cross_entropy(nn.Linear(8, 10)(x), target)

mixed_up(torch.randn(16, 8), torch.randint(0, 10, (16,)))
""",
        "lam * y + (1 - lam) * y[order]",
        "lam * F.one_hot(y, 10).float() + (1 - lam) * F.one_hot(y[order], 10).float()",
    ),
    "a spectrum of complex numbers": (
        """
spectrum = torch.stft(torch.randn(6, 4000), 256, window=torch.hann_window(256), return_complex=True)
features = nn.Conv2d(1, 8, 3)(spectrum.unsqueeze(1))
""",
        "(spectrum.unsqueeze(1))",
        "(spectrum.unsqueeze(1).abs())",
    ),
    "channels for a pixel shuffle": (
        """
class Up(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.up = nn.Sequential(nn.Conv2d(32, 5 * scale, 3, padding=1), nn.PixelShuffle(scale))

    def forward(self, x):
        return self.up(x)

Up(4)(torch.randn(2, 32, 8, 8))
""",
        "5 * scale",
        "20 * scale",
    ),
    "bags in one row": (
        """
def embed(text, offsets):
    return nn.EmbeddingBag(100, 16)(text)

embed(torch.randint(0, 100, (76,)), torch.tensor([0, 20, 50]))
""",
        "(text)\n",
        "(text, offsets)\n",
    ),
    "statistics in a dictionary": (
        """
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

stats = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize(**stats)])
for images, labels in DataLoader(datasets.MNIST("data", transform=transform), batch_size=64):
    print(images.mean())
""",
        "Normalize(**stats)",
        'Normalize(mean=stats["mean"][:1], std=stats["std"][:1])',
    ),
    "statistics by their names": (
        """
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

MEAN, STD = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)
transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize(MEAN, STD)])
for images, labels in DataLoader(datasets.MNIST("data", transform=transform), batch_size=64):
    print(images.mean())
""",
        "Normalize(MEAN, STD)",
        "Normalize(MEAN[:1], STD[:1])",
    ),
    "a loop that builds layers and tells the next round nothing": (
        """
def make_layers(in_channels, widths):
    layers = []
    for out_channels in widths:
        layers.append(nn.Conv2d(in_channels, out_channels, 3, padding=1))
        layers.append(nn.BatchNorm2d(out_channels))
        layers.append(nn.ReLU())
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = make_layers(3, [16, 32, 64])
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.features(x).mean(dim=(2, 3)))

model = Net()
y = model(torch.randn(4, 3, 32, 32))
""",
        "        layers.append(nn.MaxPool2d(2))",
        "        layers.append(nn.MaxPool2d(2))\n        in_channels = out_channels",
    ),
    "a loop of linear layers, whose last one is right": (
        """
class MLP(nn.Module):
    def __init__(self, n_in, hidden_sizes, n_out):
        super().__init__()
        layers = []
        for h in hidden_sizes:
            layers += [nn.Linear(n_in, h), nn.ReLU()]
        layers.append(nn.Linear(h, n_out))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)

model = MLP(10, (64, 32, 16), 2)
y = model(torch.randn(4, 10))
""",
        "            layers += [nn.Linear(n_in, h), nn.ReLU()]",
        "            layers += [nn.Linear(n_in, h), nn.ReLU()]\n            n_in = h",
    ),
    "features joined along the batch": (
        """
class TwoView(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(20, 32)
        self.right = nn.Linear(14, 32)
        self.head = nn.Linear(64, 3)

    def forward(self, a, b):
        both = torch.cat([torch.relu(self.left(a)), torch.relu(self.right(b))], dim=0)
        return self.head(both)

model = TwoView()
opt = torch.optim.Adam(model.parameters())
for _ in range(3):
    a, b, y = torch.randn(8, 20), torch.randn(8, 14), torch.randint(0, 3, (8,))
    loss = nn.functional.cross_entropy(model(a, b), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        "dim=0",
        "dim=1",
    ),
    "a causal mask for as many steps as there are samples": (
        """
class CharLM(nn.Module):
    def __init__(self, vocab=60, dim=32, heads=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.emb(ids)
        mask = torch.triu(torch.ones(x.size(0), x.size(0), dtype=torch.bool), diagonal=1)
        a, _ = self.attn(x, x, x, attn_mask=mask)
        return self.out(x + a)

model = CharLM()
ids = torch.randint(0, 60, (8, 20))
loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
loss.backward()
""",
        "x.size(0), x.size(0)",
        "x.size(1), x.size(1)",
    ),
    "the same where a variable has the length": (
        """
class CausalAttention(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(-2, -1) / x.size(-1) ** 0.5
        T = x.size(0)
        mask = torch.tril(torch.ones(T, T))
        scores = scores.masked_fill(mask == 0, float("-inf"))
        return scores.softmax(dim=-1) @ v

attn = CausalAttention()
y = attn(torch.randn(8, 20, 32))
""",
        "T = x.size(0)",
        "T = x.size(1)",
    ),
    "the same made by a Transformer": (
        """
class LM(nn.Module):
    def __init__(self, vocab=60, dim=32, heads=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, heads, 64, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.emb(ids)
        mask = nn.Transformer.generate_square_subsequent_mask(ids.size(0))
        return self.out(self.enc(x, mask=mask))

model = LM()
ids = torch.randint(0, 60, (8, 20))
loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
loss.backward()
""",
        "ids.size(0)",
        "ids.size(1)",
    ),
    "positions of an odd width": (
        """
import math

import math

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=100):
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div)
        pe[:, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)]

enc = PositionalEncoding(45)
y = enc(torch.randn(2, 10, 45))
""",
        "torch.cos(position * div)",
        "torch.cos(position * div)[:, : d_model // 2]",
    ),
    "the letters of a batch in an equation": (
        """
items, user = torch.randn(400, 32), torch.randn(24, 32)
scores = torch.einsum("bd,bnd->bn", user, items)
""",
        "bd,bnd->bn",
        "bd,nd->bn",
    ),
    "columns of a matrix": (
        """
x, t = torch.rand(128), torch.rand(128)
y = nn.Linear(2, 8)(torch.cat([x, t], dim=1))
""",
        "torch.cat",
        "torch.stack",
    ),
    "one picture for a batch": (
        """
net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.Flatten(), nn.Linear(8 * 16 * 16, 4))

def predict(model, image):
    return net(image).argmax()

y = predict(net, torch.rand(3, 16, 16))
""",
        "net(image)",
        "net(image.unsqueeze(0))",
    ),
    "means and variances of half a width": (
        """
encoder, decoder = nn.Linear(40, 16), nn.Linear(16, 40)
mean, logvar = encoder(torch.randn(8, 40)).chunk(2, dim=-1)
y = decoder(mean + (0.5 * logvar).exp() * torch.randn_like(mean))
""",
        "encoder, decoder = nn.Linear(40, 16)",
        "encoder, decoder = nn.Linear(40, 32)",
    ),
    "the last of the hidden sizes": (
        """
def build(hidden):
    layers = [nn.Linear(a, b) for a, b in zip(hidden, hidden[1:])]
    return nn.Sequential(*layers, nn.Linear(hidden[0], 1))

y = build([64, 32, 16])(torch.randn(8, 64))
""",
        "hidden[0], 1",
        "hidden[-1], 1",
    ),
    "positions without the one of the class token": (
        """
class Embed(nn.Module):
    def __init__(self, side=8):
        super().__init__()
        self.patches = (32 // side) ** 2
        self.token = nn.Parameter(torch.zeros(1, 1, 24))
        self.positions = nn.Parameter(torch.zeros(1, self.patches, 24))

    def forward(self, x):
        return torch.cat((self.token.expand(x.size(0), -1, -1), x), dim=1) + self.positions

y = Embed()(torch.randn(4, 16, 24))
""",
        "zeros(1, self.patches, 24)",
        "zeros(1, self.patches + 1, 24)",
    ),
    "a stage too many": (
        """
def stages(widths=(8, 16, 16, 32)):
    layers, width = [], 1
    for size in widths:
        layers += [nn.Conv2d(width, size, 3, padding=1), nn.MaxPool2d(2)]
        width = size
    return nn.Sequential(*layers)

y = stages()(torch.rand(2, 1, 12, 12))
""",
        "(8, 16, 16, 32)",
        "(8, 16, 32)",
    ),
    "the state of an LSTM whose input is not known": (
        """
import sys

lstm = nn.LSTM(16, 32, batch_first=True)

def last(table):
    out, h, c = lstm(table)
    return h[-1]

y = last(sys.modules["features"].table)
""",
        "out, h, c",
        "out, (h, c)",
    ),
    "a new head for another width": (
        """
class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body, self.fc = nn.Linear(10, width), nn.Linear(width, 100)

    def forward(self, x):
        return self.fc(self.body(x))

model = Net()
model.fc = nn.Linear(32, 2)
y = model(torch.randn(4, 10))
""",
        "nn.Linear(32, 2)",
        "nn.Linear(model.fc.in_features, 2)",
    ),
    "features of several kernels": (
        """
class Net(nn.Module):
    def __init__(self, filters=10, kernels=(3, 4, 5)):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(8, filters, size) for size in kernels])
        self.head = nn.Linear(filters, 2)

    def forward(self, x):
        return self.head(torch.cat([conv(x).amax(dim=2) for conv in self.convs], dim=1))

y = Net()(torch.randn(4, 8, 20))
""",
        "nn.Linear(filters, 2)",
        "nn.Linear(filters * len(kernels), 2)",
    ),
    "pixels of a square": (
        """
class Generator(nn.Module):
    def __init__(self, side=28):
        super().__init__()
        self.side, self.net = side, nn.Linear(16, side)

    def forward(self, z):
        return self.net(z).view(-1, 1, self.side, self.side)

y = Generator()(torch.randn(4, 16))
""",
        "nn.Linear(16, side)",
        "nn.Linear(16, side * side)",
    ),
    "indices of classes for one output each": (
        """
scores, labels = nn.Linear(8, 5)(torch.randn(12, 8)), torch.randint(0, 5, (12,))
loss = nn.BCEWithLogitsLoss()(scores, labels.float())
""",
        "labels.float())",
        "nn.functional.one_hot(labels, scores.size(1)).float())",
    ),
    "classes that are scattered into a table": (
        """
labels = torch.randint(0, 5, (12,))
table = torch.zeros(12, 5)
table.scatter_(1, labels, 1.0)
""",
        "(1, labels, 1.0)",
        "(1, labels.unsqueeze(1), 1.0)",
    ),
    "an input that the caller moves": (
        """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(x)

model = Net().to(device)
rows = torch.tensor([[1.0] * 8])
y = model(rows)
""",
        "model(rows)",
        "model(rows.to(device))",
    ),
}


@pytest.mark.parametrize(("text", "old", "new"), CASES.values(), ids=CASES)
def test_repair(text: str, old: str, new: str) -> None:
    """The first fix of the only finding makes one text of the other."""
    source = HEAD + textwrap.dedent(text).lstrip("\n")
    (found,) = (item for item in analyze(source).diagnostics if item.severity != "hint")
    assert old in source
    assert SourceText(PATH, source).apply(found.fixes[0].edits) == source.replace(old, new)


def test_a_layer_that_each_forward_makes_anew() -> None:
    """It becomes an attribute, with a number for what only forward knows."""
    text = """
class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv, self.classes = nn.Conv2d(3, 8, 3, padding=1), classes

    def forward(self, x):
        x = self.conv(x).flatten(1)
        head = nn.Linear(x.shape[1], self.classes)
        return head(x)

model = Net(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(torch.rand(8, 3, 8, 8)), torch.randint(0, 4, (8,))).backward()
    optimizer.step()
"""
    source = HEAD + text.lstrip("\n")
    (found,) = (item for item in analyze(source).diagnostics if item.severity != "hint")
    changed = SourceText(PATH, source).apply(found.fixes[0].edits)
    assert "made anew" in found.message and found.start.line == source[: source.index("nn.Linear")].count("\n") + 1
    assert "classes\n        self.head = nn.Linear(512, self.classes)\n" in changed
    assert "flatten(1)\n        return self.head(x)\n" in changed

"""The parts that generated training programs are made of: models, data, losses, loops, and the faults that each can have.

A `Draw` decides everything by its seed. `Draw.either(fault, right, wrong)` gives the wrong text where that fault is put in; the
same seed gives the same program but for the fault.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEAD = ["import copy", "import argparse", "import os", "import tempfile", "from collections import namedtuple", "from dataclasses import dataclass",
        "import torch", "import torch.nn.functional as F", "from torch import nn",
        "from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset, WeightedRandomSampler, random_split",
        "torch.manual_seed(0)", ""]  # fmt: skip
CRASHES = frozenset(
    "features channels norm_features flatten pool_size heads embedding_rows classes target_dtype input_dtype collate split_lengths "
    "super_init shape_of_target backward_of_number detached cat_dim class_axis shuffle_with_sampler frozen_head plateau state_dict "
    "checkpoint_key missing_len hidden_state batch_key double_backward generator_graph residual_width "
    "rank_of_input logits_in_bce".split()
)
"""Faults that count where PyTorch refuses the program; the others are silent by construction."""


@dataclass
class Draw:
    """Chance, the sizes of the program, and the fault that is put in."""

    seed: int
    fault: str | None = None
    offered: list[str] = field(default_factory=list)
    sizes: dict[str, int | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.style = self.of("literal", "constant", "dataclass", "argparse", "dict")

    def of(self, *options: str) -> str:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def number(self, *options: int) -> int:
        return self.random.choice(options)

    def faulty(self, fault: str) -> bool:
        """Whether this is the place for the fault: the first at which it is possible."""
        self.offered.append(fault)
        return fault == self.fault and self.offered.count(fault) == 1

    def either(self, fault: str, right: str, wrong: str) -> str:
        return wrong if self.faulty(fault) else right

    def size(self, name: str, value: float) -> str:
        """A size of the program as its configuration has it."""
        self.sizes[name] = value
        return {
            "literal": str(value),
            "constant": name.upper(),
            "dataclass": f"cfg.{name}",
            "argparse": f"args.{name}",
            "dict": f'config["{name}"]',
        }[self.style]

    def configuration(self) -> list[str]:
        if not self.sizes:
            return []
        if self.style == "constant":
            return [f"{name.upper()} = {value}" for name, value in self.sizes.items()]
        if self.style == "dataclass":
            fields = [f"    {name}: {type(value).__name__} = {value}" for name, value in self.sizes.items()]
            return ["@dataclass", "class Config:", *fields, "", "", "cfg = Config()"]
        if self.style == "argparse":
            options = [
                f'parser.add_argument("--{name}", type={type(value).__name__}, default={value})'
                for name, value in self.sizes.items()
            ]
            return ["parser = argparse.ArgumentParser()", *options, "args = parser.parse_args([])"]
        if self.style == "dict":
            return ["config = {" + ", ".join(f'"{name}": {value}' for name, value in self.sizes.items()) + "}"]
        return []


def indented(lines: list[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line if line else line for line in lines]


# -- models ----------------------------------------------------------------------------------------


@dataclass
class Body:
    """The part of a model that makes features of its input `x`: lines of the constructor and of `forward`."""

    init: list[str]
    forward: list[str]
    features: str
    extra: list[str] = field(default_factory=list)
    """Classes that it needs."""
    acts: bool = False
    """Whether it is another one in training: dropout, batch norm."""


def vector_body(draw: Draw, width: int) -> Body:
    hidden, inner = draw.number(16, 24, 32), width + 1 if draw.faulty("features") else width
    act = draw.of("ReLU", "GELU", "Tanh", "SiLU")
    kind = draw.of("sequential", "layers", "modulelist", "loop", "residual", "moduledict")
    drop = f", nn.Dropout({draw.of('0.1', '0.3')})" if draw.chance(0.4) else ""
    if kind == "sequential":
        norm = f", nn.BatchNorm1d({hidden + 1 if draw.faulty('norm_features') else hidden})" if draw.chance(0.5) else ""
        init = [f"self.body = nn.Sequential(nn.Linear({inner}, {hidden}){norm}, nn.{act}(){drop})"]
        return Body(init, ["x = self.body(x)"], str(hidden), acts=bool(norm or drop))
    if kind == "layers":
        init = [
            f"self.fc1 = nn.Linear({inner}, {hidden})",
            f"self.norm = nn.LayerNorm({hidden})",
            f"self.fc2 = nn.Linear({hidden}, {hidden})",
        ]
        return Body(init, ["x = torch.relu(self.fc1(x))", "x = F.relu(self.fc2(self.norm(x)))"], str(hidden))
    if kind == "modulelist":
        layers = f"[nn.Linear({inner} if i == 0 else {hidden}, {hidden}) for i in range(3)]"
        init = [f"self.layers = {draw.either('plain_list', f'nn.ModuleList({layers})', layers)}"]
        return Body(init, ["for layer in self.layers:", "    x = torch.tanh(layer(x))"], str(hidden))
    if kind == "loop":
        init = ["layers = []", f"sizes = [{inner}, {hidden}, {hidden}]", "for a, b in zip(sizes[:-1], sizes[1:]):",
                f"    layers += [nn.Linear(a, b), nn.{act}(){drop}]", "self.body = nn.Sequential(*layers)"]  # fmt: skip
        return Body(init, ["x = self.body(x)"], str(hidden), acts=bool(drop))
    if kind == "residual":
        wrong = "dim * 2" if draw.faulty("residual_width") else "dim"
        block = ["class Block(nn.Module):", "    def __init__(self, dim):",
                 *draw.either("super_init", "        super().__init__()\n", "").splitlines(),
                 "        self.norm = nn.LayerNorm(dim)", "        self.fc1 = nn.Linear(dim, dim * 2)",
                 f"        self.fc2 = nn.Linear(dim * 2, {wrong})", "", "    def forward(self, x):",
                 f"        return x + self.fc2(F.{act.lower()}(self.fc1(self.norm(x))))", "", ""]  # fmt: skip
        init = [
            f"self.embed = nn.Linear({inner}, {hidden})",
            f"self.blocks = nn.Sequential(*[Block({hidden}) for _ in range(2)])",
        ]
        return Body(init, ["x = self.blocks(self.embed(x))"], str(hidden), block)
    init = [
        f"self.parts = nn.ModuleDict({{'first': nn.Linear({inner}, {hidden}), 'act': nn.{act}()}})",
        f"self.register_buffer('scale', torch.ones({width}))",
    ]
    return Body(init, ["x = self.parts['act'](self.parts['first'](x * self.scale))"], str(hidden))


def image_body(draw: Draw, channels: int, size: int) -> Body:
    wide, inner = draw.number(8, 12), channels + 1 if draw.faulty("channels") else channels
    kind = draw.of("flatten", "adaptive", "residual", "loop")
    if kind == "flatten":
        side = size // 4 + 1 if draw.faulty("pool_size") else size // 4
        init = [f"self.conv1 = nn.Conv2d({inner}, {wide}, 3, padding=1)",
                f"self.bn1 = nn.BatchNorm2d({wide * 2 if draw.faulty('norm_features') else wide})",
                f"self.conv2 = nn.Conv2d({wide}, {wide * 2}, kernel_size=3, padding=1)", "self.pool = nn.MaxPool2d(2)",
                f"self.fc = nn.Linear({wide * 2} * {side} * {side}, 32)"]  # fmt: skip
        flatten = draw.of(
            "x = x.flatten(1)", "x = torch.flatten(x, 1)", "x = x.view(x.size(0), -1)", "x = x.reshape(x.shape[0], -1)"
        )
        forward = ["x = self.pool(F.relu(self.bn1(self.conv1(x))))", "x = self.pool(F.relu(self.conv2(x)))",
                   *draw.either("flatten", flatten, "").splitlines(), "x = F.relu(self.fc(x))"]  # fmt: skip
        return Body(init, forward, "32", acts=True)
    if kind == "adaptive":
        init = [f"self.net = nn.Sequential(nn.Conv2d({inner}, {wide}, 3, stride=2), nn.BatchNorm2d({wide}), nn.ReLU(inplace=True),",
                f"    nn.Conv2d({wide}, {wide * 2}, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1){draw.either('flatten', ', nn.Flatten()', '')})"]  # fmt: skip
        return Body(init, ["x = self.net(x)"], str(wide * 2), acts=True)
    if kind == "residual":
        block = ["class ResBlock(nn.Module):", "    def __init__(self, cin, cout, stride=1):", "        super().__init__()",
                 "        self.conv1 = nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False)", "        self.bn1 = nn.BatchNorm2d(cout)",
                 "        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1, bias=False)", "        self.bn2 = nn.BatchNorm2d(cout)",
                 "        self.skip = nn.Identity()", "        if stride != 1 or cin != cout:",
                 f"            self.skip = nn.Conv2d(cin, {'cin' if draw.faulty('residual_width') else 'cout'}, 1, stride=stride)", "", "    def forward(self, x):",
                 "        out = F.relu(self.bn1(self.conv1(x)))", "        out = self.bn2(self.conv2(out))",
                 "        return F.relu(out + self.skip(x))", "", ""]  # fmt: skip
        init = [f"self.stem = ResBlock({inner}, {wide})", f"self.down = ResBlock({wide}, {wide * 2}, stride=2)"]
        return Body(init, ["x = self.down(self.stem(x))", "x = x.mean(dim=(2, 3))"], str(wide * 2), block, True)
    init = ["blocks, cin = [], " + str(inner), f"for cout in ({wide}, {wide * 2}):",
            "    blocks.append(nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(2, cout), nn.ReLU(), nn.AvgPool2d(2)))",
            "    cin = cout", "self.blocks = nn.ModuleList(blocks)"]  # fmt: skip
    return Body(init, ["for block in self.blocks:", "    x = block(x)", "x = x.amax((-2, -1))"], str(wide * 2))


def recurrent_lines(draw: Draw, width: int | str, each: bool) -> Body:
    """A recurrent layer over (N, T, width); `each`: features of each step, not of the sequence."""
    kind, hidden, both = draw.of("RNN", "LSTM", "GRU"), draw.number(16, 20), draw.chance(0.3)
    inner = f"{width} + 1" if draw.faulty("features") else str(width)
    options = ", bidirectional=True" if both else ""
    last = "h[0]" if kind == "LSTM" else "h"
    features = str(hidden * 2 if both else hidden)
    if draw.chance(0.7):
        first = draw.either("batch_first", ", batch_first=True", "")
        init = [f"self.rnn = nn.{kind}({inner}, {hidden}{first}{options})"]
        if each:
            return Body(init, ["x, _ = self.rnn(x)"], features)
        if both:
            axis = "0" if draw.faulty("cat_dim") else "1"
            return Body(
                init, ["out, h = self.rnn(x)", f"x = torch.cat([{last}[-2], {last}[-1]], dim={axis})"], features
            )
        if draw.chance(0.4):
            state = f"torch.zeros(1, x.size({'1' if draw.faulty('hidden_state') else '0'}), {hidden}, device=x.device)"
            states = f"({state}, {state})" if kind == "LSTM" else state
            return Body(init, [f"h0 = {states}", "out, _ = self.rnn(x, h0)", "x = out[:, -1, :]"], features)
        return Body(
            init,
            ["out, h = self.rnn(x)", draw.of("x = out[:, -1]", f"x = {last}[-1]", "x = out.mean(dim=1)")],
            features,
        )
    init = [f"self.rnn = nn.{kind}({inner}, {hidden}{options})"]
    swap = draw.of("x = x.transpose(0, 1)", "x = x.permute(1, 0, 2)")
    forward = [*draw.either("batch_first", swap, "").splitlines(), "out, _ = self.rnn(x)"]
    return Body(init, [*forward, "x = out.transpose(0, 1)" if each else "x = out[-1]"], features)


def attention_lines(draw: Draw, width: int, each: bool, mask: str = "") -> Body:
    """Self-attention over (N, T, width)."""
    heads = "3" if draw.faulty("heads") else draw.of("2", "4")
    pool = [] if each else [draw.of("x = x.mean(dim=1)", "x = x[:, 0]", "x, _ = x.max(dim=1)")]
    if draw.chance(0.5):
        init = [f"layer = nn.TransformerEncoderLayer({width}, {heads}, dim_feedforward=32, batch_first=True, dropout=0.1)",
                "self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)"]  # fmt: skip
        key = f", src_key_padding_mask={mask}" if mask else ""
        return Body(init, [f"x = self.encoder(x{key})", *pool], str(width), acts=True)
    if draw.chance(0.5):
        init = [
            f"self.attention = nn.MultiheadAttention({width}, {heads}, batch_first=True)",
            f"self.norm = nn.LayerNorm({width})",
        ]
        key = f", key_padding_mask={mask}" if mask else ""
        return Body(init, [f"out, weights = self.attention(x, x, x{key})", "x = self.norm(x + out)", *pool], str(width))
    axis = "1" if draw.faulty("softmax_axis") else "-1"
    init = [
        f"self.qkv = nn.Linear({width}, 3 * {width})",
        f"self.heads = {heads}",
        f"self.proj = nn.Linear({width}, {width})",
    ]
    forward = ["n, t, d = x.shape", "q, k, v = self.qkv(x).chunk(3, dim=-1)",
               "q, k, v = (part.view(n, t, self.heads, d // self.heads).transpose(1, 2) for part in (q, k, v))",
               "scores = q @ k.transpose(-2, -1) / (d // self.heads) ** 0.5",
               *([f"scores = scores.masked_fill({mask}[:, None, None, :], float('-inf'))"] if mask else []),
               f"weights = F.softmax(scores, dim={axis if axis == '-1' else '-2'})",
               "x = x + self.proj((weights @ v).transpose(1, 2).reshape(n, t, d))", *pool]  # fmt: skip
    return Body(init, forward, str(width))


def sequence_body(draw: Draw, width: int, each: bool, mask: str = "") -> Body:
    kind = draw.of("recurrent", "recurrent", "attention", "convolution")
    if kind == "recurrent":
        return recurrent_lines(draw, width, each)
    if kind == "attention" and width % 4 == 0:
        return attention_lines(draw, width, each, mask)
    inner = width + 2 if draw.faulty("channels") else width
    init = [f"self.conv = nn.Conv1d({inner}, 24, kernel_size=3, padding=1)"]
    forward = [*draw.either("class_axis", "x = x.transpose(1, 2)", "").splitlines(), "x = F.relu(self.conv(x))"]
    return Body(
        init,
        [*forward, "x = x.transpose(1, 2)" if each else draw.of("x = x.mean(-1)", "x = x.max(dim=2).values")],
        "24",
    )


def token_body(draw: Draw, rows: int, each: bool, padded: bool) -> Body:
    width = draw.number(16, 32)
    count = rows - 3 if draw.faulty("embedding_rows") else rows
    option = ", padding_idx=0" if padded else ""
    init = [f"self.embedding = nn.Embedding({count}, {width}{option})"]
    if not each and draw.chance(0.4):
        if padded:
            forward = ["mask = (x != 0).unsqueeze(-1)", "x = (self.embedding(x) * mask).sum(1) / mask.sum(1)"]
        else:
            forward = ["x = self.embedding(x).mean(dim=1)"]
        return Body(init, forward, str(width))
    rest = sequence_body(draw, width, each, "mask" if padded else "")
    drop = draw.chance(0.3)
    look = [
        *(["mask = x == 0"] if padded else []),
        f"x = {'self.drop(self.embedding(x))' if drop else 'self.embedding(x)'}",
    ]
    init += ["self.drop = nn.Dropout(0.2)"] if drop else []
    return Body([*init, *rest.init], [*look, *rest.forward], rest.features, acts=drop or rest.acts)


# -- tasks -----------------------------------------------------------------------------------------


@dataclass
class Task:
    """What is learned: the data, the model, and the lines that compute the loss of a batch."""

    arrays: list[str]
    """Lines that make `x` and `y` for `count` samples."""
    classes: list[str]
    build: str
    predict: list[str]
    """Lines over `{model}` and x that make `out`."""
    criterion: str
    """A module, or nothing where the loss is a function."""
    loss: list[str]
    """Lines over `{criterion}`, out and y that make `loss`."""
    metric: str
    """An expression over out and y: the number of correct ones."""
    acts: bool
    kind: str
    labels: bool
    ragged: bool = False
    rows: int = 0


def network(draw: Draw, body: Body, outputs: str, squeeze: str = "") -> list[str]:
    """The class of a model with a head for `outputs`."""
    start = [*body.extra, "class Net(nn.Module):", f"    def __init__(self, outputs{draw.of('', '=3')}):"]
    head = f"self.head = nn.Linear({body.features}, outputs)"
    if draw.chance(0.3):
        head = f"self.head = nn.Sequential(nn.Linear({body.features}, 16), nn.ReLU(), nn.Linear(16, outputs))"
    forward = [*body.forward, f"return self.head(x){squeeze}"]
    if draw.chance(0.2):
        half = ["    def features(self, x):", *indented([*body.forward, "return x"], 2), ""]
        forward = [f"return self.head(self.features(x)){squeeze}"]
    else:
        half = []
    opening = draw.either("super_init", "        super().__init__()", "        self.outputs = outputs")
    return [
        *start,
        opening,
        *indented([*body.init, head], 2),
        "",
        *half,
        "    def forward(self, x):",
        *indented(forward, 2),
        "",
        "",
    ]


def task(draw: Draw) -> Task:
    kind = draw.of("vector", "image", "series", "tokens", "tokens")
    goal = draw.of(
        "classes", "classes", "binary", "several", "regression", "each" if kind in ("series", "tokens") else "classes"
    )
    each, ragged, rows = goal == "each", False, 0
    if kind == "vector":
        width = draw.number(6, 10, 20)
        x, body, acts = f"torch.randn(count, {draw.size('inputs', width)})", vector_body(draw, width), False
    elif kind == "image":
        channels, size = draw.number(1, 3), draw.number(8, 16)
        x, body = f"torch.randn(count, {channels}, {size}, {size})", image_body(draw, channels, size)
    elif kind == "series":
        width = draw.number(4, 8, 12)
        x, body = (
            f"torch.randn(count, {draw.size('steps', draw.number(5, 7, 9))}, {width})",
            sequence_body(draw, width, each),
        )
    else:
        rows, ragged = draw.number(30, 50), draw.chance(0.4) and not each
        x = f"torch.randint(1, {draw.size('vocabulary', rows)}, (count, {draw.size('steps', draw.number(6, 8, 10))}))"
        body = token_body(draw, rows, each, ragged or draw.chance(0.2))
    if draw.faulty("input_dtype") and kind != "tokens":
        x += ".double()"
    acts = body.acts
    made = goals(draw, goal, acts, kind)
    made.arrays.insert(0, f"x = {x}")
    made.classes = network(draw, body, made.build, ".squeeze(-1)" if made.criterion == "squeezed" else "")
    made.criterion = "" if made.criterion == "squeezed" else made.criterion
    made.ragged, made.rows = ragged, rows
    return made


def goals(draw: Draw, goal: str, acts: bool, kind: str) -> Task:
    outputs = draw.number(3, 4, 5)
    size = draw.size("outputs", outputs)
    build = f"Net({draw.of('', 'outputs=')}{size})"
    predict = ["out = {model}(x)"]
    if goal in ("classes", "each"):
        many = "(count,)" if goal == "classes" else "(count, x.size(1))"
        y = f"y = torch.randint(0, {outputs + 2 if draw.faulty('classes') else size}, {many}){draw.either('target_dtype', '', '.float()')}"
        out = draw.either("softmax_before_loss", "out", "F.softmax(out, dim=-1)")
        if goal == "each":
            form = draw.of("transpose", "flat")
            right = {
                "transpose": (f"{out}.transpose(1, 2)", "y"),
                "flat": (f"{out}.reshape(-1, {out}.size(-1))", "y.reshape(-1)"),
            }[form]
            pair = ", ".join(right if not draw.faulty("class_axis") else (out, "y"))
            metric = "(out.argmax(dim=-1) == y).float().mean(1).sum().item()"
        else:
            pair = f"{out}, y"
            metric = draw.of(
                "(out.argmax(1) == y).sum().item()",
                "out.argmax(dim=-1).eq(y).sum().item()",
                "(out.max(1)[1] == y).sum().item()",
            )
            if draw.faulty("metric_axis"):
                metric = "(out.argmax(0)[: 1] == y).sum().item()"
        criterion = draw.of(
            "nn.CrossEntropyLoss()",
            "nn.CrossEntropyLoss(label_smoothing=0.1)",
            "nn.CrossEntropyLoss(ignore_index=-100)",
            "",
            "nll",
        )
        if criterion == "nll":
            inside = (
                pair.replace(out, draw.either("log_softmax", f"F.log_softmax({out}, dim=-1)", out), 1)
                if goal == "classes"
                else pair
            )
            if goal == "classes":
                return Task(
                    [y],
                    [],
                    build,
                    predict,
                    "nn.NLLLoss()",
                    [f"loss = {{criterion}}({inside})"],
                    metric,
                    acts,
                    kind,
                    True,
                )
            criterion = ""
        compared = f"loss = {{criterion}}({pair})" if criterion else f"loss = F.cross_entropy({pair})"
        return Task([y], [], build, predict, criterion, [compared], metric, acts, kind, goal == "classes")
    if goal == "binary":
        y = f"y = torch.randint(0, 2, (count,)){draw.either('target_dtype', '.float()', '')}"
        squeezed = draw.either("shape_of_target", "squeezed", "")
        loss = ["loss = F.binary_cross_entropy_with_logits(out, y)"]
        if draw.faulty("sigmoid_twice"):
            loss = ["loss = F.binary_cross_entropy_with_logits(torch.sigmoid(out), y)"]
        elif draw.chance(0.3):
            loss = [
                draw.either(
                    "logits_in_bce",
                    "loss = F.binary_cross_entropy(torch.sigmoid(out), y)",
                    "loss = F.binary_cross_entropy(out, y)",
                )
            ]
        return Task(
            [y],
            [],
            "Net(1)",
            predict,
            squeezed,
            loss,
            "((out > 0).float() == y).sum().item()",
            acts,
            kind,
            False,
        )
    if goal == "several":
        y = f"y = (torch.rand(count, {size}) > 0.5){draw.either('target_dtype', '.float()', '.long()')}"
        out = draw.either("sigmoid_twice", "out", "out.sigmoid()")
        criterion = draw.of("nn.BCEWithLogitsLoss()", f"nn.BCEWithLogitsLoss(pos_weight=torch.ones({outputs}))")
        return Task([y], [], build, predict, criterion, [f"loss = {{criterion}}({out}, y)"], "((out > 0) == (y > 0.5)).all(dim=1).sum().item()", acts, kind, False)  # fmt: skip
    flat = draw.chance(0.5)
    y = f"y = torch.randn(count{'' if flat else ', 1'}){draw.either('target_dtype', '', '.double()')}"
    criterion = draw.of("nn.MSELoss()", "nn.L1Loss()", "nn.SmoothL1Loss()", "nn.HuberLoss()", "")
    distance = "loss = {criterion}(out, y)" if criterion else "loss = ((out - y) ** 2).mean()"
    if flat and not draw.faulty("broadcast_loss"):
        predict = ["out = {model}(x).squeeze(1)"]
    return Task([y], [], "Net(1)", predict, criterion, [distance], "(out - y).abs().sum().item()", acts, kind, False)


# -- data ------------------------------------------------------------------------------------------


@dataclass
class Data:
    """Classes and statements that leave `train_loader` and `val_loader`, and how a batch becomes `x` and `y`."""

    classes: list[str]
    lines: list[str]
    header: str
    unpack: list[str]


def data(draw: Draw, made: Task) -> Data:
    count, batch = draw.number(36, 44, 52), draw.size("batch_size", draw.number(8, 10))
    if draw.chance(0.5):
        arrays = ["def make_data(count):", *indented([*made.arrays, "return x, y"]), "", ""]
        lines = [f"x, y = make_data({draw.size('samples', count)})"]
    else:
        arrays, lines = [], [f"count = {draw.size('samples', count)}", *made.arrays]
    form = draw.of("tuple", "tuple", "dict", "named")
    style = "class" if made.ragged or form != "tuple" else draw.of("tensors", "class", "list", "stream")
    sample = {"tuple": "{x}, {y}", "dict": '{{"x": {x}, "y": {y}}}', "named": "Sample({x}, {y})"}[form]
    collate, options = "", ""
    classes = ['Sample = namedtuple("Sample", ["x", "y"])', "", ""] if form == "named" else []
    if style == "class":
        length = draw.either("missing_len", "\n    def __len__(self):\n        return len(self.x)\n", "")
        index = "[0]" if draw.faulty("index_not_used") else "[index]"
        x = f"self.x{index}"
        if made.ragged:
            x = "self.x[index][: 3 + index % 4]"
        classes += ["class Samples(Dataset):", "    def __init__(self, x, y):", "        self.x, self.y = x, y",
                    *length.splitlines(), "", "    def __getitem__(self, index):",
                    f"        return {sample.format(x=x, y=f'self.y{index}')}", "", ""]  # fmt: skip
        lines.append("dataset = Samples(x, y)")
        if made.ragged:
            get = {"tuple": ("item[0]", "item[1]"), "dict": ('item["x"]', 'item["y"]'), "named": ("item.x", "item.y")}[
                form
            ]
            result = sample.format(x="x", y="y")
            classes += ["def collate(items):", f"    x = nn.utils.rnn.pad_sequence([{get[0]} for item in items], batch_first=True)",
                        f"    y = torch.stack([{get[1]} for item in items])", f"    return {result}", "", ""]  # fmt: skip
            collate = draw.either("collate", ", collate_fn=collate", "")
    elif style == "tensors":
        lines.append("dataset = TensorDataset(x, y)")
    elif style == "list":
        lines.append("dataset = [(x[i], y[i]) for i in range(len(x))]")
    else:
        classes += ["class Stream(IterableDataset):", "    def __init__(self, x, y):", "        super().__init__()", "        self.x, self.y = x, y", "",
                    "    def __iter__(self):", "        for pair in zip(self.x, self.y):", "            yield pair", "", ""]  # fmt: skip
    options = collate
    if style == "stream":
        lines += [
            f"train_loader = DataLoader(Stream(x[:-12], y[:-12]), batch_size={batch})",
            f"val_loader = DataLoader(Stream(x[-12:], y[-12:]), batch_size={batch})",
        ]
    else:
        rest = "len(dataset) - 10" if draw.faulty("split_lengths") else "len(dataset) - 12"
        split = draw.of("lengths", "lengths", "subset", "fractions")
        part = {"lengths": f"random_split(dataset, [{rest}, 12])", "fractions": "random_split(dataset, [0.75, 0.25])",
                "subset": "Subset(dataset, range(0, len(dataset) - 12)), Subset(dataset, range(len(dataset) - 12, len(dataset)))"}[split]  # fmt: skip
        lines.append(f"train_set, val_set = {part}")
        order = "shuffle=True"
        if draw.chance(0.2):
            lines.append("sampler = WeightedRandomSampler(torch.ones(len(train_set)), num_samples=len(train_set))")
            order = draw.either("shuffle_with_sampler", "sampler=sampler", "sampler=sampler, shuffle=True")
        last = ", drop_last=True" if draw.chance(0.4) else ""
        lines += [f"train_loader = DataLoader(train_set, batch_size={batch}, {order}{last}{options})",
                  f"val_loader = DataLoader(val_set, batch_size={draw.of(batch, '6')}{options})"]  # fmt: skip
    wrong = "target" if draw.faulty("batch_key") else "y"
    if form == "tuple":
        header, unpack = draw.of("x, y", "batch", "i, (x, y)"), []
        if header == "batch":
            unpack = ["x, y = batch"]
    elif form == "dict":
        header, unpack = "batch", [f'x, y = batch["x"], batch["{wrong}"]']
    else:
        header, unpack = draw.of("batch", "sample"), []
        unpack = [f"x, y = {header}.x, {header}.{wrong}"]
    return Data([*classes, *arrays], lines, header, unpack)


# -- loops -----------------------------------------------------------------------------------------


@dataclass
class Loop:
    """What is drawn about the training loop; `names` are those of the parts in the place where it stands."""

    draw: Draw
    made: Task
    given: Data
    names: dict[str, str]
    scheduler: str
    amp: bool
    scaler: bool
    clip: bool
    accumulate: int
    ema: bool

    def opened(self, loader: str) -> str:
        header = self.given.header
        accumulated = self.accumulate > 1 and loader.startswith("train") or header.startswith("i, ")
        if accumulated and not header.startswith("i, "):
            header = f"i, {'(x, y)' if header == 'x, y' else header}"
        return f"for {header} in {f'enumerate({loader})' if header.startswith('i, ') else loader}:"

    def loss(self) -> list[str]:
        lines = [line.format(**self.names) for line in (*self.made.predict, *self.made.loss)]
        if self.amp:
            return ["with torch.autocast('cpu', dtype=torch.bfloat16):", *indented(lines)]
        return lines

    def moved(self) -> list[str]:
        if "device" not in self.names:
            return []
        device = self.names["device"]
        return [f"x, y = x.to({device}), y.to({device})"]

    def train(self, loader: str = "train_loader") -> list[str]:
        """One epoch: leaves `total` and `seen`."""
        draw, optimizer = self.draw, self.names["optimizer"]
        every, zero = self.accumulate, [f"{optimizer}.zero_grad()"]
        step = [f"{optimizer}.step()"]
        clip = (
            [f"nn.utils.clip_grad_norm_({self.names['model']}.parameters(), {draw.of('1.0', 'max_norm=5.0')})"]
            if self.clip
            else []
        )
        backward = ["loss.backward()"]
        if self.scaler:
            clip = ["scaler.unscale_(" + optimizer + ")", *clip] if clip else []
            step, backward = [f"scaler.step({optimizer})", "scaler.update()"], ["scaler.scale(loss).backward()"]
        if self.scheduler == "batch":
            step.append(f"{self.names['scheduler']}.step()")
        if self.ema:
            step += ["with torch.no_grad():", "    for slow, fast in zip(average.parameters(), model.parameters()):",
                     "        slow.mul_(0.99).add_(fast, alpha=0.01)"]  # fmt: skip
        loss = self.loss()
        if every > 1:
            divide = draw.either("accumulation_not_divided", f"(loss / {every}).backward()", "loss.backward()")
            back = [
                divide.replace("(loss / ", "scaler.scale(loss / ")
                if self.scaler and divide.startswith("(")
                else backward[0]
                if self.scaler
                else divide
            ]
            body = [*loss, *back, f"if (i + 1) % {every} == 0:", *indented([*clip, *step, *zero])]
        else:
            body = self.step(loss, zero, backward, clip, step)
        kept = draw.either("loss_kept", "loss.item()", "loss")
        total = (
            draw.of(f"total += {kept}", f"total = total + {kept}")
            if kept == "loss" or draw.chance(0.5)
            else "total += loss.item() * x.size(0)"
        )
        mode = (
            draw.either("train_mode", f"{self.names['model']}.train()", "")
            if self.made.acts
            else f"{self.names['model']}.train()"
        )
        start = [mode] if mode else []
        return [*start, "total, seen = 0.0, 0", *(zero if every > 1 else []), self.opened(loader),
                *indented([*self.given.unpack, *self.moved(), *body, total, "seen += x.size(0)"])]  # fmt: skip

    def step(
        self, loss: list[str], zero: list[str], backward: list[str], clip: list[str], step: list[str]
    ) -> list[str]:
        draw = self.draw
        if draw.faulty("no_zero_grad"):
            zero = []
        if draw.faulty("no_backward"):
            return [*loss, *zero, *step]
        if draw.faulty("no_step"):
            return [*zero, *loss, *backward]
        if not self.scaler and draw.faulty("step_before_backward"):
            return [*zero, *loss, *step, *backward]
        if draw.faulty("zero_before_step"):
            return [*loss, *backward, *clip, *zero, *step]
        if clip and not self.scaler and draw.faulty("clip_after_step"):
            return [*zero, *loss, *backward, *step, *clip]
        if draw.faulty("backward_of_number"):
            return [*zero, *loss, "loss = loss.item()", *backward, *clip, *step]
        if draw.faulty("detached"):
            return [*zero, *loss, "loss = loss.detach()", *backward, *clip, *step]
        if draw.faulty("double_backward"):
            return [*zero, *loss, *backward, *backward, *clip, *step]
        if draw.chance(0.5):
            return [*zero, *loss, *backward, *clip, *step]
        return [*loss, *zero, *backward, *clip, *step]

    def evaluate(self, loader: str = "val_loader") -> list[str]:
        """One pass over the other data: leaves `correct` and `held`."""
        draw, model = self.draw, self.names["model"]
        mode = f"{model}.eval()"
        if self.made.acts:
            mode = draw.either("eval_mode", mode, "")
        inner = [*self.given.unpack, *self.moved(), *[line.format(**self.names) for line in self.made.predict]]
        if draw.faulty("trained_on_validation"):
            inner += [*[line.format(**self.names) for line in self.made.loss], f"{self.names['optimizer']}.zero_grad()", "loss.backward()",
                      f"{self.names['optimizer']}.step()"]  # fmt: skip
            guard = ""
        else:
            guard = draw.of("with torch.no_grad():", "with torch.inference_mode():")
            if draw.faulty("no_grad"):
                guard = ""
        inner += [f"correct += {self.made.metric}", "held += y.size(0)"]
        lines = [self.opened(loader), *indented(inner)]
        return [*([mode] if mode else []), "correct, held = 0.0, 0", *([guard, *indented(lines)] if guard else lines)]


def optimizer_lines(draw: Draw, made: Task) -> list[str]:
    """Statements that make `model` and `optimizer`."""
    rate = draw.size("lr", 0.01)
    build = [f"model = {made.build}"]
    if draw.chance(0.3):
        build.append("device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')")
        build.append("model = model.to(device)" if draw.chance(0.5) else "model.to(device)")
    parameters = draw.of("model.parameters()", "model.parameters()", "groups", "trainable")
    if parameters == "groups":
        parameters = f"[{{'params': model.head.parameters(), 'lr': {rate}}}, {{'params': [p for n, p in model.named_parameters() if not n.startswith('head')], 'weight_decay': 0.0}}]"
    elif parameters == "trainable":
        parameters = "[p for p in model.parameters() if p.requires_grad]"
    optimizer = "torch.optim." + draw.of(f"SGD({parameters}, lr={rate}, momentum=0.9)", f"Adam({parameters}, lr={rate})", f"AdamW({parameters}, lr={rate}, weight_decay=0.01)",
                                         f"RMSprop({parameters}, lr={rate})")  # fmt: skip
    lines = [*build, f"optimizer = {optimizer}"]
    if draw.faulty("model_replaced"):
        lines.append(f"model = {made.build}" + (".to(device)" if any("device" in line for line in build) else ""))
    if draw.chance(0.2):
        lines[1:1] = [
            "for name, parameter in model.named_parameters():",
            "    if not name.startswith('head'):",
            "        parameter.requires_grad_(False)",
        ]
        if draw.faulty("frozen_head"):
            lines[1:4] = ["for parameter in model.parameters():", "    parameter.requires_grad = False"]
        elif draw.faulty("misspelt_freeze"):
            lines[3] = "        parameter.require_grad = False"
    return lines


def scheduler_lines(draw: Draw) -> tuple[str, list[str], list[str]]:
    """When it is stepped (epoch, batch or never), what makes it, and its step after an epoch."""
    epochs = draw.size("epochs", draw.number(2, 3))
    kind = draw.of("none", "StepLR", "cosine", "plateau", "onecycle", "lambda")
    if kind == "none":
        return "", [], []
    make = "scheduler = torch.optim.lr_scheduler."
    step = ["scheduler.step()"]
    if kind == "StepLR":
        return "epoch", [f"{make}StepLR(optimizer, step_size=1, gamma=0.9)"], step
    if kind == "cosine":
        return (
            ("batch" if draw.faulty("schedule_in_epochs") else "epoch"),
            [f"{make}CosineAnnealingLR(optimizer, T_max={epochs})"],
            step,
        )
    if kind == "plateau":
        return (
            "epoch",
            [f"{make}ReduceLROnPlateau(optimizer, patience=1)"],
            [draw.either("plateau", "scheduler.step(total)", "scheduler.step()")],
        )
    if kind == "onecycle":
        when = "epoch" if draw.faulty("schedule_in_batches") else "batch"
        return when, [f"{make}OneCycleLR(optimizer, max_lr=0.1, total_steps={epochs} * len(train_loader))"], step
    return "batch", [f"{make}LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))"], step


def supervised(draw: Draw) -> list[str]:
    """A program that learns from labelled samples."""
    made = task(draw)
    given = data(draw, made)
    stream = any("IterableDataset)" in line for line in given.classes)
    models = optimizer_lines(draw, made)
    when, scheduler, scheduled = scheduler_lines(draw)
    if stream and any("len(train_loader)" in line for line in scheduler):
        when, scheduler, scheduled = "", [], []
    style = draw.of("script", "functions", "trainer", "function")
    scaler, ema = draw.chance(0.15), draw.chance(0.15) and style == "script"
    loop = Loop(
        draw,
        made,
        given,
        {},
        when,
        draw.chance(0.15) and "binary_cross_entropy(" not in str(made.loss),
        scaler,
        draw.chance(0.4),
        draw.number(1, 1, 2),
        ema,
    )
    if loop.accumulate > 1 and when == "batch":
        updates = f"(len(train_loader) // {loop.accumulate} + 1)"
        scheduler = [line.replace("* len(train_loader)", f"* {updates}") for line in scheduler]
    parts = ["model", "optimizer", *(["criterion"] if made.criterion else []), *(["device"] if any("device" in line for line in models) else []),
             *(["scheduler"] if scheduler else [])]  # fmt: skip
    loop.names = {name: f"self.{name}" if style == "trainer" else name for name in parts}
    criterion = [f"criterion = {made.criterion}"] if made.criterion else []
    if criterion and "device" in parts:
        criterion = [f"{criterion[0]}.to(device)"]
    prepare = [*given.lines, *models, *criterion, *scheduler, *(["scaler = torch.amp.GradScaler('cpu', enabled=False)"] if scaler else []),
               *(["average = copy.deepcopy(model)"] if ema else [])]  # fmt: skip
    epochs = draw.size("epochs", draw.number(2, 3))
    train, evaluate = loop.train(), loop.evaluate()
    accuracy = draw.either(
        "wrong_divisor", "correct / held", "correct / len(val_loader)" if not stream else "correct / 2"
    )
    functions: list[str] = []
    body: list[str]
    after = scheduled if when == "epoch" else []
    extra = ["scaler"] if scaler else []
    if style == "script":
        body = [*train, *evaluate, f"accuracy = {accuracy}"]
    elif style == "trainer":
        functions = ["class Trainer:", f"    def __init__(self, {', '.join([*parts, *extra])}):", *indented([f"self.{name} = {name}" for name in [*parts, *extra]], 2), "",
                     "    def train(self, train_loader):", *indented([line.replace("scaler.", "self.scaler.") for line in train], 2), "        return total / seen", "",
                     "    def evaluate(self, val_loader):", *indented(evaluate, 2), f"        return {accuracy}", "", ""]  # fmt: skip
        prepare.append(f"trainer = Trainer({', '.join([*parts, *extra])})")
        body = ["total = trainer.train(train_loader)", "accuracy = trainer.evaluate(val_loader)"]
    else:
        arguments = ", ".join([*parts, *extra])
        functions = [
            f"def train_epoch({arguments}, train_loader):",
            *indented(train),
            "    return total / seen",
            "",
            "",
        ]
        functions += [f"def evaluate({arguments}, val_loader):", *indented(evaluate), f"    return {accuracy}", "", ""]
        body = [f"total = train_epoch({arguments}, train_loader)", f"accuracy = evaluate({arguments}, val_loader)"]
    start, best = best_lines(draw)
    loop_lines = [
        *start,
        f"for epoch in range({epochs}):",
        *indented([*body, *after, *best, 'print(f"{epoch} {total:.3f} {accuracy:.3f}")']),
    ]
    main = [*prepare, *loop_lines, *checkpoint_lines(draw, made, bool(start))]
    if style == "function":
        main = ["def main():", *indented(main), "", "", 'if __name__ == "__main__":', "    main()"]
    return [*HEAD, *draw.configuration(), "", "", *given.classes, *made.classes, *functions, *main, ""]


def best_lines(draw: Draw) -> tuple[list[str], list[str]]:
    """Early stopping: what stands before the epochs, and at the end of each."""
    if draw.chance(0.5):
        return [], []
    state = draw.either(
        "best_by_reference",
        draw.of("copy.deepcopy(model.state_dict())", "{k: v.detach().clone() for k, v in model.state_dict().items()}"),
        "model.state_dict()",
    )
    return ["best, best_state = -1.0, None"], [
        "if accuracy > best:",
        "    best = accuracy",
        f"    best_state = {state}",
    ]


def checkpoint_lines(draw: Draw, made: Task, best: bool) -> list[str]:
    lines = ["model.load_state_dict(best_state)"] if best else []
    if draw.chance(0.5):
        return lines
    key = draw.either("checkpoint_key", "model", "state_dict")
    if draw.chance(0.5):
        save, load = (
            "{'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'epoch': epoch}",
            f"checkpoint['{key}']",
        )
    else:
        save, load = "model.state_dict()", "checkpoint"
    if draw.faulty("state_dict"):
        load = "{'head.bias': torch.zeros(7)}"
    return [*lines, "with tempfile.TemporaryDirectory() as folder:", "    path = os.path.join(folder, 'model.pt')", f"    torch.save({save}, path)",
            "    checkpoint = torch.load(path, weights_only=True)", f"restored = {made.build}", f"restored.load_state_dict({load})", "restored.eval()"]  # fmt: skip


# -- programs of other forms -----------------------------------------------------------------------


def adversarial(draw: Draw) -> list[str]:
    """A generator and a discriminator, each with an optimizer of its own."""
    noise, width = draw.number(4, 8), draw.number(10, 16)
    z = draw.size("noise", noise)
    inner = width + 2 if draw.faulty("features") else width
    fake = draw.either("generator_graph", "fake.detach()", "fake")
    zero = draw.either("no_zero_grad", "        opt_d.zero_grad()", "        pass")
    labels = draw.either("shape_of_target", "real.size(0), 1", "real.size(0)")
    return [*HEAD, *draw.configuration(), "", "", "class Generator(nn.Module):", "    def __init__(self, noise):", "        super().__init__()",
            f"        self.net = nn.Sequential(nn.Linear(noise, 32), nn.{draw.of('ReLU', 'LeakyReLU')}(), nn.Linear(32, {width}))", "",
            "    def forward(self, z):", "        return self.net(z)", "", "", "class Discriminator(nn.Module):", "    def __init__(self):", "        super().__init__()",
            f"        self.net = nn.Sequential(nn.Linear({inner}, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))", "", "    def forward(self, x):", "        return self.net(x)", "", "",
            f"generator, discriminator = Generator({z}), Discriminator()", f"data = torch.randn(48, {width})",
            "loader = DataLoader(TensorDataset(data), batch_size=12, shuffle=True)", "opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))",
            "opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4)", "criterion = nn.BCEWithLogitsLoss()", "for epoch in range(2):",
            "    for (real,) in loader:", f"        ones, zeros = torch.ones({labels}), torch.zeros({labels})", f"        z = torch.randn(real.size(0), {z})",
            "        fake = generator(z)", f"        loss_d = criterion(discriminator(real), ones) + criterion(discriminator({fake}), zeros)",
            zero, "        loss_d.backward()", "        opt_d.step()", "        loss_g = criterion(discriminator(fake), ones)", "        opt_g.zero_grad()",
            "        loss_g.backward()", "        opt_g.step()", "    print(epoch, loss_d.item(), loss_g.item())", ""]  # fmt: skip


def encoded(draw: Draw) -> list[str]:
    """An autoencoder or a variational one."""
    width, latent, variational = draw.number(12, 20), draw.number(2, 4), draw.chance(0.6)
    size, code = draw.size("width", width), draw.size("latent", latent)
    back = "width - 1" if draw.faulty("shape_of_target") else "width"
    if variational:
        axis = draw.either("cat_dim", "-1", "0")
        forward = [f"mean, log_var = self.encoder(x).chunk(2, dim={axis})", "z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_var)",
                   "return self.decoder(z), mean, log_var"]  # fmt: skip
        loss = [
            "recon, mean, log_var = model(x)",
            "kl = -0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum(dim=1).mean()",
            "loss = F.mse_loss(recon, x, reduction='sum') / x.size(0) + kl",
        ]
    else:
        forward, loss = ["return self.decoder(self.encoder(x))"], ["recon = model(x)", "loss = F.mse_loss(recon, x)"]
    out = "latent * 2" if variational else "latent"
    kept = draw.either("loss_kept", "loss.item()", "loss")
    closure = draw.chance(0.3)
    step = ["def closure():", *indented(["optimizer.zero_grad()", *loss, "loss.backward()", "return loss"]), "loss = optimizer.step(closure)"] if closure else [
        *([] if draw.faulty("no_zero_grad") else ["optimizer.zero_grad()"]), *loss, "loss.backward()", "optimizer.step()"]  # fmt: skip
    return [*HEAD, *draw.configuration(), "", "", "class AutoEncoder(nn.Module):", "    def __init__(self, width, latent, hidden=24):", "        super().__init__()",
            f"        self.encoder = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, {out}))",
            f"        self.decoder = nn.Sequential(nn.Linear({'hidden' if draw.faulty('features') else 'latent'}, hidden), nn.ReLU(), nn.Linear(hidden, {back}))", "",
            "    def forward(self, x):", *indented(forward, 2), "", "", f"model = AutoEncoder({size}, {code})", f"data = torch.rand(50, {size})",
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)" if closure else "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)",
            "losses = []", "for epoch in range(3):", "    order = torch.randperm(len(data))", "    total = 0.0", "    for start in range(0, len(data), 10):",
            "        x = data[order[start : start + 10]]", *indented(step, 2), f"        total += {kept}", "    losses.append(total)", "    print(epoch, total)", ""]  # fmt: skip


def valued(draw: Draw) -> list[str]:
    """Q-learning with a replay memory and a network that stays behind."""
    states, actions = draw.number(4, 6), draw.number(2, 3)
    copied = draw.either("target_is_network", draw.of("copy.deepcopy(online)", f"QNet({states}, {actions})"), "online")
    load = [] if "deepcopy" in copied or copied == "online" else ["target.load_state_dict(online.state_dict())"]
    index = draw.either("rank_of_input", "action.unsqueeze(1)", "action")
    inner = "n_states + 1" if draw.faulty("features") else "n_states"
    dtype = draw.either("input_dtype", "torch.float32", "torch.float64")
    return [*HEAD, "import random", "from collections import deque", "", *draw.configuration(), "", "class QNet(nn.Module):", "    def __init__(self, n_states, n_actions):", "        super().__init__()",
            f"        self.fc1 = nn.Linear({inner}, 32)", "        self.fc2 = nn.Linear(32, n_actions)", "", "    def forward(self, x):", "        return self.fc2(F.relu(self.fc1(x)))", "", "",
            f"online = QNet({states}, {actions})", f"target = {copied}", *load, "optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)", "memory = deque(maxlen=200)",
            "random.seed(0)", "for _ in range(64):", f"    memory.append(([random.random() for _ in range({states})], random.randrange({actions}), random.random(), [random.random() for _ in range({states})], False))", "",
            "for step in range(6):", "    batch = random.sample(memory, 16)", "    state, action, reward, following, done = zip(*batch)", f"    state = torch.tensor(state, dtype={dtype})",
            "    action = torch.tensor(action)", "    reward = torch.tensor(reward, dtype=torch.float32)", "    following = torch.tensor(following, dtype=torch.float32)", "    done = torch.tensor(done, dtype=torch.float32)",
            f"    q = online(state).gather(1, {index}).squeeze(1)", "    with torch.no_grad():", "        best = target(following).max(dim=1).values", "        goal = reward + 0.99 * best * (1 - done)",
            "    loss = F.smooth_l1_loss(q, goal)", *([] if draw.faulty("no_zero_grad") else ["    optimizer.zero_grad()"]), "    loss.backward()", "    nn.utils.clip_grad_value_(online.parameters(), 1.0)", "    optimizer.step()",
            "    if step % 3 == 0:", "        target.load_state_dict(online.state_dict())", "    print(step, loss.item())", ""]  # fmt: skip


def modelled(draw: Draw) -> list[str]:
    """A language model, possibly with tied weights, possibly with a state that goes from one piece of the text to the next."""
    rows, width, carried = draw.number(20, 30), draw.number(16, 24), draw.chance(0.5)
    size = draw.size("rows", rows)
    kind = draw.of("LSTM", "GRU")
    tied = ["self.out.weight = self.embed.weight"] if draw.chance(0.5) else []
    detach = "state = tuple(part.detach() for part in state)" if kind == "LSTM" else "state = state.detach()"
    inner = f"{width + 1 if draw.faulty('features') else width}"
    pair = draw.either(
        "class_axis", draw.of(f"logits.reshape(-1, {size}), y.reshape(-1)", "logits.transpose(1, 2), y"), "logits, y"
    )
    body = [*(["if state is not None:", f"    {detach}"] if carried and not draw.faulty("state_not_detached") else []), "logits, state = model(x, state)" if carried else "logits, _ = model(x)",
            f"loss = F.cross_entropy({pair})", *([] if draw.faulty("no_zero_grad") else ["optimizer.zero_grad()"]), "loss.backward()", "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "optimizer.step()",
            "total += loss.item()", "pieces += 1"]  # fmt: skip
    return [*HEAD, *draw.configuration(), "", "", "class Language(nn.Module):", "    def __init__(self, rows, width):", "        super().__init__()", "        self.embed = nn.Embedding(rows, width)",
            f"        self.rnn = nn.{kind}(width, {inner}, num_layers={draw.of('1', '2')}, batch_first=True)", "        self.out = nn.Linear(width, rows)", *indented(tied, 2), "", "    def forward(self, x, state=None):",
            "        out, state = self.rnn(self.embed(x), state)", "        return self.out(out), state", "", "", f"text = torch.randint(0, {size}, (4, 61))", f"model = Language({size}, {width})",
            "optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)", "for epoch in range(2):", "    total, pieces, state = 0.0, 0, None", "    for start in range(0, 60, 12):", "        x = text[:, start : start + 12]",
            "        y = text[:, start + 1 : start + 13]", *indented(body, 2), "    print(epoch, total / pieces)", ""]  # fmt: skip


def aligned(draw: Draw) -> list[str]:
    """CTC, embedding similarity, distillation, or a likelihood with a variance of its own."""
    kind = draw.of("ctc", "cosine", "distill", "gaussian", "triplet")
    opening = [*HEAD, *draw.configuration(), ""]
    zero = [] if draw.faulty("no_zero_grad") else ["    optimizer.zero_grad()"]
    closing = [*zero, "    loss.backward()", "    optimizer.step()", "    print(step, loss.item())", ""]
    make = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)"
    inner = draw.either("features", "12", "14")
    if kind == "ctc":
        order = draw.either("class_axis", "log_probs.transpose(0, 1)", "log_probs")
        return [*opening, f"model = nn.Sequential(nn.Linear({inner}, 24), nn.ReLU(), nn.Linear(24, 9))", make, "ctc = nn.CTCLoss(blank=0, zero_infinity=True)", "for step in range(4):", "    x = torch.randn(5, 30, 12)",
                "    y = torch.randint(1, 9, (5, 8))", "    log_probs = F.log_softmax(model(x), dim=-1)", "    input_lengths = torch.full((5,), 30)", "    target_lengths = torch.full((5,), 8)",
                f"    loss = ctc({order}, y, input_lengths, target_lengths)", *closing]  # fmt: skip
    if kind == "cosine":
        label = draw.either("sign_labels", "torch.randint(0, 2, (16,)) * 2 - 1", "torch.randint(0, 2, (16,))")
        return [*opening, f"model = nn.Sequential(nn.Linear({inner}, 32), nn.Tanh(), nn.Linear(32, 8))", make, "criterion = nn.CosineEmbeddingLoss(margin=0.2)", "for step in range(4):", "    left, right = torch.randn(16, 12), torch.randn(16, 12)",
                f"    same = {label}", "    loss = criterion(model(left), model(right), same)", *closing]  # fmt: skip
    if kind == "triplet":
        return [*opening, f"model = nn.Sequential(nn.Linear({inner}, 32), nn.ReLU(), nn.Linear(32, 8))", make, "criterion = nn.TripletMarginLoss()", "for step in range(4):", "    anchor, positive, negative = torch.randn(3, 16, 12).unbind(0)",
                "    loss = criterion(model(anchor), model(positive), model(negative))", *closing]  # fmt: skip
    if kind == "gaussian":
        variance = draw.either("variance", "F.softplus(raw) + 1e-3", "raw")
        return [*opening, f"model = nn.Linear({inner}, 2)", make, "criterion = nn.GaussianNLLLoss()" if draw.chance(0.5) else "criterion = F.gaussian_nll_loss", "for step in range(4):", "    x = torch.randn(16, 12)", "    y = x.sum(dim=1)",
                "    mean, raw = model(x).unbind(-1)", f"    loss = criterion(mean, y, {variance if variance != 'raw' else 'raw.abs().log()'})", *closing]  # fmt: skip
    log = draw.either("kl_without_log", "F.log_softmax(student / 2.0, dim=-1)", "F.softmax(student / 2.0, dim=-1)")
    return [*opening, f"teacher = nn.Sequential(nn.Linear({inner}, 64), nn.ReLU(), nn.Linear(64, 5))", "teacher.eval()", "for p in teacher.parameters():", "    p.requires_grad_(False)", "model = nn.Linear(12, 5)", make, "for step in range(4):",
            "    x = torch.randn(16, 12)", "    y = torch.randint(0, 5, (16,))", "    with torch.no_grad():", "        soft = F.softmax(teacher(x) / 2.0, dim=-1)", "    student = model(x)",
            f"    loss = F.kl_div({log}, soft, reduction='batchmean') * 4.0 + F.cross_entropy(student, y)", *closing]  # fmt: skip


def program(draw: Draw) -> str:
    forms = [supervised, adversarial, encoded, valued, modelled, aligned]
    made = draw.random.choices(forms, [14, 1, 1, 1, 2, 2])[0]
    # The sizes are known when all has been drawn: the same seed makes it once more with them.
    first = Draw(draw.seed)
    first.random.choices(forms, [14, 1, 1, 1, 2, 2])
    made(first)
    draw.sizes = dict(first.sizes)
    return "\n".join(made(draw))

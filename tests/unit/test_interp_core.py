"""The interpreter's core: names of sizes, joins, containers of modules, unknown operands."""

from __future__ import annotations

from tests.check import analyze, check
from torchsleuth.schema import TensorFact

IMPORTS = "import random\nimport torch\nimport somewhere\nfrom torch import nn\nimport torch.nn.functional as F\n"


def fact(text: str, name: str) -> TensorFact | None:
    found = [item for item in analyze(IMPORTS + text).facts if item.binding == name]
    return found[-1] if found else None


def shape(text: str, name: str = "y") -> object:
    found = fact(text, name)
    return None if found is None else found.shape


def silent(text: str) -> None:
    check(IMPORTS + text)


def test_unknown_integers_are_called_by_their_variable() -> None:
    assert shape("n = random.randint(1, 9)\ny = torch.zeros(n, 2 * n)\n") == ("n", "2*n")
    assert shape("for _ in range(random.randint(1, 9)):\n    y = torch.zeros(_, 2)\n") == ("?", 2)


def test_what_one_branch_finds_out_about_sizes_is_not_true_after_it() -> None:
    silent(
        "class M(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.small, self.large = nn.Linear(32, 4), nn.Linear(64, 4)\n"
        "    def forward(self, x, wide):\n"
        "        b, d = x.shape\n"
        "        if wide:\n"
        "            y = self.large(x)\n"
        "        if not wide:\n"
        "            y = self.small(x)\n"
        "        return y\n"
    )


def test_a_container_class_of_the_users_has_what_is_put_into_it() -> None:
    text = (
        "class Block(nn.Sequential):\n"
        "    def __init__(self, width):\n"
        "        super().__init__()\n"
        "        self.add_module('first', nn.Linear(8, width))\n"
        "        self.second = nn.ReLU()\n"
        "        setattr(self, 'third', nn.Linear(width, 3))\n"
        "class Grown(nn.Sequential):\n"
        "    def __init__(self):\n"
        "        super().__init__(nn.Linear(8, 5))\n"
        "        self.append(nn.Linear(5, 6))\n"
    )
    assert shape(text + "y = Block(7)(torch.zeros(2, 8))\n") == (2, 3)
    assert shape(text + "y = Grown()(torch.zeros(2, 8))\n") == (2, 6)


def test_apply_calls_its_function_with_every_module() -> None:
    text = (
        "def init(m):\n"
        "    if m.__class__.__name__.find('Linear') != -1:\n"
        "        weight = nn.init.normal_(m.weight)\n"
        "nn.Sequential(nn.Linear(3, 4), nn.ReLU()).apply(init)\n"
    )
    assert shape(text, "weight") == (4, 3)


def test_operators_on_what_is_not_known_are_on_no_device() -> None:
    text = (
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
        "x = somewhere.images()\n"
        "y = torch.cat(x).relu()\n"
        "z = F.relu(F.max_pool2d(somewhere.features(), 2))\n"
        "nn.Linear(4, 5).to(device)(z)\n"
    )
    silent(text)
    found = fact(text, "y")
    assert found is None or found.device is None


def test_numbers_that_are_not_known_make_tensors_of_known_shape() -> None:
    text = "i = torch.ones(3).argmax().item()\ny = torch.tensor([[i, i + 1]])\n"
    found = fact(text, "y")
    assert found is not None and found.shape == (1, 2) and found.dtype == "int64"


def test_clipping_gives_the_norm() -> None:
    assert shape("m = nn.Linear(2, 2)\ny = nn.utils.clip_grad_norm_(m.parameters(), 1.0)\n") == ()


def test_none_or_a_tensor() -> None:
    loop = (
        "rnn = nn.GRU(4, 6)\n"
        "hidden = None\n"
        "for _ in range(somewhere.count()):\n"
        "    {use}\n"
        "    out, hidden = rnn(torch.zeros(5, 2, 4), hidden)\n"
        "    y = hidden * 2\n"
    )
    assert shape(loop.format(use="pass")) == (1, 2, 6)
    assert shape(loop.format(use="if hidden is not None: hidden = hidden.detach()")) == (1, 2, 6)
    assert shape(loop.format(use="hidden = hidden if hidden is None else hidden.detach()")) == (1, 2, 6)


def test_tests_rule_out() -> None:
    start = "v = torch.zeros(3) if somewhere.flag() else None\n"
    assert shape(start + "assert v is not None\ny = v + 1\n") == (3,)
    assert shape(start + "if v is None:\n    v = torch.ones(3)\ny = v + 1\n") == (3,)
    assert shape(start + "if not isinstance(v, torch.Tensor):\n    v = torch.ones(3)\ny = v + 1\n") == (3,)
    assert shape(
        "def f(v):\n    if v is None:\n        return torch.ones(3)\n    return v * 2\n" + start + "y = f(v)\n"
    ) == (3,)
    assert shape(start + "y = v + 1\n") == (3,)


def test_a_fault_of_one_possible_value_is_not_reported() -> None:
    silent("v = torch.zeros(3) if somewhere.flag() else 'none'\ntorch.zeros(3) + v\n")
    silent(
        "m = nn.Linear(3, 4) if somewhere.flag() else nn.Linear(5, 4)\nif somewhere.flag():\n    m(torch.zeros(2, 3))\n"
    )


def test_parameters_one_by_one() -> None:
    model = "model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))\n"
    assert shape(model + "y = next(model.parameters())\n") == (4, 3)
    assert shape(model + "weights = list(model.parameters())\ny = weights[2]\n") == (4,)
    assert shape(model + "copies = [w.clone() for w in model.parameters()]\ny = copies[1]\n") == (4,)
    assert shape(model + "named = {n: p.detach() for n, p in model.named_parameters()}\ny = named['0.weight']\n") == (
        4,
        3,
    )
    assert shape(model + "y = torch.zeros(sum(p.numel() for p in model.parameters()))\n") == (24,)


def test_a_tied_weight_leaves_the_layer_as_it_was() -> None:
    text = "e = nn.Embedding(9, 4)\nhead = nn.Linear(4, 9, bias=False)\nhead.weight = e.weight\n"
    assert shape(text + "y = head(e(torch.zeros(2, 3, dtype=torch.long)))\n") == (2, 3, 9)
    assert shape(text + "y = next(nn.ModuleList([e, head]).parameters())\n") == (9, 4)


def test_distributions() -> None:
    text = "from torch.distributions import Categorical, Independent, Normal\n"
    assert shape(text + "y = Categorical(logits=torch.zeros(5, 3)).sample()\n") == (5,)
    assert shape(text + "d = Categorical(torch.ones(5, 3))\ny = d.log_prob(d.sample())\n") == (5,)
    assert shape(text + "y = Normal(torch.zeros(4), 1.0).rsample((7,))\n") == (7, 4)
    assert shape(text + "y = Independent(Normal(torch.zeros(4, 2), torch.ones(2)), 1).entropy()\n") == (4,)
    assert shape(text + "y = Normal(torch.zeros(4), 1.0).mean\n") == (4,)
    kl = "torch.distributions.kl_divergence(Normal(torch.zeros(4), 1.0), Normal(torch.zeros(4), 2.0))"
    assert shape(f"{text}y = {kl}\n") == (4,)


def test_lists_of_numbers_from_tensors() -> None:
    assert shape("for n in torch.randint(1, 9, (3,)).tolist():\n    y = torch.zeros(n, 2)\n") == ("n", 2)
    assert shape("y = torch.tensor([2] + torch.ones(3).long().tolist())\n") == (4,)
    assert shape("y = torch.tensor(torch.zeros(2, 3).tolist())\n") == (2, 3)


def test_what_only_one_branch_has_made_keeps_what_it_was_filled_with() -> None:
    text = (
        "flag = bool(random.randint(0, 1))\n"
        "x = torch.ones(3, 4)\n"
        "if flag:\n"
        "    parts, named, weight = [], {}, torch.ones(4)\n"
        "    parts.append(x)\n"
        "    parts.append(x)\n"
        "    named['one'] = x\n"
        "    weight.unsqueeze_(0)\n"
        "else:\n"
        "    parts, named, weight = [], {}, torch.ones(1, 4)\n"
        "    parts.append(x + 1)\n"
        "    parts.append(x + 1)\n"
        "    named['one'] = x + 1\n"
    )
    assert shape(text + "y = torch.stack(parts)\n") == (2, 3, 4)
    assert shape(text + "y = named['one']\n") == (3, 4)
    assert shape(text + "y = weight + 0\n") == (1, 4)


def test_what_the_installed_torch_has_is_known() -> None:
    """What it has not may come with another version, or be found by other means."""
    text = "y = torch.zeros(3) if hasattr({owner}, '{name}') else torch.zeros(4)\n"
    assert shape(text.format(owner="F", name="scaled_dot_product_attention")) == (3,)
    assert shape(text.format(owner="torch", name="compile")) == (3,)
    assert shape(text.format(owner="torch", name="frobnicate")) == ("?",)
    assert shape(text.format(owner="somewhere", name="flag")) == ("?",)


def test_the_mask_of_a_growing_sequence_fits() -> None:
    """A text that is generated word by word, of which the last ones are looked at, under a part of a fixed mask."""
    text = (
        "mask, ids = torch.ones(32, 32).tril(), torch.zeros(1, 4, dtype=torch.long)\n"
        "def attend(x):\n    B, T = x.shape\n    w = torch.randn(B, T, T).masked_fill(mask[:T, :T] == 0, 0.0)\n    return w\n"
        "while somewhere.flag():\n"
        "    y = attend(ids[:, -32:])\n    ids = torch.cat((ids, torch.zeros(1, 1, dtype=torch.long)), 1)\n"
        "y = attend(ids[:, -32:])\n"
    )
    assert shape(text) == (1, "?", "?")


def test_a_stack_of_contexts_that_some_branches_enter() -> None:
    """What every branch entered is left; of the rest, nothing is known."""
    text = (
        "from contextlib import ExitStack\n"
        "sizes = [4]\n"
        "with ExitStack() as stack:\n"
        "    stack.callback(sizes.append, 5)\n"
        "    if somewhere.flag():\n"
        "        stack.enter_context(open('log.txt', 'w'))\n"
        "    stack.callback(sizes.append, 6)\n"
        "y = torch.zeros(*sizes)\n"
    )
    assert shape(text) == (4, 6, 5)


def test_an_endless_generator_of_numbers_is_drawn_from_a_few_times() -> None:
    text = (
        "from itertools import islice\n"
        "def walk():\n"
        "    at = 6\n"
        "    while True:\n"
        "        at = max(0, min(13, at + int(torch.randint(-2, 3, (1,)))))\n"
        "        yield at * 3\n"
        "data = torch.tensor(list(islice(walk(), 6000)))\n"
        "for chunk in torch.randperm(len(data) - 33).split(16)[:40]:\n"
        "    y = data[chunk.unsqueeze(1) + torch.arange(33)]\n"
    )
    assert shape(text) == ("?", 33)


def test_a_device_by_default_is_another_one_where_nothing_calls() -> None:
    text = (
        "class Scaled(nn.Module):\n    def __init__(self, size, device=torch.device('cpu')):\n        super().__init__()\n"
        "        self.weight = nn.Parameter(torch.ones(size)).to(device)\n"
        "    def update(self, factor):\n        self.weight = self.weight * factor\n"
    )
    assert "TS533" not in [one.code for one in analyze(IMPORTS + text).diagnostics]


def test_a_part_is_hidden_by_methods_of_its_class_alone() -> None:
    text = (
        "class Attention(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.keys, self.values = nn.Linear(4, 6), nn.Linear(4, 7)\n"
        "    def forward(self, x):\n        return self.keys(x), self.values(x)\n"
        "y, z = Attention()(torch.zeros(2, 4))\n"
    )
    assert shape(text) == (2, 6) and shape(text, "z") == (2, 7)


def test_an_operand_of_unknown_dtype_has_that_of_the_weights_it_meets() -> None:
    text = (
        "def run(x, kind):\n    layer = nn.Linear(32, 32, bias=False, dtype=torch.bfloat16)\n"
        "    x = torch.from_numpy(x).to(kind)\n    n, t, _ = x.shape\n    y = layer(x)\n"
    )
    found = fact(text, "y")
    assert found is not None and found.dtype == "bfloat16"

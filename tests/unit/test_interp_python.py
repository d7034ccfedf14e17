"""Python's own constructs over tensors: match, enums, records, configuration, functional tools."""

from __future__ import annotations

import sys

import pytest

from tests.check import analyze

IMPORTS = """\
import enum, json, random
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass, field
from functools import partial, reduce, wraps
from typing import NamedTuple
import torch
import somewhere
from torch import nn
import torch.nn.functional as F
"""


def shape(text: str, name: str = "y") -> object:
    found = [item for item in analyze(IMPORTS + text).facts if item.binding == name]
    return found[-1].shape if found else None


MATCH = """\
@dataclass
class Conv:
    channels: int
    kernel: int = 3
def build(item):
    match item:
        case Conv(channels=c, kernel=5):
            return torch.zeros(c, 5)
        case Conv(c):
            return torch.zeros(c)
        case "flat" | "flatten":
            return torch.zeros(1)
        case ("drop", p) if p > 1:
            return torch.zeros(2)
        case ("drop", p):
            return torch.zeros(2, 2)
        case {"units": n, **rest}:
            return torch.zeros(n, len(rest))
        case [a, *others]:
            return torch.zeros(a, len(others))
        case int(n):
            return torch.zeros(n, n)
        case None:
            return torch.zeros(9)
        case _:
            return torch.zeros(0)
"""


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Conv(4, 5)", (4, 5)),
        ("Conv(4)", (4,)),
        ("'flatten'", (1,)),
        ("('drop', 2)", (2,)),
        ("('drop', 0.5)", (2, 2)),
        ("{'units': 6, 'bias': True}", (6, 1)),
        ("[3, 4, 5]", (3, 2)),
        ("7", (7, 7)),
        ("None", (9,)),
        ("2.5", (0,)),
    ],
)
def test_match(subject: str, expected: object) -> None:
    assert shape(f"{MATCH}y = build({subject})\n") == expected


def test_a_subject_that_is_not_known_takes_every_case_that_may_fit() -> None:
    text = "x = torch.zeros(2, 3)\nmatch somewhere.mode():\n    case 'a':\n        y = x\n    case _:\n        y = x * 2\nz = y + 1\n"
    assert shape(text, "z") == (2, 3)
    text = "match torch.zeros(4, 5).shape:\n    case (n, c, h, w):\n        y = torch.zeros(1)\n    case (n, d):\n        y = torch.zeros(d, n)\n"
    assert shape(text) == (5, 4)


def test_enums() -> None:
    text = """\
class Pool(enum.Enum):
    AVG = "avg"
    MAX = "max"
    @property
    def width(self):
        return 3 if self is Pool.AVG else 4
class Mode(enum.IntEnum):
    TRAIN = enum.auto()
    EVAL = enum.auto()
"""
    assert shape(f"{text}y = torch.zeros(Pool.AVG.width, Pool('max').width)\n") == (3, 4)
    assert shape(f"{text}y = torch.zeros(len([p for p in Pool]), Mode.EVAL.value)\n") == (2, 2)
    assert shape(f"{text}y = torch.zeros(5) if Mode.TRAIN == 1 else torch.zeros(6)\n") == (5,)
    assert shape(f"{text}y = torch.zeros(5) if Pool.AVG == Pool.MAX else torch.zeros(6)\n") == (6,)


def test_named_tuples() -> None:
    text = """\
class Batch(NamedTuple):
    images: torch.Tensor
    labels: torch.Tensor
    weights: torch.Tensor = None
    def doubled(self):
        return Batch(*(t * 2 if t is not None else None for t in self))
    @property
    def size(self):
        return self.images.shape[0]
Step = namedtuple("Step", "state, action")
b = Batch(torch.zeros(4, 3), torch.zeros(4)).doubled()
"""
    assert shape(f"{text}y = b.images\n") == (4, 3)
    assert shape(f"{text}images, labels, _ = b\ny = labels\n") == (4,)
    assert shape(f"{text}y = torch.zeros(b.size, len(b))\n") == (4, 3)
    assert shape(f"{text}y = b[0]\n") == (4, 3)
    assert shape(f"{text}y = b._replace(images=torch.zeros(7)).images\n") == (7,)
    assert shape(f"{text}s = Step(torch.zeros(2), action=torch.zeros(3))\ny = s.action\n") == (3,)
    either = f"{text}Other = namedtuple('Other', 'state, action')\ns = (Step if torch.rand(1) > 0.5 else Other)(torch.zeros(2), 1)\n"
    assert shape(f"{either}y = s.state\n") == (2,)
    assert shape(
        f"{text}steps = [Step(torch.zeros(1, 2), 0)] * 5\nc = Step(*zip(*steps))\ny = torch.cat(c.state)\n"
    ) == (5, 2)


def test_dicts_whose_entries_differ_by_branch() -> None:
    text = """\
kwargs = {"batch_size": 4}
if somewhere.flag():
    kwargs.update({"num_workers": 2, "shuffle": True})
data = torch.utils.data.TensorDataset(torch.zeros(8, 3))
"""
    assert shape(f"{text}for y, in torch.utils.data.DataLoader(data, **kwargs):\n    pass\n") == (4, 3)
    assert shape(f"{text}y = torch.zeros(kwargs['num_workers'])\n") == (2,)
    assert shape(f"{text}y = torch.zeros(3 if 'batch_size' in kwargs else 4)\n") == (3,)
    assert shape(f"{text}y = torch.zeros(5 if len(kwargs) == 1 else 5, kwargs.get('batch_size', 9))\n") == (5, 4)
    # What may be missing is not known to be there, nor to be the default.
    assert shape(f"{text}y = torch.zeros(kwargs.get('num_workers', 9))\n") == ("?",)
    assert shape(f"{text}kwargs['num_workers'] = 7\ny = torch.zeros(kwargs.get('num_workers', 9))\n") == (7,)


def test_dicts_whose_keys_are_not_known() -> None:
    text = "sizes = {'a': 2}\nsizes[somewhere.name()] = 2\n"
    assert shape(f"{text}y = torch.zeros(sizes['a'], sizes[somewhere.name()])\n") == (2, 2)
    assert shape(f"{text}sizes[somewhere.name()] = 3\ny = torch.zeros(sizes['a'])\n") == ("?",)
    assert shape(f"{text}sizes['a'] = 5\ny = torch.zeros(sizes['a'])\n") == (5,)
    assert shape("d = {somewhere.name(): torch.zeros(2, 3)}\nfor k, v in d.items():\n    y = v\n") == (2, 3)
    groups = "groups = defaultdict(list)\nfor i in range(6):\n    groups[somewhere.name()].append(torch.zeros(3))\n"
    assert shape(f"{groups}for rows in groups.values():\n    y = torch.stack(rows)\n") == ("n", 3)


def test_counters_and_defaultdicts_of_known_contents() -> None:
    text = "counts = Counter('to be or not to be'.split())\n"
    assert shape(f"{text}y = torch.zeros(len(counts), counts['be'], counts['or'], counts['absent'])\n") == (4, 2, 1, 0)
    assert shape(f"{text}y = torch.zeros(len(counts.most_common(2)), counts.most_common(1)[0][1])\n") == (2, 2)
    assert shape(f"{text}counts.update(['be', 'be'])\ny = torch.zeros(counts['be'])\n") == (4,)
    text = "groups = defaultdict(list)\nfor i in range(5):\n    groups[i % 2].append(i)\n"
    assert shape(f"{text}y = torch.zeros(len(groups), len(groups[0]), len(groups[1]))\n") == (2, 3, 2)


def test_what_comes_from_a_text() -> None:
    text = 'config = json.loads(\'{"model": {"sizes": [4, 8], "bias": true}, "name": null}\')\n'
    assert shape(f"{text}y = torch.zeros(*config['model']['sizes'])\n") == (4, 8)
    assert shape(f"{text}y = nn.Linear(3, config['model']['sizes'][1])(torch.zeros(2, 3))\n") == (2, 8)


def test_functional_tools() -> None:
    text = "compose = lambda *fs: reduce(lambda f, g: lambda x: g(f(x)), fs)\n"
    assert shape(f"{text}y = compose(lambda x: x.mean(0), lambda x: x[:2])(torch.zeros(5, 3))\n") == (2,)
    assert shape("y = max([torch.zeros(3), torch.zeros(3)], key=lambda t: t.sum())\n") == (3,)


def test_slices_between_random_integers() -> None:
    text = "data = torch.zeros(100)\nix = torch.randint(len(data) - 16, (4,))\n"
    assert shape(f"{text}y = torch.stack([data[i:i + 16] for i in ix])\n") == (4, 16)
    assert shape(f"{text}y = torch.stack([data[i + 1:i + 1 + 16] for i in ix])\n") == (4, 16)
    assert shape("data = torch.zeros(100)\ni = random.randint(0, 84)\ny = data[i:i + 16]\n") == (16,)
    # The last one may be cut off.
    assert shape("data = torch.zeros(100)\ni = random.randint(0, 85)\ny = data[i:i + 16]\n") != (16,)
    assert shape("i = torch.randint(5, ())\ni += 90\ny = torch.zeros(100)[i:i + 16]\n") != (16,)
    assert shape("def f(x: torch.Tensor):\n    B, T = x.shape\n    y = x[:, 1:]\n    return y\n") == ("B", "T - 1")


def test_parameters_in_lists_and_dicts() -> None:
    text = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList([torch.ones(3) for _ in range(2)])
        self.biases = nn.ParameterDict({"a": nn.Parameter(torch.zeros(2, 3))})
        self.scales.append(torch.ones(3))
    def forward(self, x):
        for scale in self.scales:
            x = x * scale
        for name, bias in self.biases.items():
            x = x + self.biases[name]
        return x
model = Model()
"""
    assert shape(f"{text}y = model(torch.zeros(2, 3))\n") == (2, 3)
    assert shape(f"{text}y = torch.zeros(len([p.numel() for p in model.parameters()]), len(model.scales))\n") == (4, 3)
    found = [f for f in analyze(IMPORTS + f"{text}y = model(torch.zeros(2, 3))\n").facts if f.binding == "y"]
    assert found[-1].requires_grad is True


MANAGER = """\
class Recorder:
    def __init__(self):
        self.kept = None
    def __enter__(self):
        return torch.zeros(3, 2)
    def __exit__(self, *error):
        self.kept = torch.zeros(5)
recorder = Recorder()
with recorder as x:
    y = x.T
z = recorder.kept
"""


def test_context_managers_of_the_users_are_entered_and_left() -> None:
    assert (shape(MANAGER, "x"), shape(MANAGER), shape(MANAGER, "z")) == ((3, 2), (2, 3), (5,))


def test_errors_that_a_context_manager_may_keep_are_none() -> None:
    failing = MANAGER.replace("y = x.T", "y = x @ x")
    assert [item.code for item in analyze(IMPORTS + failing).diagnostics] == ["TS101"]
    kept = failing.replace("torch.zeros(5)\n", "torch.zeros(5)\n        return True\n")
    assert not analyze(IMPORTS + kept).diagnostics


def test_super_forward_is_that_of_the_library() -> None:
    text = (
        "class Causal(nn.Conv1d):\n    def forward(self, x):\n        return super().forward(F.pad(x, (1, 0)))\n"
        "y = Causal(3, 4, 2)(torch.zeros(2, 3, 10))\n"
    )
    assert shape(text) == (2, 4, 10)


def test_classes_are_looked_into_in_the_order_of_python() -> None:
    text = (
        "class Base:\n    size = 1\n\nclass Mixin:\n    size = 2\n\nclass Left(Base, Mixin):\n    pass\n\n"
        "class Right(Base):\n    size = 3\n\nclass Both(Left, Right):\n    pass\n\ny = torch.zeros(Both.size)\n"
    )
    assert shape(text) == (3,)


def test_what_a_known_call_shows_is_not_blurred_by_one_that_stands_for_any() -> None:
    text = """\
class Base(nn.Module):
    def forward(self, x):
        y = x + 1
        return self.head(y)
class Model(Base):
    def head(self, y):
        return y
Model()(torch.zeros(2, 3))
"""
    assert shape(text) == (2, 3)


def test_sizes_of_one_name_are_told_apart() -> None:
    text = "a, b = [1] * int(somewhere.count()), [1] * int(somewhere.count())\n"
    assert shape(f"{text}y = torch.zeros(2) + torch.outer(torch.tensor(a), torch.tensor(b))[:, :, None]\n") == (
        "n",
        "n'",
        2,
    )


MANAGERS = """\
import contextlib
@contextlib.contextmanager
def evaluating(net):
    training = net.training
    try:
        net.eval()
        with torch.no_grad():
            yield net
    finally:
        if training:
            net.train()
class Scope:
    def __init__(self, width):
        self.width = width
    def __enter__(self):
        return torch.zeros(self.width)
    def __exit__(self, *exc):
        self.width = 9
net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
"""


def test_context_managers_of_the_users() -> None:
    assert shape(f"{MANAGERS}with evaluating(net) as model:\n    y = model(torch.zeros(2, 4))\n") == (2, 3)
    inside = f"{MANAGERS}with evaluating(net) as model:\n    y = model(torch.zeros(1, 4))\nz = net(torch.zeros(2, 4))\n"
    facts = {item.binding: item for item in analyze(IMPORTS + inside).facts}
    assert facts["y"].requires_grad is False and facts["z"].requires_grad is True
    assert shape(f"{MANAGERS}s = Scope(5)\nwith s as y:\n    pass\n") == (5,)
    assert shape(f"{MANAGERS}s = Scope(5)\nwith s:\n    pass\ny = torch.zeros(s.width)\n") == (9,)
    assert shape(f"{MANAGERS}with contextlib.nullcontext(torch.zeros(3)) as y:\n    pass\n") == (3,)
    text = "def f():\n    with evaluating(net):\n        return torch.zeros(6)\n    return None\ny = f()\n"
    assert shape(f"{MANAGERS}{text}") == (6,)
    text = "for i in range(3):\n    with Scope(2) as a, Scope(i + 4) as y:\n        break\n"
    assert shape(f"{MANAGERS}{text}") == (4,)


def test_what_is_joined_is_no_none() -> None:
    text = "rows = []\nfor i in range(3):\n    rows.append(None if somewhere.done() else torch.zeros(1, 4))\n"
    assert shape(f"{text}y = torch.cat(rows)\n") == (3, 4)
    assert shape(f"{text}y = None if somewhere.done() else torch.zeros(2)\n") == (2,)


def test_a_record_made_without_a_call_that_is_written_has_its_defaults() -> None:
    text = """\
@dataclass
class Entry:
    sizes: dict = field(default_factory=dict)
    layers: nn.Module = field(default_factory=nn.Identity)
table = defaultdict(Entry)
y = table["a"].layers(torch.zeros(2, 3))
"""
    found = analyze(IMPORTS + text)
    assert found.stats["internal_errors"] == []
    assert shape(text) == (2, 3)


def test_an_attribute_that_a_layer_has_in_one_branch_only() -> None:
    text = """\
fc, other = nn.Linear(2, 3), nn.Linear(2, 3)
if somewhere.flag:
    fc.note = 1
    fc.weight = other.weight
print(fc.note, fc.weight)
y = torch.cat([p.flatten() for p in fc.parameters()])
"""
    assert analyze(IMPORTS + text).stats["internal_errors"] == []


def test_an_element_of_a_list_is_replaced_at_a_place_that_is_not_known() -> None:
    text = """\
cells = [[0] * 7 for _ in range(6)]
column = int(torch.randint(0, 7, (1,)))
for row in reversed(range(6)):
    if cells[row][column] == 0:
        cells[row][column] = 2
        break
y = torch.tensor(cells)
"""
    assert shape(text) == (6, 7)
    # Any of them may still be 0, and they need not be equal.
    open_ended = """\
sizes = [0, 0]
sizes[int(torch.randint(0, 2, (1,)))] = 3
y = torch.zeros(1 if sizes[0] == 0 else 2, 1 if sizes[0] == sizes[1] else 2)
"""
    first, second = shape(open_ended)
    assert not isinstance(first, int) and not isinstance(second, int)


def test_a_number_that_is_zero_in_one_branch_may_be_zero() -> None:
    size = shape("n = 0 if somewhere.flag else 3\ny = torch.zeros(1 if n == 0 else 2)\n")[0]
    assert not isinstance(size, int)


def test_methods_of_strings_that_are_not_known() -> None:
    text = """\
import random
letters = "abcdefgh"
wrong = ["".join(random.sample(word, len(word))) for word in ["abc", "de"]]
rows = [[letters.index(letter) + 1 for letter in word] + [0] * (9 - len(word)) for word in wrong]
table = torch.tensor(rows)
words = wrong[0].split()
y = torch.zeros(3, 4) if isinstance(words, list) else None
z = torch.zeros(1 if wrong[0].isdigit() else 2, table.shape[0])
"""
    assert shape(text) == (3, 4)
    assert shape(text.replace("y = ", "x = ").replace("z = ", "y = "))[1] == 2


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    for i in range(k):\n        yield torch.zeros(i + 1)\n", (6,)),
        ("    i = 0\n    while i < k:\n        i += 1\n        yield torch.zeros(i)\n", (6,)),
        ("    yield from (torch.zeros(2) for _ in range(k))\n", (6,)),
        ("    for i in range(9):\n        if i == k:\n            break\n        yield torch.zeros(2)\n", (6,)),
        (
            "    while True:\n        yield torch.zeros(2)\n        k -= 1\n        if k == 0:\n            return\n",
            (6,),
        ),
        # How many there are is not known.
        ("    for i in range(k):\n        if random.random() > 0.5:\n            yield torch.zeros(2)\n", ("n",)),
        (
            "    for i in range(k):\n        yield torch.zeros(2)\n        if somewhere.ended():\n            return\n",
            ("n",),
        ),
        (
            "    for i in range(k):\n        yield torch.zeros(2)\n        if somewhere.ended():\n            break\n",
            ("n",),
        ),
        ("    while somewhere.goes_on():\n        yield torch.zeros(2)\n", ("n",)),
        ("    for i in range(somewhere.count()):\n        yield torch.zeros(2)\n", ("n",)),
        ("    if somewhere.is_empty():\n        return\n    yield torch.zeros(6)\n", ("n",)),
    ],
)
def test_what_a_generator_yields(body: str, expected: object) -> None:
    assert shape(f"def parts(k):\n{body}y = torch.cat(list(parts(3)))\n") == expected


def test_generators_of_many_elements_are_examples() -> None:
    many = "def parts(k):\n    for i in range(k):\n        yield torch.zeros(4)\n"
    assert shape(f"{many}y = torch.stack(list(parts(100)))\n") == (100, 4)
    assert shape(f"{many}y = torch.cat(list(parts(100)))\n") == (400,)
    batches = "def batches(data, size):\n    for i in range(0, len(data), size):\n        yield data[i : i + size]\n"
    found = analyze(f"{IMPORTS}{batches}for y in batches(torch.zeros(100, 3), 16):\n    pass\n").facts
    assert [item.variants for item in found if item.binding == "y"] == [((16, 3), (4, 3), ("?", 3))]


WHILES = [
    ("i = 0\nwhile i < 4:\n    i += 1\n", (4,)),
    ("i, left = 0, [1, 2, 3]\nwhile left:\n    i += left.pop()\n", (6,)),
    ("i, x = 0, torch.zeros(64)\nwhile len(x) > 1:\n    x, i = x[::2], i + 1\n", (6,)),
    ("i = 0\nwhile True:\n    i += 1\n    if i == 5:\n        break\n", (5,)),
    ("i = 1\nwhile i < 1000:\n    i *= 2\n", (1024,)),
    ("i = 0\nwhile i < 4:\n    i += 1\nelse:\n    i = 9\n", (9,)),
    ("i = 0\nwhile i < 4 and somewhere.goes_on():\n    i += 1\n", ("?",)),
    ("i = 0\nwhile i < 4:\n    i += 1\n    if somewhere.ended():\n        break\n", ("?",)),
    ("i = 0\nwhile i < 100_000:\n    i += 1\n", ("?",)),
    ("i = 0\nwhile True:\n    i += 1\n    if somewhere.ended():\n        break\n", ("?",)),
]


@pytest.mark.parametrize(("text", "expected"), WHILES)
def test_while(text: str, expected: object) -> None:
    assert shape(f"{text}y = torch.zeros(i)\n") == expected


ITERATOR = """\
class Countdown:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return self
    def __next__(self):
        if self.n == 0{more}:
            raise StopIteration
        self.n -= 1
        return torch.zeros(self.n + 1)
"""


def test_iterators() -> None:
    own = ITERATOR.format(more="")
    assert shape(f"{own}y = torch.cat(list(Countdown(3)))\n") == (6,)
    assert shape(f"{own}for y in Countdown(3):\n    pass\nz = y\n", "z") == (1,)
    assert shape(f"{own}it = Countdown(3)\nnext(it)\ny = next(it)\n") == (2,)
    open_end = ITERATOR.format(more=" or somewhere.ended()")
    # Some vectors, whose number is not known, make a vector whose size is not.
    assert shape(f"{open_end}y = torch.cat(list(Countdown(3)))\n") == ("n",)
    assert shape("it = iter([torch.zeros(1), torch.zeros(2)])\nnext(it)\ny = next(it)\n") == (2,)
    assert shape("it = iter([torch.zeros(1)])\nnext(it)\ny = next(it, torch.zeros(5))\n") == (5,)
    parts = "def parts():\n    for i in range(3):\n        yield torch.zeros(i)\n"
    assert shape(f"{parts}it = parts()\nfirst = next(it)\ny = torch.cat([next(it), next(it)])\n") == (3,)


def test_members_of_int_enums_are_numbers() -> None:
    text = "class Size(enum.IntEnum):\n    SMALL = 8\n    BIG = 32\n"
    assert shape(f"{text}y = nn.Linear(Size.SMALL, Size.BIG)(torch.zeros(2, Size.SMALL))\n") == (2, 32)


NEW = """\
class Operator:
    adjoint_is_own, sizes = False, (1, 1)
    def __new__(cls, *args):
        cls.adjoint_is_own = getattr(cls, "adjoint") is not getattr(Operator, "adjoint")
        made = super().__new__(cls)
        made.sizes = (2, 3)
        return made
    def adjoint(self):
        raise NotImplementedError
    def apply(self):
        return self.adjoint() if self.adjoint_is_own else torch.zeros(3, 4) @ torch.zeros(3, 4)
class Dense(Operator):
    def __init__(self, n):
        self.n = n
    def adjoint(self):
        return torch.zeros(self.n, *self.sizes)
class Pair:
    def __new__(cls, n):
        return torch.zeros(n, 2)
class Once:
    made = None
    def __new__(cls, n):
        if cls.made is None:
            cls.made = super().__new__(cls)
            cls.made.n = n
        return cls.made
class Tagged(torch.Tensor):
    def __new__(cls, values):
        return super().__new__(cls, values)
"""


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        ("Dense(4).apply()", (4, 2, 3)),
        ("Pair(4)", (4, 2)),
        ("torch.zeros(Once(3).n) + torch.zeros(Once(4).n)", (3,)),
        ("Tagged([1.0, 2.0]) + torch.ones(2)", None),
    ],
)
def test_what_makes_an_instance_may_be_of_ones_own(made: str, wanted: object) -> None:
    found = analyze(IMPORTS + NEW + f"y = {made}\n")
    assert not found.diagnostics and found.stats["internal_errors"] == []
    assert shape(NEW + f"y = {made}\n") == wanted


def test_an_object_that_iterates_over_itself_and_is_not_known() -> None:
    text = "class Own(somewhere.Base):\n    def __iter__(self):\n        return self\nfor x in Own():\n    pass\n"
    assert shape(f"{text}y = torch.zeros(2)\n") == (2,)


def silent(text: str) -> bool:
    return not analyze(IMPORTS + text).diagnostics


def test_an_iterator_gives_its_elements_once() -> None:
    text = (
        "it = iter([1, 2, 3])\nfirst = next(it)\na = len(list(it))\nb = len(list(it))\ny = torch.zeros(first, a, b)\n"
    )
    assert shape(text) == (1, 2, 0)
    text = "it = iter(range(6))\nfor n in it:\n    if n == 2:\n        break\ny = torch.zeros(len(list(it)))\n"
    assert shape(text) == (3,)
    assert shape("it = iter([1, 2, 3, 4])\ny = torch.zeros(len(list(zip(it, it))))\n") == (2,)


def test_a_generator_is_executed_up_to_its_next_yield() -> None:
    text = """\
log = []
def numbers():
    n = 0
    while True:
        log.append(n)
        got = yield n
        n += 1 if got is None else got
g = numbers()
y = torch.zeros(len(log), next(g) + 1, next(g), g.send(5), len(log))
"""
    assert shape(text) == (0, 1, 1, 6, 3)


def test_a_generator_that_something_undecided_happens_in_is_one_of_several() -> None:
    text = """\
seen = []
def numbers():
    while True:
        if somewhere.more():
            seen.append(1)
        yield torch.zeros(3)
for x in numbers():
    y = x + 1
    break
"""
    assert shape(text) == (3,)


def test_a_bounded_deque() -> None:
    text = "from collections import deque\nd = deque([1, 2, 3], maxlen=2)\nd.append(4)\n"
    assert shape(f"{text}y = torch.zeros(*d)\n") == (3, 4)
    assert shape(f"{text}d.appendleft(7)\ny = torch.zeros(*d, d.maxlen)\n") == (7, 3, 2)


def test_init_subclass() -> None:
    text = """\
class Base:
    found = []
    def __init_subclass__(cls, size=1, **rest):
        super().__init_subclass__(**rest)
        cls.size = size
        Base.found.append(cls)
class One(Base): pass
class Two(One, size=5): pass
y = torch.zeros(len(Base.found), One.size, Two().size)
"""
    assert shape(text) == (2, 1, 5)


def test_an_exception_that_is_swallowed() -> None:
    text = """\
from contextlib import suppress
n = 1
with suppress(ValueError):
    n = 2
    int("x")
    n = 3
try:
    m = {"a": 4}["b"]
except (IndexError, KeyError) as error:
    m = 6
y = torch.zeros(n, m)
"""
    assert shape(text) == (2, 6)


def test_an_exception_that_may_be_raised_leaves_both_ways() -> None:
    text = "try:\n    if somewhere.bad():\n        raise ValueError\n    n = 2\nexcept ValueError:\n    n = 2\ny = torch.zeros(n)\n"
    assert shape(text) == (2,)


def test_a_static_forward() -> None:
    text = """\
class Swish(nn.Module):
    @staticmethod
    def forward(x):
        return x * torch.sigmoid(x)
y = nn.Sequential(nn.Linear(3, 4), Swish())(torch.zeros(5, 3))
"""
    assert shape(text) == (5, 4)
    assert silent(text)
    assert not silent(text.replace("(torch.zeros(5, 3))", "(torch.zeros(5, 3))\nz = Swish()(y, y)"))


def test_a_slice_of_a_variable() -> None:
    text = "s = slice(1, 4)\nvalues = [0, 1, 2, 3, 4]\nx = torch.zeros(6, 2)\ny = x[s]\nz = torch.zeros(*values[s])\n"
    assert shape(text) == (3, 2)
    assert shape(text, "z") == (1, 2, 3)
    assert silent(text)


def test_a_list_that_is_filled_through_a_key_that_is_not_known() -> None:
    text = """\
found = {}
for line in open("words.txt"):
    word, sound = line.split()
    if word not in found:
        found[word] = []
    found[word].append(torch.zeros(2, 3))
y = torch.stack(found["a"])
z = found["a"][0]
"""
    assert shape(text, "z") == (2, 3)
    assert silent(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = 10 ** 9\ny = math.factorial(x)\n",
        "y = re.match('(a+)+b', 'a' * 40)\n",
        "y = re.findall('.*.*.*.*x', 'a' * 300)\n",
        "y = '{:>999999999}'.format(1)\n",
        "y = list(itertools.product(range(100), repeat=20))\n",
        "y = round(5, -10 ** 8)\n",
        "y = struct.pack('999999999x')\n",
        "y = Fraction('1e99999999')\nz = int(Decimal('1e999999999'))\n",
        "y = Fraction(3, 7)\nfor _ in range(60):\n    y = y * y\n",
        "y = [0] * 10 ** 9\nz = sorted(y)\n",
    ],
)
def test_what_would_take_long_is_not_computed(text: str) -> None:
    modules = "import itertools, math, re, struct\nfrom decimal import Decimal\nfrom fractions import Fraction\n"
    found = analyze(IMPORTS + modules + text)
    assert not found.stats["incomplete"] and not found.stats["internal_errors"]


GROUPS = """\
y = torch.zeros(1)
try:
    raise ExceptionGroup("all", [ValueError(1), KeyError(2), ValueError(3)])
except* ValueError as some:
    y = torch.zeros(len(some.exceptions), 5)
except* KeyError as some:
    z = torch.zeros(len(some.exceptions), y.shape[0])
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups of exceptions are new in Python 3.11")
def test_exception_groups_are_taken_in_parts() -> None:
    assert shape(GROUPS) == (2, 5)
    assert shape(GROUPS, "z") == (1, 2)

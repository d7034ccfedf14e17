"""Rewritten code does what the source says, fails where the source fails, and tells what its expressions made."""

from __future__ import annotations

import builtins
import contextlib
import io
import traceback
from collections import Counter
from pathlib import Path

import pytest
import torch

from tests.runtime.inprocess import MemoryStream, execute, recording
from torchsleuth.runtime.recorder import MAX_QUIET, Recorder, unrecorded
from torchsleuth.runtime.rewrite import CALLED, Site, gate_names, rewrite

PROGRAMS = {
    "docstrings and future imports": '"""Top."""\nfrom __future__ import annotations\ndef f(x: len("a")) -> int(3):\n    """Doc."""\n'
    "    y: max(1, 2) = x\n    return y\nprint(__doc__, f.__doc__, f(2), f.__annotations__)\n",
    "names private to a class": "class A:\n    __n = str(4).strip()\n    def __get(self):\n        self.__m = abs(-3)\n"
    "        return self.__n, self.__m\n    def get(self):\n        return self.__get()\nprint(A().get(), sorted(vars(A()).keys()))\n",
    "super without arguments": "class A:\n    def __init__(self, n):\n        self.n = n\nclass B(A):\n    def __init__(self):\n"
    "        super().__init__(len('abc'))\nprint(B().n)\n",
    "patterns": "class P:\n    __match_args__ = ('x',)\n    def __init__(self, x):\n        self.x = x\nmatch P(abs(-2)):\n"
    "    case P(1):\n        print('one')\n    case P(x):\n        print(x + 1)\nmatch 1+2j:\n    case 1+2j:\n        print('complex')\n",
    "generators, coroutines and lambdas": "import asyncio\ndef g(n):\n    got = yield from (pow(i, 2) for i in range(n))\n"
    "    return got\nasync def c():\n    return await asyncio.sleep(0, 'slept')\nprint(list(g(3)), asyncio.run(c()), (lambda x=abs(-1): x + 1)())\n",
    "scopes": "x = 1\ndef f():\n    global x\n    x += 2\n    def g():\n        nonlocal y\n        y += 1\n        return locals().keys()\n"
    "    y = 1\n    return sorted(g()), y\nprint(f(), x, sorted(k for k in dir() if not k.startswith('_')))\n",
    "what looks at its caller": "import inspect, warnings\nfrom collections import namedtuple\nP = namedtuple('P', 'a b')\n"
    "def who():\n    return inspect.stack()[1].function\ndef f():\n    return who()\nprint(f(), P.__module__, eval('who()'), inspect.getsource(f))\n",
    "targets": "a = b, *c = [abs(-1), 2, 3]\nd = {}\nd[str(1)] = e = pow(2, 3)\n(f, g), h = (1, 2), 3\nfor i, (j, k) in [(1, (2, 3))]:\n"
    "    d[i] = j + k\ndel d[str(1)]\nif (n := abs(-4)) > 3:\n    e <<= 1\nprint(a, b, c, d, e, f, g, h, i, j, k, n)\n",
    "decorators run as written": "import functools\n@functools.lru_cache(maxsize=abs(-2))\ndef f(a, /, b=abs(-3), *c, d=4, **e):\n"
    "    'doc'\n    return a, b, c, d, e\nprint(f(1), f.__doc__, f.cache_parameters())\n",
    "text": "name, n = 'x', 3\nprint('%s=%d' % (name, n), f'{name!r:>5}{n + 1:03d}{max(1, 2)}', 'a' 'b' + str(n), f'{n=}')\n",
    "shadowed names": "def print_(x):\n    __builtins__ if False else None\n    return x\nprint, len = __import__('builtins').print, abs\nprint(len(-3))\n",
}


def run_plain(text: str, path: Path) -> tuple[str, str | None]:
    return captured(compile(text, str(path), "exec", dont_inherit=True))


def captured(code: object) -> tuple[str, str | None]:
    out = io.StringIO()
    namespace = {"__name__": "prog", "__builtins__": __builtins__}
    with contextlib.redirect_stdout(out):
        try:
            exec(code, namespace)  # type: ignore[arg-type]
        except Exception as error:
            return out.getvalue(), "".join(traceback.format_exception(error)).split("in captured\n", 1)[1]
    return out.getvalue(), None


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rewritten_program_prints_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "prog.py"
    path.write_text(PROGRAMS[name])
    plain, error = run_plain(PROGRAMS[name], path)
    assert plain and error is None
    with recording(unrecorded):
        assert captured(rewrite(PROGRAMS[name], str(path), [])) == (plain, None)


FAILING = """\
def inner(values, scale):
    return [v / scale(v)
            for v in values] + list(map(str, values))

class Runner:
    def __call__(self, *args):
        return inner(args, lambda v: v - 2)

try:
    Runner()(1,
             2)
except ZeroDivisionError as error:
    raise ValueError(str(error) +
                     "!") from error
"""


def test_the_traceback_is_the_same_to_the_caret(tmp_path: Path) -> None:
    path = tmp_path / "failing.py"
    path.write_text(FAILING)
    _, plain = run_plain(FAILING, path)
    assert plain is not None and "ValueError: division by zero!" in plain
    with recording(unrecorded):
        _, ours = captured(rewrite(FAILING, str(path), []))
    assert ours is not None
    # The first lines are those of this test's own exec, until the program's file is reached.
    assert ours == plain


def test_facts_are_the_real_shapes(tmp_path: Path) -> None:
    text = (
        "import torch\n"
        "from torch import nn\n"
        "rnn = nn.GRU(4, 8, bidirectional=True)\n"
        "def pool(h, *, keep: bool = False):\n"
        "    '''doc'''\n"
        "    return h.mean(0)\n"
        "for n in (5, 3):\n"
        "    x = torch.zeros(7, n, 4, dtype=torch.float32)\n"
        "    out, (last) = rnn(x)\n"
        "    y = pool(out)[:, :6] @ torch.ones(6, 2)\n"
        "    y += 1\n"
        "    n2 = y.shape\n"
    )
    observed = execute(tmp_path / "script.py", text)
    assert observed.error is None
    facts = {
        (fact.start.line, fact.start.column, fact.expression, fact.binding): fact for fact in observed.report().facts
    }
    seen = {key: (fact.shape, fact.later, fact.requires_grad) for key, fact in facts.items()}
    assert seen[8, 5, "x", "x"] == ((7, 5, 4), (7, 3, 4), False)
    assert seen[9, 5, "out", "out"] == ((7, 5, 16), (7, 3, 16), True)
    assert seen[9, 11, "last", "last"] == ((2, 5, 8), (2, 3, 8), True)
    assert seen[4, 10, "h", "h"] == ((7, 5, 16), (7, 3, 16), True)
    assert seen[6, 12, "h.mean(0)", None] == ((5, 16), (3, 16), True)
    assert seen[10, 9, "pool(out)[:, :6]", None] == ((5, 6), (3, 6), True)
    assert seen[10, 28, "torch.ones(6, 2)", None] == ((6, 2), None, False)
    assert not [key for key in seen if key[0] == 12], "a shape is no tensor"
    assert all((fact.layer, fact.dtype, fact.device) == ("run", "float32", "cpu") for fact in facts.values())


def test_a_name_bound_twice_is_reported_where_its_value_is(tmp_path: Path) -> None:
    text = "import torch\nx, _, _ = torch.zeros(1), torch.zeros(2), torch.zeros(3)\n"
    facts = execute(tmp_path / "script.py", text).report().facts
    assert {fact.start.column: fact.shape for fact in facts if fact.binding == "_"} == {7: (3,)}


def test_functions_for_another_compiler_are_left_alone(tmp_path: Path) -> None:
    text = (
        "import torch\n"
        "@torch.jit.script\n"
        "def scripted(x):\n"
        "    return x * 2\n"
        "traced = torch.jit.trace(lambda x: x.view(x.shape[0], -1) + 1, torch.ones(2, 3))\n"
        "a, b = scripted(torch.ones(2)), traced(torch.ones(4, 5))\n"
    )
    observed = execute(tmp_path / "script.py", text)
    assert observed.error is None, observed.error
    lines = {fact.start.line for fact in observed.report().facts}
    assert 4 not in lines and 6 in lines


def test_subclasses_and_modes_of_the_user_see_no_extra_calls(tmp_path: Path) -> None:
    text = (
        "import torch\n"
        "from torch.overrides import TorchFunctionMode\n"
        "calls = []\n"
        "class Loud(torch.Tensor):\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        calls.append(func.__name__)\n"
        "        return super().__torch_function__(func, types, args, kwargs or {})\n"
        "class Log(TorchFunctionMode):\n"
        "    def __torch_function__(self, func, types, args=(), kwargs=None):\n"
        "        calls.append(func.__name__)\n"
        "        return func(*args, **(kwargs or {}))\n"
        "x = torch.ones(2).as_subclass(Loud)\n"
        "y = x + x\n"
        "with Log():\n"
        "    z = torch.ones(3) * 2\n"
    )
    plain: dict[str, list[str]] = {}
    exec(compile(text, "plain", "exec"), plain)  # type: ignore[arg-type]
    observed = execute(tmp_path / "script.py", text)
    assert observed.error is None
    assert observed.namespace["calls"] == plain["calls"]
    assert (16, (3,)) in {(fact.start.line, fact.shape) for fact in observed.report().facts}


QUIET = """\
import torch
def double(value):
    return value * 2
total, x = 0, torch.ones(2)
for number in range(200):
    total += double(number)
    values = [double(n) for n in range(number % 3)]
    y = torch.tensor([float(double(n)) for n in (1, 2)])
    x = double(x) / (number + 1)
    key = max(values, key=lambda v: abs(v) + 1) if values and values[0] > -1 else None
while total > 10 and double(total):
    total = total // 2
print(total, y, x, key)
"""


def test_places_without_tensors_run_as_written(tmp_path: Path) -> None:
    path = tmp_path / "quiet.py"
    path.write_text(QUIET)
    plain, error = run_plain(QUIET, path)
    assert error is None
    sites: list[Site] = []
    recorder = Recorder(sites, MemoryStream())  # type: ignore[arg-type]
    record, calls = recorder.make_record(torch), Counter[tuple[int, int]]()

    def counted(site: int, value: object) -> object:
        calls[sites[site].span[:2]] += 1
        return record(site, value)

    with recording(counted):
        assert captured(rewrite(QUIET, str(path), sites)) == (plain, None)
    recorder.flush()
    many = {place for place, count in calls.items() if count > 3 * MAX_QUIET}
    # What makes tensors, and what shares a statement with it; not the loop variable, total, values, key and their parts.
    assert {(8, 8), (9, 8)} <= many and {line for line, _ in many} <= {2, 3, 8, 9}
    assert (8, 27) not in many, "the elements of the list that becomes a tensor"


BODIES = """
import torch

def quiet(n):
    total = 0
    for i in range(n):
        key = i % 7
        if key > 100:
            raise ValueError(str(key))
        total += key * 3
    return total

def seldom(n):
    seen = []
    for i in range(n):
        key = i % 7
        if i == 5000:
            seen.append(torch.ones(key + 1))
    return seen

def scoped(n):
    for i in range(n):
        global last
        last = i * 2
    return last

print(quiet(6000), [tuple(one.shape) for one in seldom(6000)], scoped(500))
"""


def test_the_body_of_a_loop_runs_as_written_once_nothing_in_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "bodies.py"
    path.write_text(BODIES)
    plain, error = run_plain(BODIES, path)
    assert error is None
    sites: list[Site] = []
    recorder = Recorder(sites, MemoryStream())  # type: ignore[arg-type]
    with recording(recorder.make_record(torch)):
        code = rewrite(BODIES, str(path), sites)
        assert captured(code) == (plain, None)
    recorder.flush()
    loops = {site.span[0]: site.gates[1] for site in sites if len(site.gates) == 3}

    def is_open(line: int) -> bool:
        return bool(getattr(builtins, gate_names([loops[line]])[0]))

    assert not is_open(7), "everything in `quiet` is a number, and its message is never made"
    assert is_open(16), "`seldom` has a branch that nobody had come to"
    assert any(site.span[:2] == (18, 24) and number in recorder._facts for number, site in enumerate(sites))


def test_what_tells_of_a_training_loop_stays_where_nothing_else_is_recorded(tmp_path: Path) -> None:
    text = "class Fake:\n    def step(self):\n        pass\n    zero_grad = step\nfake = Fake()\nfor i in range(300):\n    n = i % 3\n    fake.zero_grad()\n    fake.step()\n"
    path = tmp_path / "told.py"
    path.write_text(text)
    sites: list[Site] = []
    recorder = Recorder(sites, MemoryStream())  # type: ignore[arg-type]
    told: Counter[str] = Counter()

    def count(name: str, value: object) -> object:
        told[name] += 1
        return value

    with recording(recorder.make_record(torch)):
        setattr(builtins, CALLED, count)
        assert captured(rewrite(text, str(path), sites)) == ("", None)
    assert told == {"zero_grad": 300, "step": 300}

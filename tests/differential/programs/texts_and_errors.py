# What Python says: texts of members, namespaces and errors, and what it refuses.

# == texts of members of enums
from enum import Enum, IntEnum, Flag
class Mode(Enum):
    TRAIN = 1
    EVAL = "x"
class Name(str, Enum):
    A = "aa"
class Level(IntEnum):
    LOW = 3
class Part(Flag):
    R = 1
    W = 2
class Shown(Enum):
    A = 1
    def __str__(self): return self.name
class Short(Enum):
    A = 1
    def __repr__(self): return "short"
plain = str(Mode.TRAIN), repr(Mode.EVAL), "%s" % Mode.EVAL, "{}".format(Mode.EVAL), f"{Mode.EVAL!r}", str([Mode.TRAIN])
mixed = str(Name.A), repr(Name.A), Name.A.value, Name.A.upper(), Name.A == "aa", Name.A + "b", "%s" % Name.A
numbers = repr(Level.LOW), Level.LOW * 2
flags, own = str(Part.R), (f"{Shown.A}", str(Shown.A), f"{Shown.A.name.lower()}_{Shown.A.value:02d}")
short = str(Short.A), repr(Short.A)
# == namespaces
from types import SimpleNamespace
import argparse
options = SimpleNamespace(a=1, b="s")
texts = repr(options), str(options), f"{options}"
equal = options == SimpleNamespace(a=1, b="s"), options != SimpleNamespace(a=2)
delattr(options, "a")
names = sorted(options.__dict__), list(vars(options)), "b" in options.__dict__, "a" in vars(options), len(vars(options))
parsed = argparse.Namespace(x=1, y=2)
shown = repr(parsed), "x" in parsed, parsed == argparse.Namespace(x=1, y=2)
# == what a class itself holds
class Meter: total = 0
class Sub(Meter): pass
held = "total" in vars(Meter), "total" in Meter.__dict__, "total" in vars(Sub), hasattr(Sub, "total")
Meter.total += 1
value = vars(Meter)["total"]
Sub.total = 4
later = "total" in vars(Sub)
# == patterns and objects
from dataclasses import dataclass
@dataclass
class Conv:
    cin: int
    cout: int
    k: int = 3
def kind(spec):
    match spec:
        case {"type": t, **rest}: return t
        case ["seq", *layers]: return len(layers)
        case (x, y): return x - y
        case Conv(cin=c, k=1): return c
        case Conv(a, b): return a + b
        case str() | bytes(): return "text"
        case None | False: return "off"
        case float(f): return f / 2
        case -1: return "negative"
        case _: return "other"
found = [kind(one) for one in (Conv(4, 8, 1), Conv(4, 8), (5, 2), ["seq", 1], {"type": "fc"}, True, {}, None, -1, 1.0, [1])]
# == errors of other modules
import json
def load(text):
    try: return json.loads(text)
    except json.JSONDecodeError: return "bad"
loaded = load("{"), load("[1]")
try: json.loads("{")
except ValueError as error: caught = type(error).__name__, isinstance(error, json.JSONDecodeError)
dumped = json.dumps({"s": {1, 2}}, default=sorted), json.dumps({"s": object}, default=lambda one: one.__name__)
# == what errors say
def said(function):
    try: function()
    except Exception as error: return type(error).__name__, str(error)
class Plain: pass
said_of = [
    said(one) for one in (
        lambda: [1][3], lambda: (1, 2)[3], lambda: "ab"[5], lambda: range(3)[4], lambda: 1 // 0, lambda: 1 / 0, lambda: 1 % 0,
        lambda: 0 ** -1, lambda: Plain() * 2, lambda: "a" - Plain(), lambda: "a" + Plain(), lambda: None.name, lambda: [].pop(),
    )
]
try: a, b, c = 1, 2
except ValueError as error: few = str(error)
try: d, *e, f = [1]
except ValueError as error: fewer = str(error)
def pair(values):
    try:
        x, y = values
        return x
    except ValueError:
        return None
pairs = [pair(one) for one in ([1, 2], (1, 2, 3), "ab", "abc", {1: 2})]
# == what a generator returns
def steps():
    got = yield 1
    return got * 2
it = steps()
first = next(it)
try: it.send(5)
except StopIteration as stop: value = stop.value
try: next(it)
except StopIteration as stop: after = stop.value, stop.args
# == a method that declines
class Vector:
    def __init__(self, *xs): self.xs = xs
    def __mul__(self, k): return Vector(*(x * k for x in self.xs)) if isinstance(k, int) else NotImplemented
    __rmul__ = __mul__
twice = (2 * Vector(1, 2)).xs
try:
    Vector(1) * "a"
    ended = "fine"
except TypeError as error: ended = str(error)
# == a dict that changes in a loop
counts = {"a": 1}
try:
    for name in counts: counts[name + "x"] = 1
    ended = "fine"
except RuntimeError as error: ended = str(error)
size = len(counts)
for name in list(counts): del counts[name]
counts |= [("q", 7)]
for name in counts: counts[name] += 1
# == attributes that are entries
class Config(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__
config = Config(lr=0.1)
config.epochs = 3
config.lr *= 2
read = config.lr, config["epochs"], config.missing
del config.lr
left = list(config), "lr" in config, dict(config)
class Strict(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
strict = Strict(a=1)
strict.b = strict.a + 1
try: strict.c
except KeyError as error: missing = error.args
# == slices of ranges
numbers = range(10)
parts = numbers[2:8:3], numbers[::-1], numbers[-3:], numbers[1:4].start, list(numbers[5:][1:])
# == names of parameters in order
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.register_buffer("mean", torch.zeros(3))
        self.scale = nn.Parameter(torch.ones(2))
net = Net()
names = [name for name, _ in net.named_parameters()]
biases = [name for name, _ in net.named_parameters() if "bias" in name]
keys = list(net.state_dict())
size = net.get_submodule("first").in_features
count = len(list(net.parameters()))
# == what reading an attribute does
class Counted:
    reads = 0
    def __getattribute__(self, name):
        if not name.startswith("_"): Counted.reads += 1
        return super().__getattribute__(name)
    def twice(self): return self.x * 2
counted = Counted()
counted.x = 5
total, reads = counted.x + counted.twice(), Counted.reads
class Loud:
    def __init__(self): self.name = "a"
    def __getattribute__(self, name): return object.__getattribute__(self, name) + "!"
loud = Loud().name
# == super() outside of a class
class Base:
    def step(self): return "base"
class Sub(Base):
    def step(self): return "sub"
above = super(Sub, Sub()).step()
# == errors that are told as others
class ConfigError(Exception):
    def __init__(self, key):
        super().__init__(f"missing {key}")
        self.key = key
def need(config, dotted):
    node = config
    for part in dotted.split("."):
        try: node = node[part]
        except (KeyError, TypeError) as error: raise ConfigError(dotted) from error
    return node
errors = []
for dotted in ("model.dim", "model.width", "model.dim.x", "model.none.x"):
    try: errors.append(need({"model": {"dim": 4, "none": None}}, dotted))
    except ConfigError as error: errors.append((str(error), error.key, str(error.__cause__)))
# == records in records
from dataclasses import asdict, dataclass, field, is_dataclass
@dataclass
class Option:
    lr: float = 0.1
@dataclass
class Config:
    option: Option = field(default_factory=Option)
    several: list = field(default_factory=lambda: [Option(1), Option(2)])
    named: dict = field(default_factory=lambda: {"a": Option(3)})
    pair: tuple = (1, 2)
config = Config()
told = [is_dataclass(one) for one in (config, Config, config.option, 3, "a", None, [1], dict)]
for name, value in {"option": {"lr": 5}, "pair": [3, 4]}.items():
    held = getattr(config, name)
    if is_dataclass(held):
        for key, one in value.items(): setattr(held, key, one)
    else: setattr(config, name, type(held)(value))
whole = asdict(config)
whole["several"][0]["lr"] = 7
kept = config.several[0].lr
# == a view of an array
import numpy as np
rows = np.zeros((2, 2))
seen = rows.view()
seen[0, 0] = 5
held = rows.tolist(), np.minimum(rows, 3).tolist(), seen.shape

# == names that are private to a class
class Safe:
    def __init__(self): self.__code = 7
    def __check(self, code): return code == self.__code
    def opens(self, code): return self.__check(code)
class Vault(Safe):
    __code = 1
    def __init__(self):
        super().__init__()
        self.own = self.__code
box = Vault()
a = (box.opens(7), box.own, box._Safe__code, hasattr(box, "__code"))
names = sorted(vars(box))

# == a dict with a default of its own
class Options(dict):
    def __missing__(self, key): return key.upper()
    def __getattr__(self, key): return self[key]
options = Options(rate=2)
options |= {"depth": 3}
got = (options["name"], options.rate, options.depth, options.other, options.get("name"), len(options))

# == keys that equal the values of their members
import enum
class Part(str, enum.Enum):
    HEAD = "head"
    TAIL = "tail"
class Rank(enum.IntEnum):
    LOW = 1
table = {"head": 1, Part.TAIL: 2, Rank.LOW: "one"}
table["tail"] += 5
got = (table[Part.HEAD], table["tail"], table[1], "tail" in table, len(table))

# == flags in flags
import enum
class Can(enum.IntFlag):
    READ = 4
    WRITE = 2
both = Can.READ | Can.WRITE
got = (Can.READ in both, Can.WRITE in Can.READ, int(both))

# == attributes that are asked for by code
class Lazy:
    asked = 0
    def __init__(self, inner): self.inner = inner
    def __getattr__(self, name):
        Lazy.asked += 1
        if name == "secret":
            raise AttributeError(name)
        return getattr(self.inner, name)
lazy = Lazy([3, 1])
got = (lazy.index(1), hasattr(lazy, "secret"), getattr(lazy, "secret", "none"), hasattr(lazy, "shape"), Lazy.asked)

# == deleting attributes
class Kept:
    def __init__(self): self.gone = []
    def __delattr__(self, name): self.gone.append(name)
class Gauge:
    def __init__(self): self._v = 3
    @property
    def v(self): return self._v
    @v.deleter
    def v(self): self._v = 0
kept, gauge = Kept(), Gauge()
del kept.anything
del gauge.v
try:
    del gauge.nothing
    missing = False
except AttributeError:
    missing = True
got = (kept.gone, gauge.v)

# == a class that is called through its metaclass
class Once(type):
    made = {}
    def __call__(cls, *args):
        if cls not in cls.made:
            cls.made[cls] = super().__call__(*args)
        return cls.made[cls]
class Store(metaclass=Once):
    def __init__(self, size): self.size = size
one, two = Store(4), Store(9)
got = (one is two, two.size, len(Once.made))

# == classes that are derived by being registered
from abc import ABC
class Plugin(ABC):
    pass
class Hooked(ABC):
    @classmethod
    def __subclasshook__(cls, other): return hasattr(other, "hook") or NotImplemented
class Plain:
    hook = 1
Plugin.register(Plain)
got = (issubclass(Plain, Plugin), isinstance(Plain(), Plugin), issubclass(Plain, Hooked), issubclass(int, Plugin))

# == fields that are no fields
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, field, fields, replace
@dataclass
class Layer:
    width: int
    scale: InitVar[int] = 1
    _: KW_ONLY
    name: str = field(default="l", compare=False)
    def __post_init__(self, scale): self.width *= scale
layer = Layer(3, 2, name="first")
got = (asdict(layer), [one.name for one in fields(Layer)], layer == Layer(6), replace(layer, name="b", scale=10).width)

# == places for attributes
from dataclasses import dataclass
class Point:
    __slots__ = ("x", "y")
@dataclass(slots=True)
class Cell:
    n: int = 0
refused = []
for thing in (Point(), Cell()):
    try:
        thing.extra = 1
    except AttributeError:
        refused.append(type(thing).__name__)

# == hashes of objects
from dataclasses import dataclass
@dataclass(frozen=True)
class Key:
    a: int
class Loose:
    def __eq__(self, other): return True
distinct = len({Key(1), Key(1), Key(2)})
try:
    {Loose()}
    hashable = True
except TypeError:
    hashable = False

# == special methods that builtins call
class Amount:
    def __init__(self, n): self.n = n
    def __index__(self): return self.n
    def __round__(self, digits=None): return ("round", digits)
    def __divmod__(self, other): return (self.n, other)
    def __abs__(self): return "abs"
    def __reversed__(self): return iter([self.n, 0])
amount = Amount(2)
got = ("xyz"[amount], round(amount), round(amount, 1), divmod(amount, 5), abs(amount), hex(amount), list(reversed(amount)))

# == copies that a class makes
import copy
class Card:
    def __init__(self, n): self.n = n
    def __copy__(self): return Card(self.n + 1)
    def __deepcopy__(self, memo): return Card(self.n + 100)
card = Card(5)
got = (copy.copy(card).n, copy.deepcopy(card).n, copy.deepcopy([card, card])[1].n)

# == results that are kept as long as there is room
from functools import lru_cache
calls = []
@lru_cache(maxsize=2)
def cost(n, times=1):
    calls.append((n, times))
    return n * times
got = [cost(1), cost(2), cost(1), cost(3), cost(2), cost(2, times=1)]
cost.cache_clear()
last = cost(2)

# == a partial of a partial
from functools import partial
def join(*parts, sep="-"): return sep.join(parts)
inner = partial(join, "a", sep="+")
outer = partial(inner, "b", sep=".")
got = (outer("c"), outer.args, outer.keywords)

# == dicts behind dicts
from collections import ChainMap
from types import MappingProxyType, SimpleNamespace
base, own = {"rate": 1, "size": 4}, {"rate": 2}
both = ChainMap(own, base)
both["size"] = 8
child = both.new_child({"rate": 9})
del both["rate"]
shown = MappingProxyType(base)
base["late"] = 5
try:
    shown["rate"] = 0
    refused = False
except TypeError:
    refused = True
space = SimpleNamespace(a=1)
vars(space)["b"] = 2
space.__dict__.update(a=10)
got = (both["rate"], child["rate"], own, shown["late"], space.a + space.b)

# == a sentinel is nothing else
NOTHING = object()
def look(table, key, default=NOTHING):
    value = table.get(key, NOTHING)
    if value is NOTHING:
        return "absent" if default is NOTHING else default
    return value
got = (look({"a": None}, "a"), look({}, "a"), look({}, "a", 0))

# == one list for all keys
shared = dict.fromkeys("ab", [])
shared["a"].append(1)
got = (len(shared["b"]), shared["a"] is shared["b"])

# == a command line
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("file", nargs="?", default="none")
parser.add_argument("--sizes", nargs="+", type=int)
parser.add_argument("--rate", "-r", dest="speed", type=float, default="0.5")
parser.add_argument("--no-cache", dest="cache", action="store_false")
parser.add_argument("-v", action="count", default=0)
parser.add_argument("--even", type=lambda text: int(text) % 2 == 0)
known, rest = parser.parse_known_args(["--sizes", "2", "3", "--no-cache", "-vv", "--odd", "--even", "4"])
got = (known.file, known.sizes, known.speed, known.cache, known.v, known.even, rest)

# == commands of a command line
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=1)
commands = parser.add_subparsers(dest="command")
train = commands.add_parser("train")
train.add_argument("--epochs", type=int, default=3)
train.add_argument("--amp", action=argparse.BooleanOptionalAction, default=True)
asked = parser.parse_args(["--seed", "7", "train", "--no-amp"])
nothing = parser.parse_args([], argparse.Namespace(extra=2))
got = (asked.seed, asked.command, asked.epochs, asked.amp, nothing.command, nothing.extra, hasattr(nothing, "epochs"))

# == operators of a class by its metaclass
class Shelf(type):
    def __len__(cls): return len(cls.books)
    def __iter__(cls): return iter(cls.books)
    def __contains__(cls, book): return book in cls.books
    def __instancecheck__(cls, value): return value in cls.books
    @property
    def first(cls): return cls.books[0]
class Poems(metaclass=Shelf):
    books = ["ode", "haiku"]
got = (len(Poems), list(Poems), "ode" in Poems, isinstance("epic", Poems), Poems.first)

# == texts that a class formats
class Money:
    def __init__(self, cents): self.cents = cents
    def __format__(self, form): return f"[{form}]{self.cents}"
    def __str__(self): return "money"
bill = Money(250)
got = (f"{bill:EUR}", f"{bill}", f"{bill!s}", "{:x}".format(bill), str(bill))

# == a mapping that changes its keys
from collections import UserDict
class Folded(UserDict):
    def __setitem__(self, key, value): super().__setitem__(key.casefold(), value)
names = Folded(Ann=1)
names["BOB"] = 2
got = (dict(names), "ann" in names, len(names))

# == objects with and without a dict of attributes
class Bare:
    __slots__ = ("a",)
class Full(Bare):
    pass
got = (hasattr(Bare(), "__dict__"), hasattr(Full(), "__dict__"), hasattr(Bare(), "a"))

# == classes that get another name
def renamed(cls):
    class Wrapped(cls):
        pass
    Wrapped.__name__ = cls.__name__ + "Plus"
    return Wrapped
@renamed
class Core:
    pass
name = Core.__name__

# == an attribute of one of several objects
import random
class Cell:
    def __init__(self): self.n = 0
def run():
    cells = [Cell(), Cell()]
    one = random.choice(cells)
    one.n = 5
    return sum(cell.n for cell in cells)
total = run()

# == attributes of the objects that a loop has made
import random
class Node:
    def __init__(self): self.links = []
def run():
    nodes = []
    for _ in range(random.randint(2, 4)):
        nodes.append(Node())
    for node in nodes:
        node.links = [1, 2]
    return len(nodes[0].links)
got = run()

# == entries of one of several containers
import random
def run():
    left, right = {"a": 1, "b": 2}, {"a": 1, "b": 2}
    chosen = random.choice([left, right])
    chosen["a"] = 3
    del chosen["b"]
    rows = [[0], [0]]
    random.choice(rows)[0] = 4
    return left["a"] + right["a"], len(left) + len(right), sum(row[0] for row in rows)
got = run()

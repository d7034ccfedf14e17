# Programs about corners of Python's library: flags, metaclasses, managers on a stack, operators as functions, patterns, paths.

# == pseudo fields of a dataclass
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import ClassVar
@dataclass
class Config:
    lr: float = 0.1
    count: ClassVar[int] = 0
    scale: InitVar[int] = 2
    _: KW_ONLY
    size: int = 3
    def __post_init__(self, scale): self.size = scale * self.size
@dataclass
class Larger(Config):
    width: int = 4
names = list(Larger.__dataclass_fields__)
made = Larger(0.2, 5, 6, size=7)
values = (made.lr, made.width, made.size)

# == flags of several bits are aliases
from enum import Flag, IntFlag, auto
class Part(Flag):
    ENC = auto()
    DEC = auto()
    NONE = 0
    HEAD = auto()
    BOTH = ENC | DEC
    ALL = BOTH | HEAD
names = [one.name for one in Part]
every = list(Part.__members__)
inside = [one.name for one in Part.ALL]
sizes = (len(Part), len(Part.BOTH), len(Part.NONE))
mixed = Part.ENC | Part.HEAD
same = (mixed == Part.ALL ^ Part.DEC, mixed is Part(5), ~Part.DEC == mixed, mixed == Part.ALL)
without = (Part.ALL & ~Part.DEC).name
truth = (bool(Part.NONE), bool(mixed), Part.ENC in mixed, Part.DEC in mixed)

# == an IntFlag and a number
from enum import IntFlag
class Mode(IntFlag):
    R = 4
    W = 2
    X = 1
both = Mode.R | 2
one = 3 & Mode.W
total = Mode.R + 1
equal = (both == 6, Mode(7) == 7, (Mode.R | Mode.X).value)

# == auto after other values
from enum import Enum, Flag, auto
class Named(Enum):
    def _generate_next_value_(name, start, count, last_values):
        return name.lower() + str(count)
    A = auto()
    B = auto()
class Bits(Flag):
    HIGH = 4
    LOW = 1
    NEXT = auto()
values = (Named.A.value, Named.B.value, Bits.NEXT.value)

# == what _missing_ gives
from enum import Enum
class Act(str, Enum):
    RELU = "relu"
    GELU = "gelu"
    @classmethod
    def _missing_(cls, value):
        for one in cls:
            if one.value == value.lower():
                return one
        return None
found = Act("RELU").name
try:
    Act("zzz")
    refused = False
except ValueError:
    refused = True

# == managers on a stack
from contextlib import ExitStack, closing, nullcontext, suppress
order = []
class File:
    def close(self):
        order.append("closed")
with ExitStack() as stack:
    stack.callback(order.append, 1)
    value = stack.enter_context(nullcontext(7))
    held = stack.enter_context(closing(File()))
    kept = stack.pop_all()
    stack.callback(order.append, 2)
before = list(order)
kept.close()
after = list(order)
with ExitStack() as stack:
    stack.enter_context(suppress(KeyError))
    {}["none"]
reached = type(held).__name__

# == operators in place, as functions
import operator
a = [1]
b = operator.iadd(a, [2])
same = a is b
c = operator.ior({1: 2}, {3: 4})
d = operator.imul(3, 4)
e = operator.iconcat([1], [2])
s = {1, 2}
t = operator.isub(s, {1})
changed = (s, s is t, operator.ipow(2, 5), operator.iand(6, 3))

# == keywords of a class statement
class Meta(type):
    made = []
    def __new__(mcs, name, bases, names, tag=None, **others):
        names["tag"] = tag or name.lower()
        return super().__new__(mcs, name, bases, names, **others)
    def __init__(cls, name, bases, names, tag=None, **others):
        super().__init__(name, bases, names)
        cls.given = (tag, sorted(others))
class Base(metaclass=Meta):
    def __init_subclass__(cls, size=0, **others):
        cls.size = size
class Small(Base, tag="s", size=3):
    pass
class Plain(Base):
    pass
values = (Small.tag, Small.size, Small.given, Plain.tag, Plain.size, Plain.given)

# == is it the same class
class A: ...
class B(A): ...
same = (type(A()) == A, type(B()) == A, type(B()) != A, type(B()) is B, type(1) == int, type("a") == int, type(True) == int)
tuples = (type([]) in (list, tuple), type({}) == type({1: 2}), type(None) == type(None), A().__class__ == A)

# == attributes of classes with a default
class Plugin:
    known = {}
    def __init_subclass__(cls, /, alias=None, **others):
        super().__init_subclass__(**others)
        cls.known[alias or cls.__name__] = cls
        cls.level = getattr(cls, "level", 0) + 1
class A(Plugin, alias="a"): pass
class B(A): level = 10
levels = [one.level for one in Plugin.known.values()]
def register(**meta):
    def decorate(cls):
        cls.meta = {**getattr(cls, "meta", {}), **meta}
        return cls
    return decorate
@register(depth=18)
class C: ...
@register(width=2)
class D(C): ...
merged = (D.meta == {"depth": 18, "width": 2}, len(C.meta))

# == members are the numbers and texts that they hold
from enum import Enum, IntEnum
class Rank(IntEnum):
    LOW = 1
    HIGH = 5
class Act(str, Enum):
    RELU = "relu"
best, order = max(Rank).name, [one.name for one in sorted(Rank, reverse=True)]
text = (Act.RELU.upper(), Act.RELU.startswith("re"), Rank.HIGH.bit_length(), len(Act.RELU))

# == patterns with optional parts and flags
import re
pairs = dict(re.findall(r"(\w+)=([\d.]+(?:e-?\d+)?)", "epoch=12 loss=0.531e-2 lr=1e-4"))
values = [float(one) for one in pairs.values()]
found = re.search(r"(?P<key>acc)=(?P<value>\d+)(?P<part>\.\d)?(x)?", "acc=97.5%")
groups = (found["key"], found.group("value", "part"), found.group(4) is None, found.lastgroup)
lines = re.compile("^x", re.M | re.I).findall("x\nX\ny")
once = re.sub("a", "b", "aaa", count=1)
folded = re.sub("A", "b", "aAa", flags=re.IGNORECASE)

# == dates and times
from datetime import date, datetime, timedelta, timezone
short = timedelta(hours=-1)
parts = (short.days, short.seconds, abs(short) // timedelta(minutes=7), short / timedelta(hours=2))
week = datetime.strptime("03/11/23", "%d/%m/%y").date().isocalendar()[1]
hour = datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=2))).astimezone(timezone.utc).hour
later = datetime.fromisoformat("2024-02-28T23:30:00") + timedelta(minutes=45)
day = (later.isoformat(), later.replace(year=2020).isoformat(), date.fromisoformat("2024-01-01").isoweekday())

# == paths among one another
from pathlib import Path
p = Path("/runs") / "exp.1" / "best.tar.gz"
texts = (str(p.relative_to("/runs")), p.match("*.gz"), str(p.parents[1]), Path("x") == Path("./x"), Path("a") != Path("b"))
order = [str(one) for one in sorted(map(Path, ["b/a", "a/z", "a"]))]
inside = (Path("a").joinpath("b").is_relative_to("a"), p.is_absolute(), p.is_relative_to(Path("/data")))
try:
    p.relative_to("/data")
    outside = False
except ValueError:
    outside = True

# == hooks, defaults and signs
import json
from collections import Counter, namedtuple
hook = json.loads('{"a": {"b": 2}}', object_hook=lambda d: len(d) if "b" in d else d)["a"]
T = namedtuple("T", "a b c", defaults=[9])
given = T._field_defaults["c"] + T(1, 2).c
counts = Counter(a=2, b=-1)
signs = (dict(+counts), dict(-counts), len(+counts))

# == items by functions
import operator
d, l = {}, [1, 2, 3]
operator.setitem(d, "k", 3)
operator.setitem(l, 1, 9)
operator.delitem(l, 0)
sizes = (len(d), len(l))

# Programs about dataclasses, named tuples, enums, typing and namespaces (library reference, data types).

# == a dataclass
from dataclasses import dataclass, field
@dataclass
class C:
    lr: float = 0.1
    layers: list = field(default_factory=list)
    name: str = "net"
a = C()
b = C(0.2, [1], name="x")
a.layers.append(5)
x = a.layers
y = C().layers
z = (b.lr, b.layers, b.name)
same = C() == C()
text = repr(C())

# == dataclass post init
from dataclasses import dataclass, field, InitVar
@dataclass
class C:
    dim: int
    heads: int = 4
    head_dim: int = field(init=False)
    scale: InitVar[int] = 1
    def __post_init__(self, scale):
        self.head_dim = self.dim // self.heads * scale
a = C(64)
x = a.head_dim
b = C(64, 8, 2)
y = b.head_dim

# == dataclass inheritance
from dataclasses import dataclass
@dataclass
class Base:
    a: int
    b: int = 2
@dataclass
class Sub(Base):
    c: int = 3
    b: int = 20
s = Sub(1)
t = (s.a, s.b, s.c)
u = Sub(1, 5, 6)
v = (u.b, u.c)

# == dataclass functions
from dataclasses import dataclass, asdict, astuple, replace, fields
@dataclass
class P:
    x: int
    y: int = 0
p = P(1)
d = asdict(p)
t = astuple(p)
q = replace(p, y=5)
r = (q.x, q.y)
names = [f.name for f in fields(P)]

# == frozen and ordered dataclass
from dataclasses import dataclass
@dataclass(frozen=True, order=True)
class V:
    major: int
    minor: int = 0
a = V(1, 2) < V(1, 3)
b = max(V(1), V(2)).major
d = {V(1): "x"}
c = d[V(1)]
try:
    V(1).major = 5
    changed = True
except Exception as e:
    changed = False
    kind = type(e).__name__

# == dataclass keyword only
from dataclasses import dataclass, field
@dataclass(kw_only=True)
class C:
    a: int = 1
    b: int
c = C(b=2)
t = (c.a, c.b)

# == dataclass class variables
from dataclasses import dataclass
from typing import ClassVar
@dataclass
class C:
    total: ClassVar[int] = 0
    x: int = 1
    def __post_init__(self):
        C.total += self.x
C()
C(4)
n = C.total

# == dataclass with a property and methods
from dataclasses import dataclass
@dataclass
class Config:
    batch: int = 8
    accum: int = 4
    @property
    def effective(self):
        return self.batch * self.accum
    def scaled(self, k):
        return Config(self.batch * k, self.accum)
c = Config()
a = c.effective
b = c.scaled(2).effective
@classmethod
def nothing(cls): ...

# == named tuple
from collections import namedtuple
P = namedtuple("P", ["x", "y"], defaults=[0])
p = P(1)
a = p.x
b = p[1]
x, y = p
q = p._replace(y=5)
d = q._asdict()
f = P._fields
same = p == (1, 0)
n = len(p)

# == typed named tuple
from typing import NamedTuple
class Batch(NamedTuple):
    size: int
    name: str = "train"
    def double(self):
        return self.size * 2
b = Batch(4)
a = b.double()
t = tuple(b)
s, n = b
r = repr(b)

# == enum
from enum import Enum
class Color(Enum):
    RED = 1
    GREEN = 2
    @property
    def lower(self):
        return self.name.lower()
a = Color.RED.value
b = Color.GREEN.name
c = Color(2) is Color.GREEN
d = Color["RED"].lower
names = [m.name for m in Color]
n = len(Color)
same = Color.RED == Color.RED
text = str(Color.RED)

# == auto
from enum import Enum, auto
class Mode(Enum):
    TRAIN = auto()
    EVAL = auto()
    TEST = auto()
values = [m.value for m in Mode]
last = Mode.TEST.value
order = list(Mode.__members__)

# == int enum
from enum import IntEnum
class Level(IntEnum):
    LOW = 1
    HIGH = 3
a = Level.HIGH > Level.LOW
b = Level.HIGH + 1
c = sorted([Level.HIGH, Level.LOW])[0].name
d = [10, 20, 30, 40][Level.HIGH]
e = Level.LOW == 1

# == flag
from enum import Flag, auto
class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
rw = Perm.R | Perm.W
a = Perm.R in rw
b = bool(rw & Perm.X)
v = rw.value
x = Perm.X.value

# == enum with text values
from enum import Enum
class Split(str, Enum):
    TRAIN = "train"
    TEST = "test"
a = Split.TRAIN == "train"
b = Split("test").name
c = "train" in [s.value for s in Split]
d = Split.TRAIN.value.upper()
e = {Split.TRAIN: 1}[Split.TRAIN]

# == enum with methods and aliases
from enum import Enum
class Act(Enum):
    RELU = "relu"
    RECTIFIER = "relu"
    TANH = "tanh"
    @classmethod
    def default(cls):
        return cls.RELU
    def __str__(self):
        return "<" + self.value + ">"
a = Act.default() is Act.RECTIFIER
n = len(list(Act))
s = str(Act.TANH)

# == enum with tuples
from enum import Enum
class Planet(Enum):
    EARTH = (3, 6)
    MARS = (2, 1)
    def __init__(self, size, mass):
        self.size = size
        self.mass = mass
    def ratio(self):
        return self.size / self.mass
a = Planet.EARTH.size
b = Planet.MARS.ratio()

# == invalid enum value
from enum import Enum
class A(Enum):
    X = 1
try:
    A(5)
    ok = True
except ValueError:
    ok = False
a = A._value2member_map_ != {}

# == typed dict
from typing import TypedDict
class Item(TypedDict, total=False):
    x: int
    y: str
i: Item = {"x": 1}
j = Item(x=2, y="q")
a = i["x"]
b = j["y"]
n = len(j)

# == simple namespace
from types import SimpleNamespace
n = SimpleNamespace(lr=0.1, bs=4)
n.epochs = 3
a = n.lr
b = n.epochs * n.bs
d = vars(n)
c = getattr(n, "x", None)

# == argparse namespace
from argparse import Namespace
args = Namespace(lr=0.5, n=2)
args.total = args.n * 4
a = args.lr
b = vars(args)["total"]
c = "lr" in args
d = getattr(args, "missing", "none")

# == argument parser defaults
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--layers", type=int, nargs="+", default=[1, 2])
parser.add_argument("--flag", action="store_true")
parser.add_argument("--batch-size", type=int, default=32)
args = parser.parse_args([])
a = args.lr
b = args.layers
c = args.flag
d = args.batch_size

# == argument parser with arguments
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("name")
parser.add_argument("--n", type=int, default=1)
parser.add_argument("--verbose", "-v", action="store_true")
parser.add_argument("--mode", choices=["a", "b"], default="a")
args = parser.parse_args(["net", "--n", "5", "-v"])
a = args.name
b = args.n
c = args.verbose
d = args.mode

# == typing does nothing at run time
from typing import Optional, List, Dict, Union, cast, Any, TypeVar
T = TypeVar("T")
def f(x: Optional[int] = None, ys: List[int] = None) -> Dict[str, Any]:
    return {"x": x, "ys": ys or []}
a = f(1)
b = cast(str, 5)
Vector = List[float]
def g(v: "Vector") -> T:
    return v
c = g([1.0])

# == type checking guard
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import nothing_of_the_kind
    flag = 1
else:
    flag = 2

# == generic classes
from typing import Generic, TypeVar
T = TypeVar("T")
class Box(Generic[T]):
    def __init__(self, item: T):
        self.item = item
    def get(self) -> T:
        return self.item
a = Box[int](3).get()
b = Box("x").item

# == protocols
from typing import Protocol, runtime_checkable
@runtime_checkable
class Sized(Protocol):
    def size(self) -> int: ...
class A:
    def size(self):
        return 3
a = isinstance(A(), Sized)
b = isinstance(3, Sized)
c = A().size()

# == dataclass with nested defaults
from dataclasses import dataclass, field
@dataclass
class Opt:
    lr: float = 1e-3
@dataclass
class Train:
    opt: Opt = field(default_factory=Opt)
    steps: int = 10
    tags: dict = field(default_factory=lambda: {"a": 1})
t = Train()
t.opt.lr = 0.5
u = Train()
a = t.opt.lr
b = u.opt.lr
c = u.tags["a"]
d = Train(opt=Opt(lr=2.0)).opt.lr

# == dataclass comparison and hash
from dataclasses import dataclass
@dataclass(eq=False)
class A:
    x: int
@dataclass
class B:
    x: int
a = A(1) == A(1)
b = B(1) == B(1)
c = B(1) == B(2)
d = B(1) != B(1)

# == named tuple in a loop
from collections import namedtuple
Step = namedtuple("Step", "state action reward")
memory = [Step(i, i % 2, i * 0.5) for i in range(3)]
batch = Step(*zip(*memory))
states = batch.state
total = sum(batch.reward)
actions = {s.action for s in memory}

# == the constructor of a dataclass in front of one that it inherits
from dataclasses import dataclass, fields
class Base:
    def __init__(self, *args):
        self.given = args
@dataclass
class Point(Base):
    x: int = 1
    y: int = 2
p = Point(y=5)
a = p.y
b = hasattr(p, "given")
c = [field.default for field in fields(p)]

# == a mapping by its __getitem__
from collections.abc import MutableMapping
class Table(MutableMapping):
    def __init__(self):
        self.own = {"a": 1}
    def __getitem__(self, key):
        return self.own[key]
    def __setitem__(self, key, value):
        self.own[key] = value
    def __delitem__(self, key):
        del self.own[key]
    def __iter__(self):
        return iter(self.own)
    def __len__(self):
        return len(self.own)
    def __getattribute__(self, name):
        return super().__getattribute__(name)
t = Table()
a = t.get("a")
b = t.get("b")
c = t.get("b", 7)
d = isinstance(Table, tuple)
e = isinstance(len, dict)
f = str(int)
g = "own" in Table.__dict__

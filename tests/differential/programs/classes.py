# Programs about classes, attributes, inheritance and special methods (language reference, section 3).

# == class and instance attributes
class A:
    shared = []
    n = 0
a = A()
b = A()
a.shared.append(1)
a.n = 5
x = b.shared
y = b.n
z = A.n
A.n = 7
w = b.n

# == properties
class Circle:
    def __init__(self, r):
        self._r = r
    @property
    def r(self):
        return self._r
    @r.setter
    def r(self, value):
        self._r = max(0, value)
    @property
    def area(self):
        return 3 * self._r ** 2
c = Circle(2)
a = c.area
c.r = -5
b = c.r
c.r = 4
d = c.area

# == property deleter and property function
class A:
    def __init__(self):
        self._x = 1
    def get(self):
        return self._x
    def set(self, v):
        self._x = v * 10
    x = property(get, set)
a = A()
before = a.x
a.x = 3
after = a.x

# == static and class methods
class A:
    count = 0
    def __init__(self):
        A.count += 1
    @staticmethod
    def add(a, b):
        return a + b
    @classmethod
    def make(cls, n):
        return [cls() for _ in range(n)]
    @classmethod
    def name(cls):
        return cls.__name__
x = A.add(1, 2)
y = A().add(3, 4)
made = len(A.make(2))
n = A.count
name = A.name()

# == inheritance and super
class A:
    def __init__(self, x):
        self.x = x
    def value(self):
        return self.x
class B(A):
    def __init__(self, x, y):
        super().__init__(x)
        self.y = y
    def value(self):
        return super().value() + self.y
b = B(1, 2)
v = b.value()
is_a = isinstance(b, A)
sub = issubclass(B, A)

# == method resolution order
class A:
    def f(self): return ["A"]
class B(A):
    def f(self): return ["B"] + super().f()
class C(A):
    def f(self): return ["C"] + super().f()
class D(B, C):
    def f(self): return ["D"] + super().f()
order = D().f()
names = [k.__name__ for k in D.__mro__][:4]

# == operator overloading
class V:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __add__(self, o): return V(self.x + o.x, self.y + o.y)
    def __mul__(self, k): return V(self.x * k, self.y * k)
    def __rmul__(self, k): return self * k
    def __neg__(self): return V(-self.x, -self.y)
    def __eq__(self, o): return (self.x, self.y) == (o.x, o.y)
a = V(1, 2) + V(3, 4)
b = 3 * V(1, 2)
c = -V(1, 2)
x = (a.x, a.y)
y = (b.x, b.y)
z = (c.x, c.y)
same = V(1, 1) == V(1, 1)

# == reflected operators
class M:
    def __init__(self, n): self.n = n
    def __radd__(self, o): return ("radd", o, self.n)
    def __rsub__(self, o): return ("rsub", o, self.n)
    def __sub__(self, o): return ("sub", self.n, o)
a = 1 + M(2)
b = 5 - M(2)
c = M(2) - 5
d = sum([M(1)]) if False else 0

# == not implemented falls back
class A:
    def __add__(self, other):
        if isinstance(other, int):
            return "A+int"
        return NotImplemented
class B:
    def __radd__(self, other):
        return "B radd"
x = A() + 1
y = A() + B()

# == in-place operator
class Acc:
    def __init__(self): self.items = []
    def __iadd__(self, x):
        self.items.append(x)
        return self
a = Acc()
b = a
a += 1
a += 2
items = b.items
same = a is b

# == container protocol
class Bag:
    def __init__(self, items): self.items = list(items)
    def __len__(self): return len(self.items)
    def __getitem__(self, i): return self.items[i]
    def __setitem__(self, i, v): self.items[i] = v
    def __contains__(self, x): return x in self.items
    def __delitem__(self, i): del self.items[i]
b = Bag("abc")
n = len(b)
x = b[1]
b[0] = "z"
y = b.items
inside = "c" in b
del b[1]
part = b[0:1]

# == iteration protocol
class Countdown:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n + 1
a = list(Countdown(3))
b = sum(Countdown(4))
c = [x for x in Countdown(2)]

# == iteration by a generator method
class Tree:
    def __init__(self, v, left=None, right=None):
        self.v, self.left, self.right = v, left, right
    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.v
        if self.right:
            yield from self.right
t = Tree(2, Tree(1), Tree(3))
values = list(t)
total = sum(t)

# == iteration by getitem
class Squares:
    def __init__(self, n): self.n = n
    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError
        return i * i
    def __len__(self): return self.n
a = list(Squares(4))
b = 9 in Squares(4)

# == truth and length
class E:
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
class F:
    def __bool__(self): return False
a = bool(E(0))
b = bool(E(2))
c = bool(F())
d = "yes" if F() else "no"

# == text of objects
class P:
    def __init__(self, x): self.x = x
    def __repr__(self): return f"P({self.x})"
class Q(P):
    def __str__(self): return "Q!"
a = repr(P(1))
b = str(P(2))
c = f"{Q(3)} {Q(4)!r}"
d = str([P(5)])

# == getattr hook
class Lazy:
    def __init__(self): self.known = 1
    def __getattr__(self, name):
        return "no " + name
o = Lazy()
a = o.known
b = o.other
c = getattr(o, "third")

# == setattr hook
class Watch:
    def __init__(self):
        object.__setattr__(self, "log", [])
        self.x = 1
    def __setattr__(self, name, value):
        self.log.append(name)
        object.__setattr__(self, name, value)
w = Watch()
w.y = 2
log = w.log
total = w.x + w.y

# == attribute dictionary
class Config(dict):
    def __getattr__(self, name):
        return self[name]
    def __setattr__(self, name, value):
        self[name] = value
c = Config(lr=0.1)
a = c.lr
c.bs = 32
b = c["bs"]
n = len(c)

# == descriptors
class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name
    def __get__(self, obj, owner=None):
        return self if obj is None else getattr(obj, self.name)
    def __set__(self, obj, value):
        setattr(obj, self.name, abs(value))
class A:
    x = Positive()
    def __init__(self, x):
        self.x = x
a = A(-3)
v = a.x
a.x = -7
w = a.x

# == a descriptor without set
class Ten:
    def __get__(self, obj, owner):
        return 10
class A:
    x = Ten()
a = A()
before = a.x
a.x = 5
after = a.x

# == slots
class S:
    __slots__ = ("x", "y")
    def __init__(self): self.x = 1
s = S()
a = s.x
has = hasattr(s, "y")
s.y = 5
b = s.y

# == init subclass
class Base:
    registry = {}
    def __init_subclass__(cls, key=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.key = key or cls.__name__.lower()
        Base.registry[cls.key] = cls
class A(Base): pass
class B(Base, key="bee"): pass
names = sorted(Base.registry)
a = A.key
b = B().key

# == a metaclass
class Meta(type):
    def __new__(mcs, name, bases, ns):
        ns["tag"] = name.upper()
        return super().__new__(mcs, name, bases, ns)
class A(metaclass=Meta):
    pass
a = A.tag
b = A().tag
kind = type(A).__name__

# == a singleton by new
class One:
    instance = None
    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
            cls.instance.n = 0
        return cls.instance
a = One()
a.n += 1
b = One()
same = a is b
n = b.n

# == abstract classes
from abc import ABC, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self): ...
    def twice(self):
        return 2 * self.area()
class Square(Shape):
    def __init__(self, s): self.s = s
    def area(self): return self.s ** 2
a = Square(3).twice()
try:
    Shape()
    failed = False
except TypeError:
    failed = True

# == class attributes through inheritance
class A:
    names = ["a"]
    n = 1
class B(A):
    n = 2
B.names.append("b")
x = A.names
y = (A.n, B.n)
b = B()
b.names = ["own"]
z = B.names

# == methods are functions
class A:
    def f(self, x):
        return x + 1
a = A()
g = a.f
x = g(1)
y = A.f(a, 2)
z = list(map(a.f, [1, 2]))
same = a.f.__func__ is A.f

# == adding methods later
class A:
    pass
def hello(self):
    return "hello " + self.name
A.hello = hello
a = A()
a.name = "x"
b = a.hello()
a.f = lambda: 5
c = a.f()

# == dynamic attributes
class N: pass
n = N()
for k, v in {"a": 1, "b": 2}.items():
    setattr(n, k, v)
x = n.a + n.b
d = vars(n)
y = getattr(n, "a")
delattr(n, "a")
has = hasattr(n, "a")
keys = sorted(n.__dict__)

# == class made by type
A = type("A", (), {"x": 1, "f": lambda self: self.x + 1})
a = A()
b = a.f()
name = A.__name__
B = type("B", (A,), {})
c = B().x

# == nested classes
class Outer:
    class Inner:
        value = 3
    def make(self):
        return self.Inner()
a = Outer.Inner.value
b = Outer().make().value

# == comparison methods
class V:
    def __init__(self, n): self.n = n
    def __lt__(self, o): return self.n < o.n
    def __repr__(self): return f"V{self.n}"
vs = sorted([V(3), V(1), V(2)])
order = [v.n for v in vs]
least = min(vs).n
a = V(1) < V(2)
b = V(1) > V(2)

# == hash and equality
class K:
    def __init__(self, k): self.k = k
    def __eq__(self, o): return self.k == o.k
    def __hash__(self): return hash(self.k)
d = {K(1): "a"}
x = d[K(1)]
n = len({K(1), K(1), K(2)})
inside = K(2) in [K(1), K(2)]

# == context manager class
class CM:
    def __init__(self): self.log = []
    def __enter__(self):
        self.log.append("in")
        return self
    def __exit__(self, *exc):
        self.log.append("out")
        return False
with CM() as c:
    c.log.append("body")
log = c.log

# == cooperative mixins
class Base:
    def __init__(self, **kw):
        self.rest = sorted(kw)
class Named:
    def __init__(self, name="x", **kw):
        super().__init__(**kw)
        self.name = name
class Sized:
    def __init__(self, size=0, **kw):
        super().__init__(**kw)
        self.size = size
class All(Named, Sized, Base):
    pass
a = All(name="n", size=3, extra=1)
t = (a.name, a.size, a.rest)

# == call of the parent by name
class A:
    def __init__(self): self.log = ["A"]
class B(A):
    def __init__(self):
        A.__init__(self)
        self.log.append("B")
x = B().log

# == subclass of a list
class Stack(list):
    def push(self, x):
        self.append(x)
        return self
    def peek(self):
        return self[-1]
s = Stack([1]).push(2).push(3)
top = s.peek()
n = len(s)
total = sum(s)
is_list = isinstance(s, list)

# == subclass of a dict with missing
class D(dict):
    def __missing__(self, key):
        return key * 2
d = D(a=1)
x = d["a"]
y = d[4]
n = len(d)

# == subclass of int and str
class Meters(int):
    def double(self):
        return Meters(self * 2)
m = Meters(3)
a = m + 1
b = m.double()
class Name(str):
    def shout(self): return self.upper() + "!"
c = Name("ab").shout()

# == getitem on a class
class Box:
    def __class_getitem__(cls, item):
        return f"Box of {item.__name__}"
a = Box[int]

# == private names
class A:
    def __init__(self):
        self.__secret = 5
    def get(self):
        return self.__secret
a = A().get()
names = list(A().__dict__)

# == comparison with other types
class A:
    pass
a = A() == A()
x = A()
b = x == x
c = x != A()
d = A() == 3

# == delegation
class Wrapper:
    def __init__(self, inner):
        self._inner = inner
    def __getattr__(self, name):
        return getattr(self._inner, name)
w = Wrapper([3, 1, 2])
n = w.count(3)
w.append(4)
length = len(w._inner)

# == class decorator
def tagged(cls):
    cls.tag = cls.__name__.lower()
    return cls
@tagged
class Model:
    pass
a = Model.tag
b = Model().tag

# == counting instances
class A:
    made = []
    def __init__(self, n):
        self.n = n
        type(self).made.append(self)
A(1)
A(2)
n = len(A.made)
ns = [a.n for a in A.made]

# == builder with chained methods
class Builder:
    def __init__(self): self.parts = []
    def add(self, p):
        self.parts.append(p)
        return self
    def build(self):
        return "-".join(self.parts)
s = Builder().add("a").add("b").build()

# == enter, exit and exceptions
class Swallow:
    def __enter__(self): return self
    def __exit__(self, kind, value, tb):
        self.kind = kind.__name__ if kind else None
        return True
s = Swallow()
reached = []
with s:
    reached.append(1)
    raise ValueError("x")
    reached.append(2)
k = s.kind

# == name, module and qualified name
class A:
    """Doc."""
    def f(self): pass
a = A.__name__
b = A.__doc__
c = A.f.__name__
d = type(A()).__name__
e = A().__class__ is A

# == classes are compared with each other
class Square: pass
class Circle: pass
class Disc(Circle): pass
shapes = [Square(), Circle(), Disc()]
same = [type(one) == type(Circle()) for one in shapes]
kinds = (Square == Circle, Square is Square, Square is Circle, type(3) == int, type("a") == int, type([]) == list)
# == a list that is searched by class, and shortened
class Timer: pass
class Printer: pass
def replaced(new, listed):
    for one in listed:
        if type(one) == type(new):
            listed.remove(one)
    listed += [new]
    return listed
names = [type(one).__name__ for one in replaced(Printer(), [Timer(), Printer()])]
